/// What keeps a tus upload from going on.
public enum TusError: Error, Equatable, Sendable {
  /// The address does not answer as a tus server.
  case notSpoken(status: Int)
  /// The server speaks other versions than 1.0.0.
  case versionNotSupported(offered: String)
  /// The file is larger than the server takes (Tus-Max-Size); bytes.
  case tooLarge(size: Int64, limit: Int64)
  /// A metadata key with a character that none may have.
  case invalidMetadataKey(String)
  /// The upload was created, and the answer does not say where.
  case noLocation
  /// The server sends the upload from https to http, or to an address that is none.
  case unusableLocation(String)
  /// The server claims more bytes than it was sent.
  case offsetBeyond(sent: Int64, acknowledged: Int64)
  /// An answer that should tell the server's offset does not.
  case noOffset(status: Int)
  /// The server's checksum of a request differs (460).
  case checksumMismatch(offset: Int64)
  /// Another request holds the upload (423).
  case locked
  /// The server's status says no to a request of this method.
  case refused(method: String, status: Int)
  /// The answer says that the upload is gone, and not that it is a tus server's: it has no Tus-Resumable.
  case unproved(status: Int)
}

extension TusError {
  /// Whether a retry can help.
  var isTransient: Bool {
    switch self {
    case .locked, .checksumMismatch, .noOffset, .unproved: true
    case .notSpoken, .versionNotSupported, .tooLarge, .invalidMetadataKey, .noLocation, .unusableLocation,
      .offsetBeyond, .refused:
      false
    }
  }

  /// Whether the server has something other than the file.
  var isIntegrityFailure: Bool {
    switch self {
    case .offsetBeyond: true
    case .notSpoken, .versionNotSupported, .tooLarge, .invalidMetadataKey, .noLocation, .unusableLocation, .noOffset,
      .checksumMismatch, .locked, .refused, .unproved:
      false
    }
  }

  /// The error with text from outside made printable, and secrets that the server repeated redacted.
  func redacted(_ secrets: Secrets) -> TusError {
    switch self {
    case .unusableLocation(let text): .unusableLocation(secrets.line(ofURI: text))
    case .versionNotSupported(let offered): .versionNotSupported(offered: secrets.line(offered))
    case .notSpoken, .tooLarge, .invalidMetadataKey, .noLocation, .offsetBeyond, .noOffset, .checksumMismatch,
      .locked, .refused, .unproved:
      self
    }
  }
}
