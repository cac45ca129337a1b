/// What GigHive says to a call that is no upload.
package enum GigHiveAnswer: Equatable, Sendable {
  /// The recording is not there, or not any more.
  case absent
  /// 403 to a delete call: it knows no such token.
  case deleteTokenUnknown
  /// It knows no upload with this ID, or has not noticed it yet.
  case uploadUnknown
  /// It knows no such upload token, or the token has expired.
  case guestTokenUnknown
  /// The upload token is good; the call named no upload.
  case guestTokenKnown
  /// A recording that it has; nil where it does not say.
  case recording(checksum: String?, sizeBytes: Int64?)
  case refused(status: Int, message: String)
}

extension Verdict {
  /// The verdict on an answer to a finalize call that was refused, or made to learn about the upload token.
  package static func ofFinalize(_ answer: Answer) -> Verdict {
    guard let json = json(of: answer, with: ["error", "message"]) else { return .somebodyElse(status: answer.status) }
    let message = ServerReply.message(of: json, content: answer.content)
    let words = ASCII.lowercased(message)
    switch answer.status {
    case 404 where words.contains("invalid or expired"): return .gigHive(.guestTokenUnknown)
    case 400 where words.contains("invalid upload_id"): return .gigHive(.guestTokenKnown)
    case 400, 404, 410:
      guard words.contains("not found") || words.contains("no such upload") else { break }
      return .gigHive(.uploadUnknown)
    default: break
    }
    return .gigHive(.refused(status: answer.status, message: message))
  }

  /// The verdict on an answer to the delete call, which can be 200 although nothing was deleted.
  package static func ofDeletion(_ answer: Answer) -> Verdict {
    guard let json = json(of: answer, with: ["success"]) else { return .somebodyElse(status: answer.status) }
    switch answer.status {
    case 404, 410: return .gigHive(.absent)
    case 403: return .gigHive(.deleteTokenUnknown)
    default: break
    }
    let hasFailed =
      !answer.isSuccess || json["success"] == .bool(false) || (json["error_count"]?.integer ?? 0) > 0
    if !hasFailed || (answer.isSuccess && (json["deleted_count"]?.integer ?? 0) > 0) { return .gigHive(.absent) }
    let reason = json["results"]?["errors"]?.elements.first?["error"]?.string
    if answer.isSuccess, reason == "Not found" { return .gigHive(.absent) }
    let message = reason ?? ServerReply.message(of: json, content: answer.content)
    return .gigHive(.refused(status: answer.status, message: message))
  }

  /// The verdict on an answer to the question what GigHive has under an asset's number.
  package static func ofRecording(_ answer: Answer) -> Verdict {
    if answer.isSuccess, let json = json(of: answer, with: ["checksum_sha256", "size_bytes"]) {
      return .gigHive(
        .recording(checksum: json["checksum_sha256"]?.string, sizeBytes: json["size_bytes"]?.integer))
    }
    guard let json = json(of: answer, with: ["error"]) else { return .somebodyElse(status: answer.status) }
    if answer.status == 404 || answer.status == 410 { return .gigHive(.absent) }
    let message = ServerReply.message(of: json, content: answer.content)
    return .gigHive(.refused(status: answer.status, message: message))
  }

  /// The answer's content, if it is an object with the names that GigHive puts into each such answer.
  private static func json(of answer: Answer, with names: [String]) -> JSONValue? {
    guard let json = try? JSONReader.read(answer.content) else { return nil }
    return names.allSatisfy { json[$0] != nil } ? json : nil
  }
}

extension String {
  /// Does the text hold another one? Embedded Swift has no `contains` for strings.
  fileprivate func contains(_ other: String) -> Bool {
    let (text, part) = (Array(utf8), Array(other.utf8))
    guard part.count <= text.count else { return false }
    return (0...(text.count - part.count)).contains { text[$0..<($0 + part.count)].elementsEqual(part) }
  }
}
