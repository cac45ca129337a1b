import UploadCore

/// Writes requests for the wire: what the protocol decided, and who asks.
struct RequestComposer {
  let configuration: Configuration
  /// Who the credentials are for.
  let origin: String
  private(set) var credentials: Credentials
  /// What no server's words may repeat.
  private(set) var secrets: Secrets

  init(_ configuration: Configuration, origin: String) {
    self.configuration = configuration
    self.origin = origin
    credentials = configuration.credentials
    secrets = Secrets(ownHost: (try? TargetURI(origin))?.host ?? "")
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

  func compose(_ request: HTTPRequest) throws(UploadError) -> (head: RequestHead, outgoing: WireRequest) {
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
    if request.mayExpectContinue { fields.append(Field("Expect", "100-continue")) }
    let head = RequestHead(method: request.method, target: request.target, fields: fields)
    do throws(RequestHeadError) {
      let exchange = Exchange(method: request.method, expectsContinue: request.mayExpectContinue)
      return (
        head,
        WireRequest(head: try head.encoded(proxy == nil ? .origin : .absolute), body: body, exchange: exchange)
      )
    } catch { throw .requestHead(error) }
  }
}
