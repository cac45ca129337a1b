/// One recording as an object: a PUT with its bytes, which can be sent again without being stored twice (RFC 9110, 9.3.4).
///
///     putting ──▶ verifying ──▶ stored
///        │                        ▲
///        ▼                        │
///     looking ──▶ comparing ──────┘
///     (the server replaces nothing, and something is there)
struct PutTask: Sendable {
  private enum State: Sendable {
    case putting
    /// The server has taken it. Its response is compared with the file's SHA-256.
    case verifying(Answer)
    /// The server does not replace what is there. Ask what that is.
    case looking(refusal: Answer)
    /// That has the size of the file and this SHA-256. `refused`: the status of the refusal.
    case comparing(sha256: String, refused: Int)
    case stored(Receipt, SentFile)
  }

  private let request: UploadRequest
  private let size: Int64
  private let provesServer: Bool
  private var state = State.putting

  init(_ plan: UploadPlan) {
    request = plan.request
    size = plan.size
    provesServer = plan.provesServer
  }

  /// Grows with everything that need not be repeated after a failure.
  var progress: Int64 {
    switch state {
    case .putting, .verifying: 0
    case .looking, .comparing: 1
    case .stored: 2
    }
  }

  var isVerifying: Bool {
    switch state {
    case .verifying, .comparing: true
    case .putting, .looking, .stored: false
    }
  }

  var awaitsOutcome: Bool {
    if case .putting = state { false } else { true }
  }

  func next() -> TaskStep {
    switch state {
    case .putting:
      var put = HTTPRequest(
        method: "PUT", target: request.base, fields: [Field("Content-Type", request.filePart.mediaType)],
        body: RequestBody(fileLength: size))
      put.mayExpectContinue = true
      return .ask(put)
    case .verifying, .comparing: return .hash(.wholeFile)
    case .looking:
      return .ask(HTTPRequest(method: "HEAD", target: request.base, fields: [Field("Cache-Control", "no-cache")]))
    case .stored(let receipt, let sent): return .finished(.delivered(receipt, sent, resumedFrom: 0))
    }
  }

  // MARK: Responses

  /// Whether a response is a captive portal's, so that nothing has reached the server (``MultipartTask/isPortals(_:)``).
  func isPortals(_ answer: Answer) -> Bool {
    !provesServer && answer.status != 401 && LikelySoftware.asksForPassword(answer)
  }

  mutating func receive(_ answer: Answer) throws(UploadError) {
    switch state {
    case .putting: try receivePut(answer)
    case .looking(let refusal): try receiveObject(answer, refusal)
    case .verifying, .comparing, .stored: break
    }
  }

  private mutating func receivePut(_ answer: Answer) throws(UploadError) {
    switch answer.status {
    case 409, 412: state = .looking(refusal: answer)
    // Others, such as 202, say that it is not stored yet, or by somebody else.
    case 200, 201, 204:
      if answer.isSuccess, LikelySoftware.asksForPassword(answer) { throw .unconfirmed(status: answer.status) }
      guard request.computesSHA256, answer.sent == .whole else { return try store(answer, sha256: nil) }
      state = .verifying(answer)
    case 200..<300: throw .unconfirmed(status: answer.status)
    default: throw ObjectStoreRefusal(answer)?.error ?? answer.refusal
    }
  }

  private mutating func receiveObject(_ answer: Answer, _ refusal: Answer) throws(UploadError) {
    switch answer.status {
    case 200: break
    // Nothing is in the way but a directory that is missing (RFC 4918, 9.7.1).
    case 404 where refusal.status == 409:
      state = .putting
      throw .serverDirectoryMissing(status: 409)
    // What was in the way is gone, or this URL is only for PUT.
    case 401, 403, 404, 405:
      state = .putting
      throw refusal.refusal
    default: throw answer.refusal
    }
    guard answer.fields.contentLength == size, let sha256 = answer.fields.objectSHA256 else {
      state = .putting
      throw .objectExists(status: refusal.status)
    }
    state = .comparing(sha256: sha256, refused: refusal.status)
  }

  mutating func hashed(sha256: String) throws(UploadError) {
    switch state {
    case .verifying(let answer): try store(answer, sha256: sha256)
    case .comparing(let theirs, let status):
      guard theirs == sha256 else {
        state = .putting
        throw .objectExists(status: status)
      }
      var receipt = Receipt()
      (receipt.isChecksumVerified, receipt.wasAlreadyThere) = (true, true)
      state = .stored(receipt, SentFile(size: size, sha256: sha256))
    case .putting, .looking, .stored: break
    }
  }

  private mutating func store(_ answer: Answer, sha256: String?) throws(UploadError) {
    state = .putting
    var receipt = Receipt()
    let sent = SentFile(size: size, sha256: sha256)
    do throws(ConfirmationFailure) {
      try UploadConfirmation.compare(checksum: answer.fields.objectSHA256, size: nil, with: sent, &receipt)
    } catch { throw UploadError(error) }
    receipt.isUnprovedPage = !provesServer && LikelySoftware.isPage(answer)
    state = .stored(receipt, sent)
  }

  mutating func interrupted() {
    if case .verifying = state { state = .putting }
  }
}

/// Why a server of objects (S3, Google Cloud Storage, Azure) refuses a request, from the XML of its response.
struct ObjectStoreRefusal {
  private let status: Int
  private let code: String
  private let message: String

  /// - Returns: nil if the response says nothing of this kind.
  init?(_ answer: Answer) {
    guard answer.status >= 400, let code = ObjectStoreRefusal.element("Code", of: answer.content) else { return nil }
    status = answer.status
    self.code = code
    message = ObjectStoreRefusal.element("Message", of: answer.content) ?? ""
  }

  /// nil if the status says it all.
  var error: UploadError? {
    let text = code + (message.isEmpty ? "" : ": " + message)
    switch code {
    case "SignatureDoesNotMatch", "ExpiredToken", "InvalidToken", "InvalidAccessKeyId", "AuthenticationFailed",
      "RequestTimeTooSkewed":
      return .signatureRefused(status: status, message: text)
    case "AccessDenied" where message.utf8.count < Limits.serverTextLength && message.hasSuffix("expired"):
      return .signatureRefused(status: status, message: text)
    default: return nil
    }
  }

  /// The text of the first element of this name, without other elements in it.
  private static func element(_ name: String, of content: [UInt8]) -> String? {
    let opening = Array(("<" + name + ">").utf8)
    guard content.count > opening.count else { return nil }
    for start in 0..<(content.count - opening.count) where content[start...].starts(with: opening) {
      let text = content[(start + opening.count)...].prefix { $0 != UInt8(ascii: "<") }
      guard text.count <= Limits.serverTextLength, let text = String(validating: text, as: UTF8.self) else {
        return nil
      }
      return text
    }
    return nil
  }
}

extension [Field] {
  /// nil if there is none, or no number.
  var contentLength: Int64? { first("Content-Length").flatMap { Int64($0) } }

  /// The SHA-256 of a stored object in lower-case hexadecimal digits, as Artifactory, S3 and RFC 9530 name it; nil if no field does.
  var objectSHA256: String? {
    if let text = first("X-Checksum-Sha256") { return ASCII.lowercased(text) }
    let encoded =
      first("x-amz-checksum-sha256")
      ?? first("Repr-Digest").flatMap { $0.hasPrefix("sha-256=:") ? String($0.dropFirst(9).prefix { $0 != ":" }) : nil }
    guard let digest = encoded.flatMap({ Base64.decode($0.utf8) }), digest.count == 32 else { return nil }
    return ASCII.hex(digest)
  }
}
