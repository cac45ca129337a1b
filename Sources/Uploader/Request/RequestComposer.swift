import CShims
import UploadCore

/// Completes requests for the wire: adds credentials and the other common fields.
struct RequestComposer {
  let configuration: Configuration
  /// The origin that the credentials are for.
  let origin: String
  private(set) var credentials: Credentials
  /// The secrets to redact in text from the server.
  private(set) var secrets: Secrets
  /// The same without the server's cookies, which can change with each response.
  private var lastingSecrets: Secrets
  private var cookies = ""
  /// By how much the clock of an S3 server is ahead, in seconds; nil as long as it has not complained.
  private var clockDifference: Int64?

  init(_ configuration: Configuration, origin: String) {
    self.configuration = configuration
    self.origin = origin
    credentials = configuration.credentials
    var secrets = Secrets(ownHost: (try? TargetURI(origin))?.host ?? "")
    secrets.add(credentials)
    for proxy in [configuration.proxies.http, configuration.proxies.https] {
      if let proxy { secrets.add(proxy) }
    }
    (self.secrets, lastingSecrets) = (secrets, secrets)
  }

  /// The same for an upload, whose URL may be a secret.
  init(_ configuration: Configuration, for request: UploadRequest) {
    self.init(configuration, origin: request.base.origin)
    let uri: TargetURI
    switch request.destination {
    case .put(let target, isSigned: true, _): uri = target
    case .tusUpload(let target, isSecret: true):
      uri = target
      lastingSecrets.add(Array(target.requestTarget.utf8.prefix { $0 != ASCII.questionMark }))
      lastingSecrets.add(Array(target.lastPathSegment.utf8))
    default: return
    }
    for pair in uri.requestTarget.utf8.drop(while: { $0 != ASCII.questionMark }).split(separator: UInt8(ascii: "&")) {
      let value = Array(pair.drop { $0 != UInt8(ascii: "=") }.dropFirst())
      lastingSecrets.add(value)
      if let plain = Percent.decode(value[...]) { lastingSecrets.add(plain) }
    }
    renewSecrets()
  }

  mutating func use(_ credentials: Credentials) {
    self.credentials = credentials
    lastingSecrets.add(credentials)
    renewSecrets()
  }

  /// The response as shown to people and programs.
  func redacted(_ answer: Answer, to request: AnsweredRequest) -> RedactedAnswer {
    RedactedAnswer(answer, to: request, secrets, hasCredentials: !credentials.fields.isEmpty)
  }

  /// - Parameter tell: ``Configuration/diagnostics``.
  func trace(_ tell: ((String) -> Void)?) -> RequestTrace {
    RequestTrace(tell: tell, secrets: secrets, secretFields: credentials.fields)
  }

  mutating func hide(_ secret: String) {
    lastingSecrets.add(Array(secret.utf8))
    renewSecrets()
  }

  /// Hides the server's cookies, which the request returns.
  mutating func hideCookies(of request: HTTPRequest) {
    guard let value = request.fields.first("Cookie"), value != cookies else { return }
    cookies = value
    renewSecrets()
  }

  private mutating func renewSecrets() {
    secrets = lastingSecrets
    secrets.add(cookies: Array(cookies.utf8))
  }

  /// - Returns: the request with all its fields, and its form on the wire.
  mutating func compose(_ request: HTTPRequest) throws(UploadError) -> (HTTPRequest, WireRequest) {
    // Credentials and the caller's own fields never go to another origin (RFC 9110, 15.4).
    let target = request.target.origin
    let isHome = target == origin || !request.isRedirected && configuration.trustedOrigins.contains(target)
    let own = isHome ? configuration.headers : []
    var request = request
    var credentials = isHome ? credentials.fields : []
    // There is one field for all cookies (RFC 6265, 5.4).
    if let given = credentials.firstIndex(where: { $0.hasName("Cookie") }),
      let own = request.fields.firstIndex(where: { $0.hasName("Cookie") })
    {
      let cookies = credentials[given].value + "; " + request.fields.remove(at: own).value
      credentials[given] = Field("Cookie", cookies)
    }
    var fields: [Field] = []
    // The six are added here.
    fields.reserveCapacity(own.count + credentials.count + request.fields.count + 6)
    if !own.contains(where: { $0.field.hasName("User-Agent") }) {
      fields.append(Field("User-Agent", configuration.userAgent))
    }
    // Ceph would write JSON where every other S3 server writes XML.
    fields.append(Field("Accept", request.signing == nil ? "application/json" : "application/xml"))
    // The response to HEAD is to say how long the content is, not how long it would be if it were compressed.
    fields.append(Field("Accept-Encoding", request.method == "HEAD" ? "identity" : ContentCoding.accepted))
    for header in own { fields.append(header.field) }
    fields += credentials
    // A request through an http proxy uses the absolute form, and carries the proxy's credentials. For a tunnel, they were
    // sent with CONNECT.
    let proxy = request.target.scheme == .http ? configuration.proxies.proxy(for: request.target) : nil
    if let authorization = proxy?.authorization { fields.append(Field("Proxy-Authorization", authorization)) }
    fields += request.fields
    let body = request.body ?? RequestBody()
    if request.body != nil { fields.append(Field("Content-Length", String(body.length))) }
    if request.mayExpectContinue { fields.append(Field("Expect", "100-continue")) }
    request.fields = fields
    if let signing = request.signing {
      guard isHome, let keys = self.credentials.s3Keys else { throw .requestHead(.noKeys) }
      request.fields += try sign(request, signing, by: keys)
    }
    do throws(RequestHeadError) {
      let exchange = Exchange(
        method: request.method, expectsContinue: request.mayExpectContinue, replyLength: request.replyLength)
      let head = try request.encodedHead(proxy == nil ? .origin : .absolute)
      return (
        request, WireRequest(head: head, body: body, exchange: exchange, announcesLastByte: request.announcesLastByte)
      )
    } catch { throw .requestHead(error) }
  }

  /// - Returns: the fields that sign it.
  private mutating func sign(
    _ request: HTTPRequest, _ signing: S3Signing, by keys: S3Keys
  ) throws(UploadError) -> [Field] {
    let now = shim_unix_seconds()
    if clockDifference == nil, let theirs = signing.serverTime { clockDifference = theirs - now }
    return try S3Signature.fields(
      for: request, signing, by: keys, unixSeconds: now + (clockDifference ?? 0),
      with: S3Signature.Hashes(sha256: Digest.sha256, hmac: Digest.hmac))
  }
}

/// What ``Configuration/diagnostics`` gets of requests (`>`) and responses (`<`), with secrets redacted.
struct RequestTrace {
  let tell: ((String) -> Void)?
  /// The secrets to redact in fields from the server.
  let secrets: Secrets
  /// Fields of requests whose values are secret, whatever their names.
  let secretFields: [Field]

  func show(_ request: HTTPRequest) {
    guard let tell else { return }
    tell("> " + request.method + " " + secrets.line(ofURI: request.target.text))
    for field in request.fields {
      let isSecret = secretFields.first(field.name) != nil
      tell("> " + (isSecret ? field.name + ": (secret)" : visible(field)))
    }
  }

  func show(_ head: ResponseHead) {
    guard let tell else { return }
    tell("< HTTP/1." + String(head.minorVersion) + " " + String(head.status))
    for field in head.fields { tell("< " + visible(field)) }
  }

  /// The start of a response's decoded content, on one line.
  func show(_ content: [UInt8]) {
    guard let tell, !content.isEmpty else { return }
    let (text, isTruncated) = RedactedAnswer.text(content, secrets)
    tell("< " + PrintableText.line(text, limit: Limits.answerBodyLength) + (isTruncated ? "…" : ""))
  }

  private func visible(_ field: Field) -> String {
    if Credentials.isSecret(fieldName: field.name) { return field.name + ": (secret)" }
    let value = field.hasName("Location") ? secrets.line(ofURI: field.value) : secrets.line(field.value)
    return secrets.line(field.name) + ": " + SecretMembers.redacted(value)
  }
}
