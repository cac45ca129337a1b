/// The parts of an object as S3 servers take them (multipart upload). The object's metadata has the upload's token, so that the object itself
/// says whose it is.
struct S3Parts: Sendable {
  let object: TargetURI
  private let mediaType: String
  var dialog: S3Dialog
  /// Whether the server has not said that the user may not list parts.
  var mayList = true

  init(_ object: S3Object, mediaType: String) { self.init(object.url, S3Dialog(object), mediaType: mediaType) }

  init(_ object: TargetURI, _ dialog: S3Dialog, mediaType: String) {
    (self.object, self.dialog, self.mediaType) = (object, dialog, mediaType)
  }

  private static let tokenField = "x-amz-meta-gighive-upload"

  // MARK: Requests

  func creation(token: String) -> HTTPRequest {
    let fields = [Field("Content-Type", mediaType), Field(S3Parts.tokenField, token)]
    var post = HTTPRequest(method: "POST", target: object.with(query: "uploads="), fields: fields, body: RequestBody())
    dialog.sign(&post)
    return post
  }

  func list(of upload: TargetURI, after number: Int) -> HTTPRequest {
    let marker = number == 0 ? "" : "&part-number-marker=" + String(number)
    let query = "&max-parts=" + String(Limits.partListCount) + marker
    var get = HTTPRequest(method: "GET", target: upload.with(query: upload.query + query))
    dialog.sign(&get)
    return get
  }

  /// - Parameter sha256: in lower-case hexadecimal digits. It is signed.
  func part(_ number: Int, of upload: TargetURI, content: RequestBody, sha256: String) -> HTTPRequest {
    let target = upload.with(query: upload.query + "&partNumber=" + String(number))
    var put = HTTPRequest(method: "PUT", target: target, body: content)
    dialog.sign(&put, contentSHA256: sha256)
    return put
  }

  func join(_ parts: UploadedParts, of upload: TargetURI) -> HTTPRequest {
    var xml = Array("<CompleteMultipartUpload xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">".utf8)
    for (index, tag) in parts.tags.enumerated() {
      for text in ["<Part><PartNumber>", String(index + 1), "</PartNumber><ETag>\"", tag, "\"</ETag></Part>"] {
        xml.append(contentsOf: text.utf8)
      }
    }
    xml.append(contentsOf: "</CompleteMultipartUpload>".utf8)
    var join = HTTPRequest(
      method: "POST", target: upload, fields: dialog.condition + [Field("Content-Type", "application/xml")],
      body: RequestBody(header: xml))
    dialog.sign(&join)
    return join
  }

  // MARK: Responses

  func found(_ answer: Answer, token: String, size: Int64) throws(UploadError) -> PartsDialect.Found {
    // Every S3 server says more of an object. Another one has answered, such as a portal.
    if answer.isSuccess, answer.fields.first("ETag") == nil { throw .notFromServer(status: answer.status) }
    switch answer.status {
    case 200: break
    case 404: return .nothing
    // A 400 has its reason in the content, such as an expired token or another region, which no response to HEAD has. The next
    // request is answered with it.
    case 400, 403, 405, 501: return .hidden
    default: throw answer.objectRefusal
    }
    let length = answer.fields.contentLength
    let sha256 = answer.fields.objectSHA256 ?? answer.fields.first("x-amz-meta-sha256").map { ASCII.lowercased($0) }
    // A server that keeps no metadata has no token.
    guard let theirs = answer.fields.first(S3Parts.tokenField) else {
      return .object(size: length, sha256: sha256, .unknown)
    }
    let isOwn = S3Parts.process(theirs).elementsEqual(S3Parts.process(token)) && length == size
    return .object(size: length, sha256: sha256, isOwn ? .thisUpload : .somebodyElse)
  }

  /// What the tokens of one process have in common. A join that nobody heard of may be carried out while the recording is sent again.
  private static func process(_ token: String) -> Substring.UTF8View { token.utf8.prefix { $0 != ASCII.hyphen } }

  func created(_ answer: Answer) throws(UploadError) -> TargetURI {
    guard answer.isSuccess else { throw answer.objectRefusal }
    if let error = answer.errorInContent { throw error.objectRefusal }
    // Its root has another name on rclone's server.
    guard answer.status == 200, let id = S3Content.text(of: "UploadId", in: answer.content),
      (1...Limits.partsIDLength).contains(id.utf8.count)
    else { throw .notFromServer(status: answer.status) }
    return object.with(query: "uploadId=" + Percent.encode(segment: id.utf8))
  }

  func listed(_ answer: Answer) throws(UploadError) -> PartsDialect.Listed {
    switch answer.status {
    case 200: break
    case 404 where answer.isNoSuchUpload: return .gone
    case 403, 405, 501:
      switch answer.partsRefusal {
      case .refused: return .hidden
      case let error: throw error
      }
    default: throw answer.partsRefusal
    }
    // It lists more than it was asked for, which is too long to be read.
    guard !answer.content.isEmpty else { return .hidden }
    guard let page = S3PartList(answer.content) else { throw .notFromServer(status: answer.status) }
    return .parts(page.parts, next: page.next)
  }

  func taken(_ answer: Answer) throws(UploadError) -> PartsDialect.Taken {
    switch answer.status {
    case 200:
      // Every S3 server says it. Another one may have answered, such as a portal.
      guard let tag = answer.fields.first("ETag").map({ S3Parts.tag($0) }), UploadedParts.isTag(tag) else {
        throw .notFromServer(status: answer.status)
      }
      return .taken(tag: tag)
    case 404 where answer.isNoSuchUpload: return .gone
    case 400 where answer.isOtherContent: return .damaged
    case 200..<300: throw .notFromServer(status: answer.status)
    default: throw answer.partsRefusal
    }
  }

  mutating func joined(_ answer: Answer) throws(UploadError) -> PartsDialect.Joined {
    switch answer.status {
    case 200:
      // The head was sent before the server knew.
      if let error = answer.errorInContent { return try joined(error) }
      guard S3Content.root(of: answer.content) == "CompleteMultipartUploadResult" else {
        throw .notFromServer(status: 200)
      }
      return .joined(sha256: nil)
    case 404 where answer.isNoSuchUpload: return .gone
    case 412: return .exists
    case 409: return .conflict(answer.objectRefusal)
    case 501 where dialog.preventsReplacing:
      dialog.forgetCondition()
      return .conditionUnknown
    case 400: return .partsRefused(answer.objectRefusal, isCertain: answer.isAboutParts)
    case 200..<300: throw .notFromServer(status: answer.status)
    default: throw answer.partsRefusal
    }
  }

  /// Without quotes, as servers compare it. A proxy that compresses makes it weak (RFC 9110, 8.8.1).
  static func tag(_ text: String) -> String {
    let text = text.utf8.dropFirst(text.hasPrefix("W/\"") ? 2 : 0)
    let isQuoted = text.count > 1 && text.first == ASCII.quote && text.last == ASCII.quote
    return String(decoding: isQuoted ? text.dropFirst().dropLast() : text, as: UTF8.self)
  }
}

/// Ends a multipart upload on an S3 server: it drops the parts.
final class AbortTask: UploadTask {
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

  /// Whether the server has dropped the parts, or does not know the upload.
  static func hasEnded(_ answer: Answer) -> Bool { answer.status == 204 || answer.isNoSuchUpload }

  override func next() -> TaskStep {
    isDone ? .finished(.cancelled(isKept: false)) : .ask(AbortTask.request(to: location, s3))
  }

  override func receive(_ answer: Answer) throws(UploadError) {
    if s3.learn(from: answer) { return }
    if AbortTask.hasEnded(answer) {
      isDone = true
      return
    }
    switch answer.status {
    case 200..<300: throw .unconfirmed(status: answer.status)
    default: throw answer.objectRefusal
    }
  }
}

extension Answer {
  private var code: String? { S3Content.text(of: "Code", in: content) }

  /// Why a request about an upload is refused. The server has shown that it knows the upload, so that a page without its content is somebody
  /// else's, such as that of a proxy whose server restarts.
  fileprivate var partsRefusal: UploadError {
    code == nil && [404, 405, 410].contains(status) ? .notFromServer(status: status) : objectRefusal
  }

  /// The error in the content of a success.
  fileprivate var errorInContent: Answer? {
    guard S3Content.root(of: content) == "Error" else { return nil }
    return Answer(status: statusOfError, fields: fields, content: content)
  }

  /// Whether the server does not know an upload. Some say that of its key.
  fileprivate var isNoSuchUpload: Bool { status == 404 && (code == "NoSuchUpload" || code == "NoSuchKey") }

  private var statusOfError: Int {
    switch code {
    case "NoSuchUpload": 404
    case "PreconditionFailed": 412
    case "ConditionalRequestConflict": 409
    default: isAboutParts ? 400 : 500
    }
  }

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

extension Limits {
  /// How many parts an S3 server lists at a time: a response has at most ``replyLength`` bytes.
  static let partListCount = 100
}
