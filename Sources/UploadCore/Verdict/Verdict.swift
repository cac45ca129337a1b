/// Who gave an answer, as far as the answer proves it, and what it then says.
///
/// Between client and server sit proxies, firewalls and captive portals, and each can answer in the server's place. What an
/// upload believes, remembers, forgets or reports as done depends on who spoke.
package enum Verdict: Equatable, Sendable {
  /// A tus server: the answer has `Tus-Resumable`, or an `Upload-Offset`, which nobody else sends.
  case tus(TusAnswer)
  /// GigHive: the content is JSON as its programs write it.
  case gigHive(GigHiveAnswer)
  /// No proof of either.
  case somebodyElse(status: Int)
}

extension Verdict {
  /// The verdict on an answer to a tus request. 409, 413, 423 and 460 make the client wait or send less, which harms nobody:
  /// they need no proof.
  package static func ofTus(status: Int, fields: [Field]) -> Verdict {
    let isSuccess = status >= 200 && status < 300
    if isSuccess, let offset = fields.tusNumber("Upload-Offset") { return .tus(.offset(offset)) }
    let isProved = fields.first("Tus-Resumable") != nil
    switch status {
    case 409: return .tus(.conflict)
    case 412: return .tus(.unsupportedVersion(offered: fields.first("Tus-Version") ?? ""))
    case 413: return .tus(.tooLarge)
    case 423: return .tus(.locked)
    case 460: return .tus(.checksumMismatch)
    case 404, 410: return isProved ? .tus(.gone) : .somebodyElse(status: status)
    default:
      guard isProved else { return .somebodyElse(status: status) }
      return .tus(isSuccess ? .success(status: status) : .refused(status: status))
    }
  }
}
