import UploadCore

extension TusError {
  /// The sentences without advice.
  var problem: String {
    switch self {
    case .notSpoken(let status):
      "the server does not speak tus here (" + String(status) + "). Check the address."
    case .versionNotSupported(let offered):
      "the server speaks tus " + (offered.isEmpty ? "of another version" : offered) + ", and this side 1.0.0."
    case .tooLarge(let size, let limit):
      "the file has " + SizeText.exact(size) + ", and the server takes " + SizeText.exact(limit) + " at the most."
    case .invalidMetadataKey(let key):
      "\"" + key + "\" cannot be the name of a field with tus; use visible ASCII without commas."
    case .noLocation: "the server created the upload and did not say where (no Location)."
    case .unusableLocation(let text):
      "the server created the upload at " + text + ", which is no address that this upload may go to."
    case .offsetBeyond(let sent, let acknowledged):
      "the server says that it has " + SizeText.exact(acknowledged) + ", and was sent " + SizeText.exact(sent)
        + ". Send the file again."
    case .noOffset(let status):
      "the server answered " + String(status) + " without saying how much it has (no Upload-Offset)."
    case .checksumMismatch(let offset):
      "what the server received at byte " + String(offset) + " was damaged on the way (its checksum differs)."
    case .locked: "the server keeps the upload locked for another request. Try again later."
    case .unproved(let status): UploadError.notFromServer(status: status).problem
    case .refused(let method, let status):
      "the server, or a proxy before it, does not take " + method + " (" + String(status) + ")."
    }
  }

  /// What to do about it; nil where there is nothing more to say.
  var advice: String? {
    switch self {
    case .notSpoken: "It may take the file as multipart/form-data."
    case .refused: "POST with X-HTTP-Method-Override may pass."
    case .versionNotSupported, .tooLarge, .invalidMetadataKey, .noLocation, .unusableLocation, .offsetBeyond,
      .noOffset, .checksumMismatch, .locked, .unproved:
      nil
    }
  }
}
