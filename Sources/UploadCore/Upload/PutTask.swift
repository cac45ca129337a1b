/// One recording as an object: a PUT with its bytes, which can be sent again without being stored twice (RFC 9110, 9.3.4).
///
///     (S3) hashing ──▶ putting ──▶ verifying ──▶ stored
///                         │                        ▲
///                         ▼                        │
///                      looking ──▶ comparing ──────┘
///     (the server replaces nothing, and something is there)
///
/// An S3 server gets the content's SHA-256 in the signed head, and refuses any other content. So its success needs no verification.
struct PutTask: Sendable {
  private enum State: Sendable {
    /// The SHA-256 of the content is computed, for an S3 server.
    case hashing
    case putting
    /// The server has taken it. Its response is compared with the file's SHA-256.
    case verifying(Answer)
    /// The server does not replace what is there, or its success says too little. Ask what is there.
    case looking(refusal: Answer)
    /// That has the size of the file and this SHA-256. `refused`: the status of the refusal.
    case comparing(sha256: String, refused: Int)
    case stored(Receipt, SentFile)
  }

  private let request: UploadRequest
  private let size: Int64
  private let provesServer: Bool
  private var state: State
  private var s3: S3Dialog?

  init(_ plan: UploadPlan) {
    request = plan.request
    size = plan.size
    provesServer = plan.provesServer
    if case .s3(let object) = plan.request.destination { s3 = S3Dialog(object) }
    state = s3 == nil ? .putting : .hashing
  }

  /// Grows with everything that need not be repeated after a failure.
  var progress: Int64 {
    switch state {
    case .hashing, .putting, .verifying: 0
    case .looking, .comparing: 1
    case .stored: 2
    }
  }

  var isVerifying: Bool {
    switch state {
    case .verifying, .comparing: true
    case .hashing, .putting, .looking, .stored: false
    }
  }

  var awaitsOutcome: Bool {
    switch state {
    case .hashing, .putting: false
    case .verifying, .looking, .comparing, .stored: true
    }
  }

  func next() -> TaskStep {
    switch state {
    // All of it, and what was hashed before is not read again.
    case .hashing: return .hash(.beginning(length: size))
    case .putting:
      var put = HTTPRequest(
        method: "PUT", target: request.base, fields: [Field("Content-Type", request.filePart.mediaType)],
        body: RequestBody(fileLength: size))
      put.mayExpectContinue = true
      s3?.complete(&put)
      return .ask(put)
    case .verifying, .comparing: return .hash(.wholeFile)
    case .looking:
      var head = HTTPRequest(method: "HEAD", target: request.base, fields: [Field("Cache-Control", "no-cache")])
      s3?.complete(&head)
      return .ask(head)
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
    case .hashing, .verifying, .comparing, .stored: break
    }
  }

  private mutating func receivePut(_ answer: Answer) throws(UploadError) {
    if s3?.learn(from: answer) ?? false { return }
    switch answer.status {
    case 409, 412: state = .looking(refusal: answer)
    case 501 where s3?.preventsReplacing ?? false: state = .looking(refusal: answer)
    // Others, such as 202, say that it is not stored yet, or by somebody else.
    case 200, 201, 204:
      if LikelySoftware.asksForPassword(answer) { throw .unconfirmed(status: answer.status) }
      if let s3 {
        // Every S3 server says it. Another one may have answered, such as a portal: the object is proof.
        guard answer.fields.first("ETag") != nil else {
          state = .looking(refusal: answer)
          return
        }
        return try store(answer, sha256: s3.sha256, isVerified: true)
      }
      guard request.computesSHA256, answer.sent == .whole else { return try store(answer, sha256: nil) }
      state = .verifying(answer)
    case 200..<300: throw .unconfirmed(status: answer.status)
    default: throw answer.objectRefusal
    }
  }

  private mutating func receiveObject(_ answer: Answer, _ refusal: Answer) throws(UploadError) {
    if s3?.learn(from: answer) ?? false { return }
    switch answer.status {
    case 200: break
    case 404 where !refusal.isSuccess && s3?.mayPutAgain(after: refusal) ?? false:
      state = .putting
      return
    // Nothing is in the way but a directory that is missing (RFC 4918, 9.7.1).
    case 404 where refusal.status == 409 && s3 == nil:
      state = .putting
      throw .serverDirectoryMissing(status: 409)
    // What was in the way is gone, or this URL is only for PUT.
    case 401, 403, 404, 405:
      state = .putting
      if s3 != nil { throw conflict(refusal.status) ?? refusal.objectRefusal }
      throw refusal.objectRefusal
    default: throw answer.refusal
    }
    guard answer.fields.contentLength == size, let theirs = answer.fields.objectSHA256 ?? s3?.givenSHA256(answer) else {
      state = .putting
      throw conflict(refusal.status) ?? .objectExists(status: refusal.status)
    }
    if let own = s3?.sha256 {
      try compare(own, with: theirs, refused: refusal.status)
    } else {
      state = .comparing(sha256: theirs, refused: refusal.status)
    }
  }

  /// What the status of the PUT means if something else is there, or nobody may look; nil if it says no more than that it was refused.
  private func conflict(_ status: Int) -> UploadError? {
    switch status {
    case 200..<300: .unconfirmed(status: status)
    case 412: .objectExists(status: status)
    default: nil
    }
  }

  private mutating func compare(_ own: String, with theirs: String, refused: Int) throws(UploadError) {
    guard theirs == own else {
      state = .putting
      throw conflict(refused) ?? .objectExists(status: refused)
    }
    var receipt = Receipt()
    (receipt.isChecksumVerified, receipt.wasAlreadyThere) = (true, refused >= 300)
    state = .stored(receipt, SentFile(size: size, sha256: own))
  }

  mutating func hashed(sha256: String) throws(UploadError) {
    switch state {
    case .hashing:
      s3?.sha256 = sha256
      state = .putting
    case .verifying(let answer): try store(answer, sha256: sha256)
    case .comparing(let theirs, let status): try compare(sha256, with: theirs, refused: status)
    case .putting, .looking, .stored: break
    }
  }

  /// - Parameter isVerified: whether the server would have refused other content.
  private mutating func store(_ answer: Answer, sha256: String?, isVerified: Bool = false) throws(UploadError) {
    state = .putting
    var receipt = Receipt()
    receipt.isChecksumVerified = isVerified
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

/// What an S3 server must be told with each request, and what it has said about that.
struct S3Dialog: Sendable {
  private static let ownField = "x-amz-meta-sha256"

  /// Of the content, in lower-case hexadecimal digits.
  var sha256: String?
  /// Whether it knows the condition that nothing is replaced.
  private(set) var preventsReplacing: Bool
  private var signing: S3Signing
  /// The one that requests are signed for.
  var region: String { signing.region }
  private var hasCorrectedRegion = false
  private var hasPutAgain = false

  init(_ object: S3Object) {
    preventsReplacing = !object.mayReplace
    signing = S3Signing(region: object.region, contentSHA256: S3Signing.emptySHA256)
  }

  func complete(_ request: inout HTTPRequest) {
    var signing = signing
    if request.method == "PUT", let sha256 {
      signing.contentSHA256 = sha256
      if preventsReplacing { request.fields.append(Field("If-None-Match", "*")) }
      request.fields.append(Field("x-amz-checksum-sha256", Base64.encode(ASCII.bytes(ofHex: sha256))))
      request.fields.append(Field(S3Dialog.ownField, sha256))
    } else {
      request.fields.append(Field("x-amz-checksum-mode", "ENABLED"))
    }
    request.signing = signing
    // Nothing else is signed for another origin.
    request.isConfidential = true
  }

  /// - Returns: whether to sign the same request again, and to repeat it.
  mutating func learn(from answer: Answer) -> Bool {
    if answer.status >= 300, !hasCorrectedRegion {
      let region =
        answer.fields.first("x-amz-bucket-region") ?? ObjectStoreRefusal.element("Region", of: answer.content)
      if let region, !region.isEmpty, region != signing.region,
        region.utf8.allSatisfy({ $0 > ASCII.space && $0 < ASCII.delete })
      {
        hasCorrectedRegion = true
        signing.region = region
        return true
      }
    }
    if answer.status == 403, signing.serverTime == nil,
      ObjectStoreRefusal.element("Code", of: answer.content) == "RequestTimeTooSkewed",
      let time = answer.fields.first("Date").flatMap({ HTTPDate.seconds($0) })
    {
      signing.serverTime = time
      return true
    }
    return false
  }

  /// What whoever stored the object has said, with the signature for that content. Many servers do not say what they compute.
  func givenSHA256(_ answer: Answer) -> String? { answer.fields.first(S3Dialog.ownField).map { ASCII.lowercased($0) } }

  /// Nothing is there, although the server did not store the recording: somebody else was at it, or it does not know the condition.
  mutating func mayPutAgain(after refusal: Answer) -> Bool {
    if refusal.status == 501 {
      preventsReplacing = false
      return true
    }
    defer { hasPutAgain = true }
    return !hasPutAgain
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

  var error: UploadError {
    let text = code + (message.isEmpty ? "" : ": " + message)
    switch code {
    case "SignatureDoesNotMatch", "ExpiredToken", "InvalidToken", "InvalidAccessKeyId", "AuthenticationFailed",
      "RequestTimeTooSkewed":
      return .signatureRefused(status: status, message: text)
    case "AccessDenied" where message.utf8.count < Limits.serverTextLength && message.hasSuffix("expired"):
      return .signatureRefused(status: status, message: text)
    default: return .refused(status: status, message: text)
    }
  }

  /// The text of the first element of this name, without other elements in it.
  static func element(_ name: String, of content: [UInt8]) -> String? {
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

extension Answer {
  /// What its status and content say, if it refuses a request for an object.
  var objectRefusal: UploadError { ObjectStoreRefusal(self)?.error ?? refusal }
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
