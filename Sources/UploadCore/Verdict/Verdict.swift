/// Who wrote a response, as far as the response proves it, and what it then means.
///
/// Proxies, firewalls and captive portals sit between client and server, and each can answer in the server's place. What an
/// upload believes, records, forgets or reports as done depends on the origin of the response. The rules for the
/// confirmation of a form are in ``UploadConfirmation``.
package enum Verdict: Equatable, Sendable {
  /// A tus server: the response has `Tus-Resumable` or `Upload-Offset`, which nothing else sends.
  case tus(TusVerdict)
  /// GigHive: the content is JSON as written by its programs.
  case gigHive(GigHiveVerdict)
  /// No proof of either.
  case somebodyElse(status: Int)
}

/// The rules for tus.
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
      guard isProved || fields.first("Tus-Version") != nil else { return .somebodyElse(status: status) }
      return .tus(.unsupportedVersion(offered: fields.offeredTusVersions))
    case 413: return .tus(.tooLarge)
    case 423: return .tus(.locked)
    case 460: return .tus(.checksumMismatch)
    case 404, 410: return isProved ? .tus(.gone) : .somebodyElse(status: status)
    default:
      guard isProved else { return .somebodyElse(status: status) }
      return .tus(isSuccess ? .success(status: status) : .refused(status: status))
    }
  }

  /// Whether it allows that the upload is at another address: nothing there knows it.
  var isElsewhere: Bool {
    switch self {
    case .tus(.gone), .somebodyElse: true
    case .tus, .gigHive: false
    }
  }

  /// Whether the server has ended an upload that it was asked to end, or does not know it.
  var provesEnd: Bool {
    switch self {
    case .tus(.success), .tus(.offset), .tus(.gone): true
    case .tus, .gigHive, .somebodyElse: false
    }
  }

  /// Whether an upload may be gone: only the server itself can say so.
  var mayMeanGone: Bool {
    switch self {
    case .tus(.gone), .somebodyElse(status: 404), .somebodyElse(status: 410): true
    case .tus, .gigHive, .somebodyElse: false
    }
  }

  /// Whether a tus server says with its 400 to a PATCH that it did not get the whole request. tusd's content starts with its code
  /// for that: after a lost connection, the next request for the upload interrupts the one before.
  static func isInterruption(_ answer: Answer) -> Bool {
    answer.fields.haveTusProof
      && ["ERR_UPLOAD_INTERRUPTED", "ERR_UNEXPECTED_EOF"].contains { answer.content.starts(with: $0.utf8) }
  }
}

/// The rules for GigHive.
extension Verdict {
  /// The verdict on a response to a finalize call that was refused, or that checks an upload token.
  package static func ofFinalize(_ answer: Answer) -> Verdict {
    if isTokenRefusal(answer) { return .gigHive(.guestTokenUnknown) }
    guard let json = json(of: answer, with: ["error", "message"]) else { return .somebodyElse(status: answer.status) }
    let words = words(of: json, answer)
    switch answer.status {
    case 400 where ASCII.contains(words, "invalid upload_id"): return .gigHive(.guestTokenKnown)
    case 400, 404, 410:
      guard ASCII.contains(words, "not found") || ASCII.contains(words, "no such upload") else { break }
      return .gigHive(.uploadUnknown)
    // Other failures, as of its database, say nothing about the upload.
    case 500 where ASCII.contains(words, "not been written") || ASCII.contains(words, "upload not found"):
      return .gigHive(.uploadNotWritten)
    case 500 where ASCII.contains(words, "upload data missing"): return .gigHive(.uploadTaken)
    default: break
    }
    return .gigHive(.refused(status: answer.status, message: ServerMessage.text(of: json, content: answer.content)))
  }

  /// GigHive's words about a guest's token, with or without a "message": it does not know the token, or it is too long.
  private static func isTokenRefusal(_ answer: Answer) -> Bool {
    guard let json = json(of: answer, with: ["error"]) else { return false }
    let words = words(of: json, answer)
    switch answer.status {
    case 404: return ASCII.contains(words, "invalid or expired")
    case 400: return ASCII.contains(words, "invalid token")
    default: return false
    }
  }

  /// The verdict on a response to the delete call, which can be 200 although nothing was deleted.
  package static func ofDeletion(_ answer: Answer) -> Verdict {
    // Other programs have a "success", too. What makes the client forget the token needs more.
    let forgets = [403, 404, 410].contains(answer.status)
    let names = forgets ? ["success", "error"] : ["success"]
    guard let json = json(of: answer, with: names) else { return .somebodyElse(status: answer.status) }
    switch answer.status {
    case 404, 410: return .gigHive(.absent)
    // A 403 can also be about who asks.
    case 403 where ASCII.contains(words(of: json, answer), "token"): return .gigHive(.deleteTokenUnknown)
    default: break
    }
    let hasFailed =
      !answer.isSuccess || json["success"] == .bool(false) || (json["error_count"]?.integer ?? 0) > 0
    let deletedCount = json["deleted_count"]?.integer
    if answer.isSuccess, let deletedCount, deletedCount > 0 { return .gigHive(.absent) }
    guard hasFailed else { return .somebodyElse(status: answer.status) }
    let reason = json["results"]?["errors"]?.elements.first?["error"]?.string
    if answer.isSuccess, reason == "Not found" { return .gigHive(.absent) }
    let message = reason ?? ServerMessage.text(of: json, content: answer.content)
    return .gigHive(.refused(status: answer.status, message: message))
  }

  /// The verdict on a response to a query for an asset.
  package static func ofRecording(_ answer: Answer) -> Verdict {
    if answer.isSuccess, let json = json(of: answer, with: ["checksum_sha256", "size_bytes"]) {
      let checksum = json["checksum_sha256"]?.string
      let path = GigHiveAPI.mediaPath(
        fileType: json["file_type"]?.string, fileName: json["file_name"]?.string, sha256: checksum)
      return .gigHive(.recording(checksum: checksum, sizeBytes: json["size_bytes"]?.integer, mediaPath: path))
    }
    guard let json = json(of: answer, with: ["error"]) else { return .somebodyElse(status: answer.status) }
    if answer.status == 404 || answer.status == 410 { return .gigHive(.absent) }
    let message = ServerMessage.text(of: json, content: answer.content)
    return .gigHive(.refused(status: answer.status, message: message))
  }

  /// GigHive's message, in lower case.
  private static func words(of json: JSONValue, _ answer: Answer) -> [UInt8] {
    Array(ASCII.lowercased(ServerMessage.text(of: json, content: answer.content)).utf8)
  }

  /// The response's content, if it is an object with the names that GigHive always includes.
  private static func json(of answer: Answer, with names: [String]) -> JSONValue? {
    guard let json = try? JSONReader.read(answer.content) else { return nil }
    return names.allSatisfy { json[$0] != nil } ? json : nil
  }
}

/// What a tus server's response means (tus.io/protocols/resumable-upload).
package enum TusVerdict: Equatable, Sendable {
  /// 2xx with an `Upload-Offset`, in bytes.
  case offset(Int64)
  /// 2xx without one.
  case success(status: Int)
  /// 404, 410: the upload is unknown, or no longer known.
  case gone
  /// 409: the server is at another offset, or has locked the upload.
  case conflict
  /// 423
  case locked
  /// 412: the server supports other versions.
  case unsupportedVersion(offered: String)
  /// 413
  case tooLarge
  /// 460 (the checksum extension)
  case checksumMismatch
  case refused(status: Int)
}

/// What HTTP itself tells a client to do after a response, whatever was requested (RFC 9110, 15).
package enum HTTPInstruction: Equatable, Sendable {
  /// Nothing: the response's meaning depends on the request.
  case none
  /// 417: repeat the request without `Expect`.
  case repeatWithoutExpect
  /// 307 and 308: repeat the request at that address.
  case redirect(to: String)
  /// 301, 302 and 303 would turn an upload into a GET.
  case redirectAsGet(to: String)
  /// 401, and perhaps 403: repeat the request with other credentials.
  case authenticate
}

extension Answer {
  /// What HTTP tells the client to do after it.
  /// - Parameter expectedContinue: whether the request asked for `100 (Continue)`.
  package func instruction(expectedContinue: Bool) -> HTTPInstruction {
    switch status {
    case 417 where expectedContinue: .repeatWithoutExpect
    case 401, 403: .authenticate
    case 400 where S3Content.text(of: "Code", in: content) == "ExpiredToken": .authenticate
    case 307, 308: .redirect(to: location)
    // An S3 bucket in another region.
    case 301 where fields.first("x-amz-bucket-region") != nil: .none
    case 300..<400: .redirectAsGet(to: location)
    default: .none
    }
  }

  private var location: String { fields.first("Location") ?? "an unspecified address" }
}

/// Finds the message for people in a response's content.
package enum ServerMessage {
  /// The message for people in a response's content.
  package static func text(of content: [UInt8]) -> String {
    text(of: try? JSONReader.read(content), content: content)
  }

  /// The message for people, not yet made printable: `message` and `error` of a JSON response, PHP's error, or the
  /// text of an HTML page.
  static func text(of json: JSONValue?, content: [UInt8]) -> String {
    let error = json?["error"]?.string ?? ""
    let message = json?["message"]?.string ?? ""
    if !message.isEmpty { return message }
    if !error.isEmpty { return error }
    if json != nil { return "" }
    return PHPError.text(in: content) ?? withoutTags(content)
  }

  /// The text of a short HTML page: everything outside of tags, scripts and styles, after the head.
  private static func withoutTags(_ content: [UInt8]) -> String {
    var text: [UInt8] = []
    /// The start of a tag, in lower case; nil outside of tags.
    var tag: [UInt8]?
    /// What ends the script or style.
    var end: String?
    for byte in content {
      switch (tag, byte) {
      // A script can have a "<" of its own.
      case (nil, UInt8(ascii: "<")),
        (_?, UInt8(ascii: "<")) where tag == nil || end != nil:
        tag = []
      case (let name?, UInt8(ascii: ">")):
        tag = nil
        if let awaited = end {
          if name.starts(with: awaited.utf8) { end = nil }
        } else if name == Array("/head".utf8) {
          text = []
        } else {
          end = ["script", "style"].first { name.starts(with: $0.utf8) }.map { "/" + $0 }
          text.append(ASCII.space)
        }
      case (let name?, _): if name.count < 8 { tag = name + [ASCII.lowercased(byte)] }
      case (nil, _): if end == nil { text.append(byte) }
      }
    }
    return String(decoding: text, as: UTF8.self)
  }
}
