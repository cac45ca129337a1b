/// One recording as an object: a PUT with its bytes, which can be sent again without being stored twice (RFC 9110, 9.3.4).
///
///     (S3) hashing ──▶ looking ──▶ putting ──▶ verifying ──▶ stored
///                         │          ▲ │                      ▲
///     (something is there)│          │ ▼ (it is not replaced) │
///                         │        looking ──▶ comparing ─────┤
///                         └───────────────────────────────────┘
///
/// Of other servers, a SHA-256 or MD5 in the response proves what they have stored: S3 behind a signed URL says the MD5 as its ETag.
///
/// An S3 server gets the content's SHA-256 in the signed head, and refuses any other content. So its success needs no verification.
final class PutTask: UploadTask {
  private enum State: Sendable {
    /// The SHA-256 of the content is computed, for an S3 server.
    case hashing
    case putting
    /// The server has taken it. Its response is compared with the file's SHA-256.
    case verifying(Answer)
    /// What is there, because the server does not replace it, or its success says too little. nil before the first PUT to an S3 server: some
    /// store in its place what must not replace it.
    case looking(refusal: Answer?)
    /// That has the size of the file and this SHA-256. `refused`: the status of the refusal.
    case comparing(sha256: String, refused: Int)
    case stored(Receipt, SentFile)
  }

  private static let ownField = "x-amz-meta-sha256"

  private let target: TargetURI
  private let mediaType: String
  private let computesSHA256: Bool
  private let size: Int64
  private let provesServer: Bool
  private var state: State
  private var s3: S3Dialog?
  /// Of what an S3 server is to store, in lower-case hexadecimal digits.
  private var signedSHA256: String?
  private var hasPutAgain = false
  /// Whether a request with all of it has had no response.
  private var mayBeStored = false

  init(_ plan: UploadPlan) {
    target = plan.request.base
    mediaType = plan.request.filePart.mediaType
    computesSHA256 = plan.request.computesSHA256
    size = plan.size
    provesServer = plan.provesServer
    if case .s3(let object) = plan.request.destination { s3 = S3Dialog(object) }
    state = s3 == nil ? .putting : .hashing
  }

  override var progress: Int64 {
    switch state {
    case .hashing, .looking(nil), .putting, .verifying: 0
    case .looking, .comparing: 1
    case .stored: 2
    }
  }

  override var isVerifying: Bool {
    switch state {
    case .verifying, .comparing: true
    case .hashing, .putting, .looking, .stored: false
    }
  }

  override var awaitsOutcome: Bool {
    switch state {
    case .hashing, .looking(nil), .putting: false
    case .verifying, .looking, .comparing, .stored: true
    }
  }

  override func next() -> TaskStep {
    switch state {
    // All of it, and what was hashed before is not read again.
    case .hashing: return .hash(.beginning(length: size))
    case .putting:
      var put = HTTPRequest(
        method: "PUT", target: target, fields: [Field("Content-Type", mediaType)],
        body: RequestBody(fileLength: size))
      put.mayExpectContinue = true
      if let s3, let signedSHA256 {
        put.fields += s3.condition
        put.fields.append(Field("x-amz-checksum-sha256", Base64.encode(ASCII.bytes(ofHex: signedSHA256))))
        put.fields.append(Field(PutTask.ownField, signedSHA256))
        s3.sign(&put, contentSHA256: signedSHA256)
      }
      return .ask(put)
    case .verifying, .comparing: return .hash(.wholeFile)
    case .looking:
      let head = HTTPRequest(method: "HEAD", target: target, fields: [Field("Cache-Control", "no-cache")])
      return .ask(s3?.question(about: target) ?? head)
    case .stored(let receipt, let sent): return .finished(.delivered(receipt, sent, resumedFrom: 0))
    }
  }

  // MARK: Responses

  override func isPortals(_ answer: Answer) -> Bool { LikelySoftware.isPortals(answer, unless: provesServer) }

  override func receive(_ answer: Answer) throws(UploadError) {
    switch state {
    case .putting: try receivePut(answer)
    case .looking(let refusal): try receiveObject(answer, refusal)
    case .hashing, .verifying, .comparing, .stored: break
    }
  }

  private func receivePut(_ answer: Answer) throws(UploadError) {
    if s3?.learn(from: answer) ?? false { return }
    switch answer.status {
    case 409, 412: state = .looking(refusal: answer)
    case 501 where s3?.preventsReplacing ?? false: state = .looking(refusal: answer)
    // Others, such as 202, say that it is not stored yet, or by somebody else.
    case 200, 201, 204:
      if LikelySoftware.isFailure(answer) { throw .unconfirmed(status: answer.status) }
      if s3 != nil {
        // Every S3 server says it. Another one may have answered, such as a portal: the object is proof.
        guard answer.fields.first("ETag") != nil else {
          state = .looking(refusal: answer)
          return
        }
        return try store(answer, sha256: signedSHA256, isVerified: true)
      }
      guard computesSHA256, answer.sent == .whole else { return try store(answer, sha256: nil) }
      state = .verifying(answer)
    case 200..<300: throw .unconfirmed(status: answer.status)
    default: throw answer.objectRefusal
    }
  }

  /// - Parameter refusal: nil before the first PUT.
  private func receiveObject(_ answer: Answer, _ refusal: Answer?) throws(UploadError) {
    if s3?.learn(from: answer) ?? false { return }
    // Every S3 server says more of an object. Another one has answered, such as a portal.
    if s3 != nil, answer.isSuccess, answer.fields.first("ETag") == nil { throw .notFromServer(status: answer.status) }
    let refused = refusal?.status ?? 412
    switch answer.status {
    case 200: break
    // Who may only write learns nothing here: then the condition protects what is there. The PUT says what else is wrong.
    case 400..<500 where refusal == nil && !RetryPolicy.isTransient(status: answer.status):
      state = .putting
      return
    case 404 where mayPutAgain(after: refused):
      state = .putting
      return
    // Nothing is in the way but a directory that is missing (RFC 4918, 9.7.1).
    case 404 where refused == 409 && s3 == nil:
      state = .putting
      throw .serverDirectoryMissing(status: 409)
    // What was in the way is gone, or this URL is only for PUT.
    case 401, 403, 404, 405:
      state = .putting
      // It may be this recording, and nobody can see it.
      if mayBeStored, refused == 412, answer.status != 404 { throw .mayBeStored(.objectExists) }
      throw (s3 == nil ? nil : conflict(refused)) ?? refusal?.objectRefusal ?? answer.refusal
    default: throw answer.refusal
    }
    guard answer.fields.contentLength == size, let theirs = answer.fields.objectSHA256 ?? givenSHA256(answer) else {
      state = .putting
      throw conflict(refused) ?? .objectExists
    }
    if let own = signedSHA256 {
      try compare(own, with: theirs, refused: refused)
    } else {
      state = .comparing(sha256: theirs, refused: refused)
    }
  }

  /// What whoever stored the object has said, with the signature for that content. Many servers do not say what they compute.
  private func givenSHA256(_ answer: Answer) -> String? {
    s3 == nil ? nil : answer.fields.first(PutTask.ownField).map { ASCII.lowercased($0) }
  }

  /// Nothing is there, although an S3 server did not store the recording: somebody else was at it, or it does not know the condition.
  private func mayPutAgain(after refused: Int) -> Bool {
    guard s3 != nil, refused >= 300 else { return false }
    if refused == 501 {
      s3?.forgetCondition()
      return true
    }
    defer { hasPutAgain = true }
    return !hasPutAgain
  }

  /// What the status of the PUT means if something else is there, or nobody may look; nil if it says no more than that it was refused.
  private func conflict(_ status: Int) -> UploadError? {
    switch status {
    case 200..<300: .unconfirmed(status: status)
    case 412: .objectExists
    default: nil
    }
  }

  private func compare(_ own: String, with theirs: String, refused: Int) throws(UploadError) {
    guard theirs == own else {
      state = .putting
      throw conflict(refused) ?? .objectExists
    }
    var receipt = Receipt()
    (receipt.isChecksumVerified, receipt.wasAlreadyThere) = (true, refused >= 300)
    state = .stored(receipt, SentFile(size: size, sha256: own))
  }

  override func hashed(_ result: HashResult) throws(UploadError) {
    let sha256: String
    var md5: String?
    switch result {
    case .wholeFile(let whole, _, let other): (sha256, md5) = (whole, other)
    case .beginning(let whole, _): sha256 = whole
    case .wholeFileAgain, .range, .rangeAsSent: return
    }
    switch state {
    case .hashing:
      signedSHA256 = sha256
      state = s3?.preventsReplacing ?? false ? .looking(refusal: nil) : .putting
    case .verifying(let answer): try store(answer, sha256: sha256, md5: md5)
    case .comparing(let theirs, let status): try compare(sha256, with: theirs, refused: status)
    case .putting, .looking, .stored: break
    }
  }

  /// - Parameter isVerified: whether the server would have refused other content.
  private func store(
    _ answer: Answer, sha256: String?, md5: String? = nil, isVerified: Bool = false
  ) throws(UploadError) {
    state = .putting
    var receipt = Receipt()
    receipt.isChecksumVerified = md5.map { answer.fields.haveMD5($0) } ?? false
    let sent = SentFile(size: size, sha256: sha256)
    try UploadConfirmation.compare(checksum: answer.fields.objectSHA256, size: nil, with: sent, &receipt)
    let isStrangers = s3 == nil ? LikelySoftware.mayBeStrangers(answer) : LikelySoftware.isPage(answer)
    // Who knows a checksum of the recording has it.
    receipt.isUnprovedPage = !provesServer && isStrangers && !receipt.isChecksumVerified
    if isVerified { receipt.isChecksumVerified = true }
    state = .stored(receipt, sent)
  }

  override func interrupted(_ interruption: Interruption) -> RetrySafety {
    if case .putting = state, interruption.sent == .whole { mayBeStored = s3 != nil }
    if case .verifying = state { state = .putting }
    return .allowed
  }

  override var sendsWhole: Bool { true }
}
