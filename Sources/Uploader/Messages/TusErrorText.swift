import UploadCore

extension TusError {
  /// The message without advice.
  var problem: String {
    switch self {
    case .notSupported(let status):
      "the server does not speak tus here (" + String(status) + "). Check the address."
    case .versionNotSupported(let offered) where TusError.lists(offered):
      "the server speaks tus " + offered + ", but did not see that the request does: something in front of it removes"
        + " the field Tus-Resumable. Let it pass there."
    case .versionNotSupported(let offered):
      "the server speaks " + (offered.isEmpty ? "another version of tus" : "tus " + offered) + ", not 1.0.0."
    case .tooLarge(let size, let limit):
      "the file has " + SizeText.exact(size) + ", but the server accepts at most " + SizeText.exact(limit) + "."
    case .invalidMetadataKey(let key):
      "\"" + key + "\" is not a valid metadata name in tus; use visible ASCII without commas."
    case .noLocation: "the server created the upload but did not say where (no Location)."
    case .unusableLocation(let text):
      "the server created the upload at " + text + ", which is not a usable address."
    case .offsetBeyond(let sent, let acknowledged):
      "the server claims to have " + SizeText.exact(acknowledged) + ", but was sent only " + SizeText.exact(sent)
        + ". Send the file again."
    case .startsOver(.offsetBeyond(let sent, let acknowledged)):
      "the server claims to have " + SizeText.exact(acknowledged) + " of an earlier attempt, which sent at most "
        + SizeText.exact(sent) + ". The file is sent again from its start."
    case .startsOver(.noOffset(let status)):
      "the server answered " + String(status) + " without saying how much it has of an earlier attempt (no"
        + " Upload-Offset). The file is sent again from its start."
    case .lengthTruncated(let length, let stated):
      "the server keeps the length of the upload as " + String(stated) + " instead of " + String(length)
        + " bytes: it cannot take files of this size."
    case .cachedOffset:
      "a cache in front of the server repeats an old offset. It must not keep responses for the tus address."
    case .noOffset(let status):
      "the server answered " + String(status) + " without saying how much it has (no Upload-Offset)."
    case .nothingStored(let offset):
      "the server accepts data but does not store it: it still has " + SizeText.exact(offset) + "."
    case .checksumMismatch(let offset):
      "the data sent at byte " + String(offset) + " was damaged in transit (checksum mismatch)."
    case .locked: "the server has locked the upload for another request. Try again later."
    case .interrupted:
      "the server did not get the whole request: a lost connection or another request interrupted it."
    case .requestsStopped(let milliseconds):
      "a proxy in front of the server stops each request after about " + DurationText.rough(milliseconds)
        + " and keeps nothing of it."
    case .unproved(let status): UploadError.notFromServer(status: status).problem
    case .refused(let method, let status):
      "the server, or a proxy in front of it, does not accept " + method + " (" + String(status) + ")."
    case .contentRefused(let offset, let status):
      "the content at byte " + String(offset) + " was refused (" + String(status) + "), although earlier parts were"
        + " accepted: a content filter in front of the server, such as a web application firewall."
    }
  }

  /// Whether the versions that a server offers, separated by commas, include the one that is used here.
  private static func lists(_ versions: String) -> Bool {
    [Field("Tus-Version", versions)].listMembers(of: "Tus-Version").contains(TusFields.version)
  }
}
