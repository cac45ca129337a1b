extension Verdict {
  /// The verdict on a response to a tus request. 409, 413, 423 and 460 need no proof, because they only make the client wait or
  /// send less. `Tus-Version` proves a 412, which ends the upload.
  package static func ofTus(status: Int, fields: [Field]) -> Verdict {
    let isSuccess = status >= 200 && status < 300
    if isSuccess, let offset = fields.tusNumber("Upload-Offset") { return .tus(.offset(offset)) }
    let isProved = fields.haveTusProof
    switch status {
    case 409: return .tus(.conflict)
    case 412:
      let versions = fields.first("Tus-Version")
      guard isProved || versions != nil else { return .somebodyElse(status: status) }
      return .tus(.unsupportedVersion(offered: versions ?? ""))
    case 413: return .tus(.tooLarge)
    case 423: return .tus(.locked)
    case 460: return .tus(.checksumMismatch)
    case 404, 410: return isProved ? .tus(.gone) : .somebodyElse(status: status)
    default:
      guard isProved else { return .somebodyElse(status: status) }
      return .tus(isSuccess ? .success(status: status) : .refused(status: status))
    }
  }

  /// Whether a tus server says with its 400 to a PATCH that it did not get the whole request. tusd's content starts with its code
  /// for that: after a lost connection, the next request for the upload interrupts the one before.
  package static func isInterruption(_ answer: Answer) -> Bool {
    answer.fields.haveTusProof
      && ["ERR_UPLOAD_INTERRUPTED", "ERR_UNEXPECTED_EOF"].contains { answer.content.starts(with: $0.utf8) }
  }
}
