/// Why a tus upload cannot continue.
public enum TusError: Error, Equatable, Sendable {
  /// The address does not answer as a tus server.
  case notSupported(status: Int)
  /// The server does not support version 1.0.0.
  case versionNotSupported(offered: String)
  /// The file is larger than the server accepts (Tus-Max-Size). Sizes in bytes.
  case tooLarge(size: Int64, limit: Int64)
  /// A metadata key with a forbidden character.
  case invalidMetadataKey(String)
  /// The upload was created, but the response has no Location.
  case noLocation
  /// The Location leads from https to http, or is invalid.
  case unusableLocation(String)
  /// The server claims to have more bytes than were sent.
  case offsetBeyond(sent: Int64, acknowledged: Int64)
  /// What the server says of an upload of an earlier process cannot be, so it is sent again as a new upload.
  case startsOver(Contradiction)
  /// The server keeps another length than the one that it was told, as one does that counts with 31 or 32 bits. In bytes.
  case lengthTruncated(length: Int64, stated: Int64)
  /// The upload that somebody else has created is for a recording of another length, in bytes.
  case lengthDiffers(length: Int64, stated: Int64)
  /// The server has a part of another recording in it, or all of one: nothing shows that it is this one. The offset in bytes.
  case createdForAnother(offset: Int64)
  /// The server does not know it, or no longer.
  case createdUploadGone
  /// A cache has answered with an offset that it has kept.
  case cachedOffset
  /// A response that should have an Upload-Offset does not.
  case noOffset(status: Int)
  /// The server accepts content and stores none of it. Its offset stays the same, in bytes.
  case nothingStored(offset: Int64)
  /// The server's checksum of a request differs (460).
  case checksumMismatch(offset: Int64)
  /// The upload is locked by another request (423).
  case locked
  /// The server did not get the whole request, because another one interrupted it or its content ended early (tusd's 400).
  case interrupted
  /// The server refused a request with this method.
  case refused(method: String, status: Int)
  /// The content from this offset was refused, in bytes, although earlier parts were accepted, as by a filter of content.
  case contentRefused(offset: Int64, status: Int)
  /// Requests are stopped after about the same time each, in milliseconds, and nothing of them is kept: a proxy's time limit.
  case requestsStopped(afterMilliseconds: Int64)
  /// The response says that the upload is gone, but has no Tus-Resumable to prove that it is from a tus server.
  case unproved(status: Int)

  /// Why an upload cannot be continued.
  public enum Contradiction: Equatable, Sendable {
    /// It claims to have more bytes than were sent.
    case offsetBeyond(sent: Int64, acknowledged: Int64)
    /// It knows the upload, and does not say how much it has.
    case noOffset(status: Int)
  }
}

extension TusError {
  /// The error with text from outside made printable, and secrets that the server repeated redacted.
  func redacted(_ secrets: Secrets) -> TusError {
    switch self {
    case .unusableLocation(let text): .unusableLocation(secrets.line(ofURI: text))
    case .versionNotSupported(let offered): .versionNotSupported(offered: secrets.line(offered))
    case .notSupported, .tooLarge, .invalidMetadataKey, .noLocation, .offsetBeyond, .noOffset, .nothingStored,
      .checksumMismatch, .locked, .interrupted, .refused, .contentRefused, .unproved, .startsOver, .lengthTruncated,
      .cachedOffset, .requestsStopped, .lengthDiffers, .createdForAnother, .createdUploadGone:
      self
    }
  }
}
