import UploadCore

/// Writes requests for the wire: what the dialogue decided, and who asks.
struct RequestComposer {
  let configuration: Configuration
  /// Whom the credentials are for.
  let origin: String
  private(set) var credentials: Credentials
  /// What no server's words may repeat.
  private(set) var secrets = Secrets()
  /// Has no server refused the expectation yet (417)?
  var mayExpectContinue = true

  init(_ configuration: Configuration, origin: String) {
    self.configuration = configuration
    self.origin = origin
    credentials = configuration.credentials
    secrets.add(credentials)
    for proxy in [configuration.proxies.http, configuration.proxies.https] {
      if let proxy { secrets.add(proxy) }
    }
  }

  /// Others than before.
  mutating func use(_ credentials: Credentials) {
    self.credentials = credentials
    secrets.add(credentials)
  }

  mutating func hide(_ secret: String) { secrets.add(Array(secret.utf8)) }

  func compose(_ request: Request) throws(UploadError) -> (head: RequestHead, outgoing: OutgoingRequest) {
    var fields = [
      Field("User-Agent", configuration.userAgent), Field("Accept", "application/json"),
      Field("Accept-Encoding", ContentCoding.accepted),
    ]
    // Credentials never go to another origin (RFC 9110, 15.4).
    if request.target.origin == origin { fields += credentials.fields }
    // What a proxy passes on is written out in full, and the proxy's own credentials are for it alone; those for a tunnel
    // went into CONNECT.
    let proxy = request.target.scheme == .http ? configuration.proxies.proxy(for: request.target) : nil
    if let authorization = proxy?.authorization { fields.append(Field("Proxy-Authorization", authorization)) }
    fields += request.fields
    let body = request.body ?? RequestBody()
    if request.body != nil { fields.append(Field("Content-Length", String(body.length))) }
    let expects = mayExpectContinue && request.mayExpectContinue && body.length >= Limits.expectContinueFrom
    if expects { fields.append(Field("Expect", "100-continue")) }
    let head = RequestHead(method: request.method, target: request.target, fields: fields)
    do throws(RequestHeadError) {
      let exchange = Exchange(method: request.method, expectsContinue: expects)
      return (
        head,
        OutgoingRequest(head: try head.encoded(proxy == nil ? .origin : .absolute), body: body, exchange: exchange)
      )
    } catch { throw .requestHead(error) }
  }
}

/// Wire diagnostics, without secrets.
struct Diagnostics {
  let tell: ((String) -> Void)?
  /// What no server's field may repeat.
  let secrets: Secrets

  func show(_ head: RequestHead) {
    guard let tell else { return }
    tell("> " + head.method + " " + PrintableText.withoutQuery(head.target.text))
    for field in head.fields { tell("> " + visible(field)) }
  }

  func show(_ response: Response) {
    guard let tell else { return }
    tell("< " + String(response.status))
    for field in response.head.fields { tell("< " + visible(field)) }
  }

  private func visible(_ field: Field) -> String {
    if Credentials.isSecret(fieldName: field.name) { return field.name + ": (secret)" }
    let isAddress = field.hasName("Location")
    let value = isAddress ? PrintableText.withoutQuery(field.value) : field.value
    return field.name + ": " + PrintableText.line(secrets.blanked(value))
  }
}
