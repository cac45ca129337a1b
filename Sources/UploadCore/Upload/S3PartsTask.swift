/// One large recording as an object of an S3 server, in parts (multipart upload). Each part's SHA-256 is signed, so that the server refuses any
/// other content. After an interruption the server lists what it has, and only what is missing is sent.
///
///     aborting ──▶ looking ──▶ creating ──▶ hashing ⇄ putting ──▶ digesting ──▶ checking ──▶ joining ──▶ confirming ──▶ stored
///                     │                        ▲                               │  ▲           │                        ▲
///                     ▼                     examining ◀── listing              │  └───────────┘ no clear response      │
///                  comparing                  (of an earlier process)          └───────────────────────────────────────┘
///                                                                                the object is there: it was joined
///
/// The object's metadata has the upload's token. So the object itself says whether a request to join the parts, whose response was lost, has
/// made it; such a request is never repeated blindly.
struct S3PartsTask: Sendable {
  private enum State: Sendable {
    /// End an upload that is of no use, whatever the response. Afterwards, the recording is sent, or the upload fails.
    case aborting(TargetURI, before: UploadError?)
    /// Whether something has the object's name, before anything is sent in vain.
    case looking
    /// That has the size of the file and this SHA-256.
    case comparing(sha256: String)
    case creating
    /// What the server has of an earlier process, behind the part with this number.
    case listing(after: Int)
    /// Whether that is of this file. `isJoined`: the object has been made of it.
    case examining(isJoined: Bool)
    /// The part with this number.
    case hashing(Int)
    case putting(Int, sha256: String)
    /// The rest of the whole file's SHA-256.
    case digesting(isJoined: Bool)
    /// Whether something has the object's name, before the parts are joined. `isLost`: the server does not know the upload any more.
    case checking(isLost: Bool)
    case joining
    /// The server says that they are joined.
    case confirming
    case failing(UploadError)
    case stored(Receipt, SentFile)
  }

  private let size: Int64
  private let mediaType: String
  private let token: String
  private let computesSHA256: Bool
  /// What an earlier process has sent.
  private let sent: SentPart?
  private let object: TargetURI
  private let mayReplace: Bool
  private var s3: S3Dialog
  private var state: State
  private var parts: UploadedParts
  /// The object's URL with the ID of the upload; nil if there is none.
  private var location: TargetURI?
  private var sha256: String?
  /// Changes to save in the record before anything else.
  private var unsaved: [RecordChange] = []
  /// How much the server had before anything was sent, in bytes; nil while unknown.
  private var resumedFrom: Int64?
  private var hasOtherFile = false
  /// Why the part on the server may be of another file; nil if it is not.
  private var doubt: FileDoubt?
  /// Whether this process has created the upload.
  private var hasCreated = false
  /// How many uploads it has begun.
  private var attempts = 0
  /// Whether the server did not join what it had listed.
  private var hasListedAgain = false
  /// Whether it has said that there is an object already.
  private var wasPreceded = false
  /// Whether it has said that the user may not list parts.
  private var mustNotList = false

  init(_ plan: UploadPlan, _ object: S3Object) {
    size = plan.size
    mediaType = plan.request.filePart.mediaType
    token = plan.boundary.token
    computesSHA256 = plan.computesSHA256
    sent = plan.previous.sent
    self.object = object.url
    mayReplace = object.mayReplace
    s3 = S3Dialog(object)
    doubt = plan.previous.doubt
    parts = UploadedParts(token: plan.boundary.token, ofSize: plan.size)
    state = .looking
    if let location = plan.previous.location, location.withoutQuery == object.url, let parts = plan.previous.parts {
      (self.location, self.parts, state) = (location, parts, .listing(after: 0))
    } else if let former = plan.superseded ?? plan.previous.location, former.withoutQuery == object.url {
      state = .aborting(former, before: nil)
    }
  }

  // MARK: What is asked of it

  /// The bytes that the server has, and more with everything that need not be repeated after a failure.
  var progress: Int64 {
    switch state {
    case .aborting, .looking, .comparing, .creating, .listing, .examining, .hashing, .putting, .failing:
      parts.total(in: size)
    case .digesting, .checking, .joining: size + 1
    case .confirming, .stored: size + 2
    }
  }

  var lastOffset: Int64 { parts.beginning(of: size) }

  var isVerifying: Bool {
    switch state {
    case .comparing, .digesting: true
    default: false
    }
  }

  /// Whether the server has had everything, and only the outcome is missing.
  var awaitsOutcome: Bool { progress > size }

  /// Whether the request in flight is about an upload that is not needed.
  var isTidying: Bool {
    if case .aborting = state { true } else { false }
  }

  /// Whether what is read of the file is not known to be what was sent.
  var readsUnknown: Bool {
    guard case .examining = state, case .read = continuation else { return false }
    return true
  }

  mutating func takeUnsaved() -> RecordChange? { unsaved.isEmpty ? nil : unsaved.removeFirst() }

  mutating func next() throws(UploadError) -> TaskStep {
    if let change = takeUnsaved() { return .save(change) }
    if hasOtherFile {
      hasOtherFile = false
      return .reportOtherFile
    }
    switch state {
    case .aborting(let location, _): return .ask(AbortTask.request(to: location, s3))
    case .looking:
      if !mayReplace { return .ask(s3.question(about: object)) }
      begin()
      return try next()
    case .checking, .confirming: return .ask(s3.question(about: object))
    case .comparing, .digesting: return .hash(.wholeFile)
    case .creating: return .ask(creation)
    case .listing(let number):
      let marker = number == 0 ? "" : "&part-number-marker=" + String(number)
      return .ask(signed("GET", toUpload: "&max-parts=" + String(Limits.partListCount) + marker))
    case .examining(let isJoined): return try examine(isJoined: isJoined)
    case .hashing(let number):
      let (offset, length) = parts.range(of: number, in: size)
      return .hash(.range(.sha256, offset: offset, length: length))
    case .putting(let number, let sha256):
      let (offset, length) = parts.range(of: number, in: size)
      var put = HTTPRequest(
        method: "PUT", target: uploadURL(adding: "&partNumber=" + String(number)),
        body: RequestBody(fileOffset: offset, fileLength: length))
      s3.sign(&put, contentSHA256: sha256)
      return .ask(put)
    case .joining:
      var join = HTTPRequest(
        method: "POST", target: uploadURL(), fields: s3.condition + [Field("Content-Type", "application/xml")],
        body: RequestBody(header: list))
      join.isRepeatable = false
      s3.sign(&join)
      return .ask(join)
    case .failing(let error): throw error
    case .stored(let receipt, let sent): return .finished(.delivered(receipt, sent, resumedFrom: resumedFrom ?? 0))
    }
  }

  // MARK: Requests

  private var creation: HTTPRequest {
    let fields = [Field("Content-Type", mediaType), Field(S3PartsTask.tokenField, parts.token)]
    var post = HTTPRequest(method: "POST", target: object.with(query: "uploads="), fields: fields, body: RequestBody())
    s3.sign(&post)
    return post
  }

  private func signed(_ method: String, toUpload query: String) -> HTTPRequest {
    var request = HTTPRequest(method: method, target: uploadURL(adding: query))
    s3.sign(&request)
    return request
  }

  private func uploadURL(adding query: String = "") -> TargetURI {
    guard let location else { return object }
    return location.with(query: location.query + query)
  }

  /// The parts to be joined.
  private var list: [UInt8] {
    var xml = Array("<CompleteMultipartUpload xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">".utf8)
    for (index, tag) in parts.tags.enumerated() {
      for text in ["<Part><PartNumber>", String(index + 1), "</PartNumber><ETag>\"", tag, "\"</ETag></Part>"] {
        xml.append(contentsOf: text.utf8)
      }
    }
    xml.append(contentsOf: "</CompleteMultipartUpload>".utf8)
    return xml
  }

  private static let tokenField = "x-amz-meta-gighive-upload"

  // MARK: What comes next

  /// Begins an upload.
  private mutating func begin() {
    resumedFrom = resumedFrom ?? 0
    attempts += 1
    parts = UploadedParts(token: token + (attempts > 1 ? "-" + String(attempts) : ""), ofSize: size)
    (location, doubt) = (nil, nil)
    unsaved.append(.parts(parts))
    state = .creating
  }

  /// The upload is no longer there, or of no use. If this process has created it, that counts as a failure, because it could happen endlessly.
  private mutating func startOver() throws(UploadError) {
    let wasCreated = hasCreated
    forget()
    state = .looking
    if wasCreated { throw .uploadLost }
  }

  private mutating func forget() {
    parts = UploadedParts(token: parts.token, ofSize: size)
    (location, hasCreated, hasListedAgain, doubt) = (nil, false, false, nil)
    unsaved.append(.forgotten)
  }

  /// Ends the upload on the server, and sends the recording from the start, or fails.
  private mutating func abort(before error: UploadError?) {
    guard let location else {
      state = error.map { .failing($0) } ?? .looking
      return
    }
    state = .aborting(location, before: error)
  }

  private mutating func leaveAborted(_ error: UploadError?, isGone: Bool) {
    // Otherwise `cancel` can still end it.
    if location != nil, isGone || error == nil { forget() }
    state = error.map { .failing($0) } ?? .looking
  }

  /// How the upload of an earlier process continues.
  private var continuation: ContinuationPolicy.Decision {
    ContinuationPolicy.decide(
      doubt, sent: sent, offset: parts.end(in: size), size: size,
      digestDecides: computesSHA256)
  }

  private mutating func examine(isJoined: Bool) throws(UploadError) -> TaskStep {
    switch continuation {
    case .compare(let sent): return .hash(.beginning(length: sent.length))
    case .read(let length): return .hash(.beginning(length: length))
    case .startOver: leaveOther(isJoined: isJoined)
    case .proceed: proceed(isJoined: isJoined)
    }
    return try next()
  }

  /// What the server has is of another file.
  private mutating func leaveOther(isJoined: Bool) {
    if isJoined {
      state = .failing(.objectExists(status: 412))
      return
    }
    hasOtherFile = true
    abort(before: nil)
  }

  private mutating func proceed(isJoined: Bool) {
    if doubt != nil { unsaved.append(.continued) }
    doubt = nil
    if isJoined { store() } else { sendNext() }
  }

  private mutating func sendNext() {
    if let number = parts.firstMissing(in: size) {
      state = .hashing(number)
    } else {
      state = needsDigest ? .digesting(isJoined: false) : checkingOrJoining
    }
  }

  private var needsDigest: Bool { computesSHA256 && sha256 == nil }

  /// What may be replaced is not looked at, unless a request may have replaced it already.
  private var checkingOrJoining: State { mayReplace && hasCreated ? .joining : .checking(isLost: false) }

  mutating func hashed(_ result: HashResult) throws(UploadError) {
    switch (state, result) {
    case (.hashing(let number), .range(let checksum)):
      state = .putting(number, sha256: ASCII.hex(Base64.decode(checksum.utf8) ?? []))
    case (.examining(let isJoined), .beginning(let found, let isStable)):
      switch continuation {
      case .compare(let sent) where found != sent.sha256: leaveOther(isJoined: isJoined)
      case .read where !isStable: leaveOther(isJoined: isJoined)
      case .compare, .read, .startOver, .proceed: proceed(isJoined: isJoined)
      }
    case (.digesting(let isJoined), .wholeFile(let sha256, _)):
      self.sha256 = sha256
      if isJoined { store() } else { state = checkingOrJoining }
    case (.comparing(let theirs), .wholeFile(let own, _)):
      guard theirs == own else {
        state = .looking
        throw .objectExists(status: 412)
      }
      sha256 = own
      var receipt = Receipt()
      (receipt.isChecksumVerified, receipt.wasAlreadyThere) = (true, true)
      state = .stored(receipt, SentFile(size: size, sha256: own))
    default: break
    }
  }

  // MARK: Responses

  mutating func receive(_ answer: Answer) throws(UploadError) {
    if s3.learn(from: answer) { return }
    switch state {
    // Every S3 server says more of an object. Another one has answered, such as a portal.
    case .looking where answer.isOfNoObject, .checking where answer.isOfNoObject, .confirming where answer.isOfNoObject:
      throw .notFromServer(status: answer.status)
    case .aborting(_, let error):
      let wasCreated = hasCreated
      leaveAborted(error, isGone: answer.isSuccess || answer.status == 404)
      // It could happen endlessly.
      if wasCreated, error == nil { throw .uploadLost }
    case .looking: try receiveObject(answer)
    case .creating: try receiveCreation(answer)
    case .listing(let number): try receiveList(answer, after: number)
    case .putting(let number, _): try receivePart(answer, number)
    case .checking(let isLost): try receiveCheck(answer, isLost: isLost)
    case .joining: try receiveJoin(answer)
    case .confirming: try receiveConfirmation(answer)
    case .comparing, .examining, .hashing, .digesting, .failing, .stored: break
    }
  }

  private mutating func receiveObject(_ answer: Answer) throws(UploadError) {
    switch answer.status {
    case 200:
      let theirs = answer.fields.objectSHA256 ?? answer.fields.first("x-amz-meta-sha256").map { ASCII.lowercased($0) }
      guard answer.fields.contentLength == size, let theirs else { throw .objectExists(status: 412) }
      state = .comparing(sha256: theirs)
    // Who may only write learns nothing here: then the condition protects what is there.
    case 403, 404, 405: begin()
    default: throw answer.objectRefusal
    }
  }

  private mutating func receiveCreation(_ answer: Answer) throws(UploadError) {
    guard answer.isSuccess else { throw answer.objectRefusal }
    guard answer.status == 200, S3Content.root(of: answer.content) == "InitiateMultipartUploadResult",
      let id = S3Content.text(of: "UploadId", in: answer.content),
      (1...Limits.partsIDLength).contains(id.utf8.count)
    else { throw .notFromServer(status: answer.status) }
    let location = object.with(query: "uploadId=" + Percent.encode(segment: id.utf8))
    (self.location, hasCreated) = (location, true)
    unsaved.append(.created(location: location.text, expires: nil))
    sendNext()
  }

  private mutating func receiveList(_ answer: Answer, after number: Int) throws(UploadError) {
    switch answer.status {
    case 200: break
    case 404 where answer.isNoSuchUpload:
      state = .checking(isLost: true)
      return
    // Not everybody may list. The record knows what was taken.
    case 403, 405, 501:
      if case .signatureRefused = answer.objectRefusal { throw answer.objectRefusal }
      mustNotList = true
      return endListing()
    default: throw answer.objectRefusal
    }
    guard let page = S3PartList(answer.content) else { throw .notFromServer(status: answer.status) }
    if let next = page.next, next <= number { throw .notFromServer(status: answer.status) }
    // Of an earlier plan, or of somebody else: some servers join only what is named completely.
    if page.parts.contains(where: { $0.number > parts.count(in: size) }) { return abort(before: nil) }
    let last = min(page.next ?? parts.tags.count, parts.tags.count)
    var index = number
    while index < last {
      let part = page.parts.first { $0.number == index + 1 }
      let isWhole = part?.size == parts.range(of: index + 1, in: size).length
      if !isWhole || part.map({ S3PartsTask.tag($0.etag) }) != parts.tags[index] { parts.set(nil, of: index + 1) }
      index += 1
    }
    if let next = page.next { state = .listing(after: next) } else { endListing() }
  }

  private mutating func endListing() {
    resumedFrom = resumedFrom ?? parts.beginning(of: size)
    state = .examining(isJoined: false)
  }

  private mutating func receivePart(_ answer: Answer, _ number: Int) throws(UploadError) {
    switch answer.status {
    case 200:
      // Every S3 server says it. Another one may have answered, such as a portal.
      guard let tag = answer.fields.first("ETag").map({ S3PartsTask.tag($0) }), UploadedParts.isTag(tag) else {
        throw .unconfirmed(status: answer.status)
      }
      parts.set(tag, of: number)
      unsaved.append(.parts(parts))
      sendNext()
    case 404 where answer.isNoSuchUpload: state = .checking(isLost: true)
    case 400 where answer.isOtherContent:
      state = .hashing(number)
      throw .tus(.checksumMismatch(offset: parts.range(of: number, in: size).offset))
    case 200..<300: throw .unconfirmed(status: answer.status)
    default: throw answer.objectRefusal
    }
  }

  private mutating func receiveCheck(_ answer: Answer, isLost: Bool) throws(UploadError) {
    switch answer.status {
    case 200 where isOwn(answer): state = .examining(isJoined: true)
    case 200 where !mayReplace: return abort(before: .objectExists(status: 412))
    case 200, 404:
      if isLost { try startOver() } else { state = .joining }
    case 403, 405, 501:
      guard isLost else {
        state = .joining
        return
      }
      // It may have been joined, and nobody can see it.
      guard parts.firstMissing(in: size) != nil else { throw .unconfirmed(status: 404) }
      try startOver()
    default: throw answer.objectRefusal
    }
  }

  private mutating func receiveJoin(_ answer: Answer) throws(UploadError) {
    state = .checking(isLost: false)
    switch answer.status {
    case 200:
      switch S3Content.root(of: answer.content) {
      case "CompleteMultipartUploadResult": state = .confirming
      // The head was sent before the server knew.
      case "Error": try receiveJoin(Answer(status: 500, fields: answer.fields, content: answer.content))
      default: throw .unconfirmed(status: 200)
      }
    case 404 where answer.isNoSuchUpload: state = .checking(isLost: true)
    // Whoever has been faster has made its object, or this upload has, and the response was lost.
    case 412 where !wasPreceded: wasPreceded = true
    case 412: abort(before: .objectExists(status: 412))
    case 409: abort(before: nil)
    case 501 where s3.preventsReplacing: s3.forgetCondition()
    case 400 where !hasListedAgain && !mustNotList:
      hasListedAgain = true
      state = .listing(after: 0)
    case 400 where answer.isAboutParts: abort(before: nil)
    case 200..<300: throw .unconfirmed(status: answer.status)
    default: throw answer.objectRefusal
    }
  }

  private mutating func receiveConfirmation(_ answer: Answer) throws(UploadError) {
    switch answer.status {
    case 200:
      let length = answer.fields.contentLength ?? 0
      guard length == size else {
        state = .checking(isLost: false)
        throw .sizeDiffers(sent: size, stored: length)
      }
      // Somebody else has replaced it since; a server that keeps no metadata has none.
      guard isOwn(answer) || answer.fields.first(S3PartsTask.tokenField) == nil else {
        state = .checking(isLost: false)
        throw .objectExists(status: 200)
      }
      store()
    // Who may only write cannot look, but the server has said it.
    case 403, 405, 501: store()
    case 404:
      state = .checking(isLost: false)
      throw .unconfirmed(status: 404)
    default: throw answer.objectRefusal
    }
  }

  private func isOwn(_ answer: Answer) -> Bool {
    answer.fields.first(S3PartsTask.tokenField) == parts.token && answer.fields.contentLength == size
  }

  private mutating func store() {
    if needsDigest {
      state = .digesting(isJoined: true)
      return
    }
    var receipt = Receipt()
    receipt.isChecksumVerified = true
    state = .stored(receipt, SentFile(size: size, sha256: sha256))
  }

  /// Without quotes, as servers compare it.
  private static func tag(_ text: String) -> String {
    let text = Array(text.utf8)
    let isQuoted = text.count > 1 && text.first == ASCII.quote && text.last == ASCII.quote
    return String(decoding: isQuoted ? text.dropFirst().dropLast() : text[...], as: UTF8.self)
  }

  /// The requests in flight ended without a usable response.
  mutating func interrupted() {
    switch state {
    case .aborting(_, let error): leaveAborted(error, isGone: false)
    case .joining: state = .checking(isLost: false)
    case .digesting(isJoined: false): sendNext()
    case .looking, .comparing, .creating, .listing, .examining, .hashing, .putting, .digesting, .checking, .confirming,
      .failing, .stored:
      break
    }
  }
}

/// Ends a multipart upload on an S3 server: it drops the parts.
struct AbortTask: Sendable {
  private let location: TargetURI
  private var s3: S3Dialog
  private var isDone = false

  init(_ location: TargetURI, region: String) {
    self.location = location
    s3 = S3Dialog(region: region)
  }

  static func request(to location: TargetURI, _ s3: S3Dialog) -> HTTPRequest {
    var request = HTTPRequest(method: "DELETE", target: location)
    s3.sign(&request)
    return request
  }

  func next() -> TaskStep {
    isDone ? .finished(.cancelled(isKept: false)) : .ask(AbortTask.request(to: location, s3))
  }

  mutating func receive(_ answer: Answer) throws(UploadError) {
    if s3.learn(from: answer) { return }
    switch answer.status {
    case 204: isDone = true
    case 404 where answer.isNoSuchUpload: isDone = true
    case 200..<300: throw .unconfirmed(status: answer.status)
    default: throw answer.objectRefusal
    }
  }
}

extension Answer {
  private var code: String? { S3Content.text(of: "Code", in: content) }

  /// Whether the server does not know an upload. Some say that of its key.
  fileprivate var isNoSuchUpload: Bool { status == 404 && (code == "NoSuchUpload" || code == "NoSuchKey") }

  /// Whether a success to HEAD is about no object.
  fileprivate var isOfNoObject: Bool { isSuccess && fields.first("ETag") == nil }

  /// Whether the content of a part was not what was signed.
  fileprivate var isOtherContent: Bool { code == "XAmzContentSHA256Mismatch" || code == "BadDigest" }

  /// Whether the server does not take the list of parts.
  fileprivate var isAboutParts: Bool {
    code == "InvalidPart" || code == "InvalidPartOrder" || code == "EntityTooSmall" || code == "MalformedXML"
  }
}

extension TargetURI {
  /// Whether it is that of a multipart upload on an S3 server.
  var isMultipartUpload: Bool { query.hasPrefix("uploadId=") }

  /// Behind the question mark; empty if there is none.
  fileprivate var query: String {
    String(decoding: Array(requestTarget.utf8.drop { $0 != ASCII.questionMark }.dropFirst()), as: UTF8.self)
  }

  /// The same with another query.
  fileprivate func with(query: String) -> TargetURI {
    let path = withoutQuery
    return TargetURI(
      scheme: scheme, host: host, zone: zone, port: port, requestTarget: path.requestTarget + "?" + query)
  }
}
