/// The software that seems to have written a response: the server's own, or some in front of it. It is a guess, for messages and for
/// doubting a success; what an upload believes is a ``Verdict``.
public enum LikelySoftware: String, Equatable, Sendable, CaseIterable {
  case apache
  /// An AWS load balancer.
  case awsELB = "aws-elb"
  case caddy
  case cloudflare
  /// The login of Cloudflare Access.
  case cloudflareAccess = "cloudflare-access"
  /// A page of Cloudflare's that only a browser can pass.
  case cloudflareChallenge = "cloudflare-challenge"
  case gigHive = "gighive"
  case haproxy
  /// Microsoft's web server.
  case iis
  case lighttpd
  case liteSpeed = "litespeed"
  /// A page that asks for a login: a captive portal, or a gateway with single sign-on.
  case loginPage = "login-page"
  case modSecurity = "modsecurity"
  case nginx
  /// A limit of PHP's.
  case php
  /// A PHP program that failed.
  case phpError = "php-error"
  case s3
  case squid
  /// A tus server, such as tusd.
  case tus
  case unknown
  case varnish

  /// Whether it answers in the server's place until somebody logs in.
  package var isLogin: Bool { self == .loginPage || self == .cloudflareAccess }

  /// For people: "nginx". Nil for ``unknown``.
  package var name: String? {
    switch self {
    case .apache: "Apache"
    case .awsELB: "the AWS load balancer"
    case .caddy: "Caddy"
    case .cloudflare, .cloudflareChallenge: "Cloudflare"
    case .cloudflareAccess: "Cloudflare Access"
    case .gigHive: "GigHive"
    case .haproxy: "HAProxy"
    case .iis: "IIS"
    case .lighttpd: "lighttpd"
    case .liteSpeed: "LiteSpeed"
    case .loginPage: "a login page"
    case .modSecurity: "ModSecurity"
    case .nginx: "nginx"
    case .php, .phpError: "PHP"
    case .s3: "S3"
    case .squid: "the proxy squid"
    case .tus: "the tus server"
    case .unknown: nil
    case .varnish: "Varnish"
    }
  }
}

extension LikelySoftware {
  /// The software that wrote a response. Its content counts first: a proxy passes on the pages of the programs behind it, and adds its own
  /// header fields to them.
  package init(of answer: Answer) {
    let page = Page(answer)
    // The text of a program names the settings by which PHP's messages are known.
    if LikelySoftware.isPHPSource(answer) {
      self = LikelySoftware.byFields(answer) ?? .unknown
      return
    }
    self =
      LikelySoftware.byProgram(answer, page) ?? LikelySoftware.byChallenge(answer, page)
      ?? LikelySoftware.byPage(page)
      ?? LikelySoftware.byLogin(answer, page) ?? LikelySoftware.byFields(answer) ?? .unknown
  }

  /// Whether the content is a PHP program itself, which the server should have run.
  static func isPHPSource(_ answer: Answer) -> Bool { answer.content.starts(with: "<?php".utf8) }

  /// The error if the server has stored nothing, although the status is a success: PHP drops a form that is too long and runs the
  /// program without it, or does not run it at all.
  static func problemOfPHP(_ answer: Answer) -> UploadError? {
    let page = Page(answer)
    let isTooLarge = page.has("post content-length of") && page.has("exceeds the limit")
    guard answer.isSuccess, isTooLarge || isPHPSource(answer) else { return nil }
    return .formDropped(
      status: answer.status, message: ServerMessage.text(of: answer.content), isTooLarge ? .tooLarge : .notRun)
  }

  /// Whether a response is a page for people.
  static func isPage(_ answer: Answer) -> Bool {
    if Page(answer).isHTML { return true }
    // Programs in PHP send text and JSON under this name, too. A page without its outer tags is one for a browser.
    return isNamedHTML(answer) && !answer.content.isEmpty && (try? JSONReader.read(answer.content)) == nil
  }

  private static func isNamedHTML(_ answer: Answer) -> Bool {
    answer.fields.listMembers(of: "Content-Type") == ["text/html"]
  }

  /// Whether a response may be what a portal has for browsers and other programs, also without a word in it. Only S3 servers answer a form
  /// in XML.
  static func mayBeStrangers(_ answer: Answer) -> Bool {
    let isMarkup = answer.content.first { $0 > ASCII.space } == UInt8(ascii: "<")
    return isPage(answer) || isNamedHTML(answer) && answer.content.isEmpty
      || isMarkup && S3Content.root(of: answer.content) != "PostResponse"
  }

  /// Whether a response asks for a login: 511 (RFC 6585, 6), or a page with a field for a password.
  static func asksForPassword(_ answer: Answer) -> Bool {
    answer.status == 511 || isPage(answer) && Page(answer).hasPasswordField
  }

  /// Whether the page of a success says that nothing may be stored: it asks for a login, or shows that a program in PHP has failed.
  static func isFailure(_ answer: Answer) -> Bool { asksForPassword(answer) || Page(answer).hasPHPFailure }

  /// Whether it is a captive portal's, so that nothing has reached the server: it asks for a login. A 401 asks for the credentials of the
  /// request (RFC 9110, 15.5.2).
  /// - Parameter isProved: whether its certificate shows that the server itself answers (``UploadPlan/provesServer``).
  static func isPortals(_ answer: Answer, unless isProved: Bool) -> Bool {
    !isProved && answer.status != 401 && asksForPassword(answer)
  }

  /// Whether a page for a login stands where GigHive has JSON.
  static func isLoginInstead(_ answer: Answer) -> Bool { answer.isSuccess && asksForPassword(answer) }

  /// The start of the content, in lower case.
  private struct Page {
    private let bytes: [UInt8]
    let isHTML: Bool

    init(_ answer: Answer) {
      bytes = answer.content.prefix(Limits.examinedPageLength).map { ASCII.lowercased($0) }
      isHTML = ASCII.contains(bytes, "<html") || ASCII.contains(bytes, "<!doctype html")
    }

    func has(_ texts: String...) -> Bool { texts.contains { ASCII.contains(bytes, $0) } }
    var hasPasswordField: Bool { has("type=\"password\"", "type='password'", "type=password") }
    var hasPHPError: Bool { PHPError.start(in: bytes) != nil }
    /// After a warning, the program goes on. That of a function that stores files counts.
    var hasPHPFailure: Bool {
      hasPHPError || has("warning</b>:") && has("move_uploaded_file(", "file_put_contents(", "failed to open stream")
    }
    func starts(with text: String) -> Bool { bytes.starts(with: text.utf8) }
  }

  // MARK: Programs

  /// The programs that upload servers consist of.
  private static func byProgram(_ answer: Answer, _ page: Page) -> LikelySoftware? {
    // tusd's message, also where a proxy has dropped the field.
    if answer.fields.first("Tus-Resumable") != nil || page.starts(with: "err_") { return .tus }
    if page.has(
      "post_max_size", "upload_max_filesize", "post content-length of", "maximum number of allowable file uploads")
    {
      return .php
    }
    if page.hasPHPError { return .phpError }
    if page.has("<error><code>", "<error>\n<code>") || answer.fields.first("x-amz-request-id") != nil { return .s3 }
    guard let json = try? JSONReader.read(answer.content) else { return nil }
    return isGigHives(json, status: answer.status) ? .gigHive : nil
  }

  /// GigHive's error messages, its confirmation and its response to a deletion (`Verdict`).
  static func isGigHives(_ json: JSONValue, status: Int) -> Bool {
    if json["checksum_sha256"]?.string != nil || json["error_count"] != nil { return true }
    guard json["error"]?.string != nil, let message = json["message"]?.string else { return false }
    // Spring, Fastify and NestJS add one of these.
    if ["statusCode", "status", "timestamp", "path"].contains(where: { json[$0] != nil }) { return false }
    // Many programs say so of an address that they do not have.
    guard status == 404 else { return true }
    let words = Array(ASCII.lowercased(message).utf8)
    return json["success"] != nil
      || ["invalid or expired", "no such upload", "upload not found"].contains { ASCII.contains(words, $0) }
  }

  private static func byChallenge(_ answer: Answer, _ page: Page) -> LikelySoftware? {
    let isChallenge =
      answer.fields.first("cf-mitigated") != nil
      || page.has("cf_chl", "challenge-platform", "<title>just a moment", "cf-browser-verification")
    return isChallenge ? .cloudflareChallenge : nil
  }

  // MARK: Pages

  /// The pages that proxies and servers write themselves.
  private static func byPage(_ page: Page) -> LikelySoftware? {
    if page.has("mod_security", "modsecurity") { return .modSecurity }
    if page.has("<center>cloudflare", "cf-error-details", "| cloudflare</title>") || page.starts(with: "error code: ") {
      return .cloudflare
    }
    if page.has("<center>nginx", "<center>openresty") { return .nginx }
    if page.has("-//ietf//dtd html 2.0//en", "<address>apache", "due to maintenance downtime or capacity") {
      return .apache
    }
    if page.has("guru meditation", "varnish cache server") { return .varnish }
    if page.has("(squid", "squid-error", "errpagesubtitle") { return .squid }
    if page.has("the request entity exceeds the maximum allowed", "request forbidden by administrative rules")
      || page.has("no server is available to handle this request", "returned an invalid or incomplete response")
      || page.has("the server didn't respond in time", "didn't send a complete request in time")
    {
      return .haproxy
    }
    return nil
  }

  /// A response that asks for a login, or leads to one (RFC 6585, 6).
  private static func byLogin(_ answer: Answer, _ page: Page) -> LikelySoftware? {
    if answer.status == 511 { return .loginPage }
    if let location = answer.fields.first("Location"), (300..<400).contains(answer.status) {
      let location = Array(ASCII.lowercased(location).utf8)
      if ASCII.contains(location, ".cloudflareaccess.com/") { return .cloudflareAccess }
      return loginWords.contains { ASCII.contains(location, $0) } ? .loginPage : nil
    }
    guard page.isHTML else { return nil }
    // A portal answers any request with its page, or with one that leads there. A server's own error page is a 4xx or 5xx.
    let leadsAway =
      answer.isSuccess
      && page.has(
        "<form", "http-equiv=\"refresh\"", "http-equiv='refresh'", "location.href", "window.location",
        "document.location")
    return page.hasPasswordField || leadsAway ? .loginPage : nil
  }

  /// Those of hotspots, gateways and single sign-on, among them openNDS, UniFi and FortiGate.
  private static let loginWords = [
    "login", "logon", "signin", "sign-in", "portal", "hotspot", "auth/", "/auth", "auth?", "wispr", "captive", "splash",
    "/guest/", "opennds", "redirurl",
  ]

  // MARK: Fields

  private static func byFields(_ answer: Answer) -> LikelySoftware? {
    if answer.fields.first("X-Squid-Error") != nil { return .squid }
    let servers = answer.fields.values(of: "Server") + answer.fields.values(of: "Via")
    for server in servers {
      let server = Array(ASCII.lowercased(server).utf8)
      for (word, software) in serverWords where ASCII.contains(server, word) { return software }
    }
    return isCloudflares(answer) ? .cloudflare : nil
  }

  /// Cloudflare marks every response that passes through it, whoever wrote it. Its own have its statuses, or no page.
  private static func isCloudflares(_ answer: Answer) -> Bool {
    let isMarked =
      answer.fields.first("cf-ray") != nil
      || answer.fields.values(of: "Server").contains { ASCII.equalsIgnoringCase($0.utf8, "cloudflare".utf8) }
    let isOwn = answer.content.isEmpty || answer.status == 413 || (520...530).contains(answer.status)
    return isMarked && isOwn
  }

  private static let serverWords: [(String, LikelySoftware)] = [
    ("awselb", .awsELB), ("amazons3", .s3), ("caddy", .caddy), ("haproxy", .haproxy),
    ("varnish", .varnish), ("squid", .squid), ("openresty", .nginx), ("nginx", .nginx), ("apache", .apache),
    ("litespeed", .liteSpeed), ("lighttpd", .lighttpd), ("microsoft-iis", .iis),
  ]
}

/// What a failure says in words that name its cause, whichever program wrote it.
extension LikelySoftware {
  /// What to do about it; nil if it has no such words.
  static func remedyOfWords(_ answer: Answer) -> String? {
    guard answer.status == 400 || answer.status >= 500 else { return nil }
    let page = Page(answer)
    return telling.first { page.has($0.words) }?.remedy
  }

  private static let telling: [(words: String, remedy: String)] = [
    ("no space left on device", "The server's disk is full: free space there."),
    ("disk quota exceeded", "The quota for the server's disk is used up: free space there, or raise it."),
    ("read-only file system", "The server's disk is read-only, as after an error: check it there (dmesg, fsck)."),
    (": permission denied", "The server's program may not write there: correct the owner of its directory."),
    ("plain http request was sent to https port", usesTLS), ("plain http to an ssl-enabled server port", usesTLS),
    ("http request to an https server", usesTLS),
    ("no available server", "Traefik has nothing to pass requests on to." + programBehind),
  ]

  private static let usesTLS = "That port takes only https: the server's address must begin with https://."
}

extension LikelySoftware {
  /// What to do about a response of this program, as sentences that name its setting; nil if its status says enough or the
  /// program is not known.
  /// - Parameters:
  ///   - status: 200 to 599.
  ///   - request: what it answers.
  ///   - hasCredentials: whether the request had some. GigHive takes no form without.
  package func remedy(
    status: Int, to request: AnsweredRequest = .gigHiveForm, hasCredentials: Bool = true
  ) -> String? {
    switch self {
    case .apache where request == .gigHiveForm && !hasCredentials && status == 413:
      LikelySoftware.limitOfApache(withoutCredentials: status)
    case .apache: LikelySoftware.ofApache(status)
    case .awsELB: LikelySoftware.ofAWSELB(status)
    case .caddy: LikelySoftware.ofCaddy(status)
    case .cloudflare: LikelySoftware.ofCloudflare(status, mayUseTus: request != .otherForm)
    case .cloudflareAccess:
      "It admits only people who have logged in. A program needs a service token: create one in Cloudflare's dashboard, allow it"
        + " with a policy (Service Auth), and send its two header fields, CF-Access-Client-Id and CF-Access-Client-Secret."
    case .cloudflareChallenge:
      "It accepts only browsers here. In its dashboard, let the upload's paths skip challenges and Bot Fight Mode (a"
        + " custom rule with the action Skip)."
    case .haproxy: LikelySoftware.ofHAProxy(status)
    case .iis:
      status == 413 ? "Raise maxAllowedContentLength (requestFiltering in web.config; 30 MB unless it is set)." : nil
    case .lighttpd: status == 413 ? "Raise server.max-request-size in lighttpd.conf (in kB)." : nil
    case .liteSpeed: status == 413 ? "Raise Max Request Body Size (Server, Tuning; maxReqBodySize)." : nil
    case .loginPage:
      "This network, or a gateway in front of the server, requires a login. Open any page in a browser on this network"
        + " and log in, or use another network."
    case .modSecurity: LikelySoftware.ofModSecurity(status)
    case .nginx: LikelySoftware.ofNginx(status)
    case .php:
      // Also with other statuses: all messages by which it is known are about its limits.
      "Raise upload_max_filesize and post_max_size in the server's php.ini (2M and 8M unless they are set)"
        + (request == .otherForm ? "." : ", or send it over tus.")
    case .phpError: "A program on the server has failed. PHP's error log there says more."
    case .s3: LikelySoftware.ofS3(status, isForm: request == .otherForm)
    case .squid: LikelySoftware.ofSquid(status)
    case .tus: status == 413 ? "Raise its largest upload, Tus-Max-Size (tusd: -max-size)." : nil
    case .varnish: LikelySoftware.ofVarnish(status)
    case .unknown where status == 502 || status == 504:
      "Something in front of the server got no answer, or none in time, from the program behind it."
        + LikelySoftware.programBehind
    case .gigHive, .unknown: nil
    }
  }

  private static let programBehind = " Check that the program behind it runs, and read its log."

  /// Which of Apache's two limits of the length of a request refuses a length. Their pages are the same, but ModSecurity refuses it
  /// before Apache asks for credentials, LimitRequestBody afterwards.
  /// - Parameter status: of the response to this length without credentials, where the server demands some.
  /// - Returns: nil if that shows neither.
  static func limitOfApache(withoutCredentials status: Int) -> String? {
    switch status {
    case 413: ofSecRequestBodyLimit
    case 401: "Raise LimitRequestBody of Apache (1 GiB by default)."
    default: nil
    }
  }

  private static let ofSecRequestBodyLimit =
    "Raise SecRequestBodyLimit and SecRequestBodyNoFilesLimit of ModSecurity (128 MiB and 128 KiB by default)."

  private static func ofApache(_ status: Int) -> String? {
    switch status {
    case 403:
      "Its error log says why: a rule of ModSecurity (with its id), or Require in Apache's configuration."
    case 405: "It does not pass this request on: check the server's address, and ProxyPass on the server."
    case 413:
      "Raise SecRequestBodyLimit and SecRequestBodyNoFilesLimit of its ModSecurity (128 MiB and 128 KiB by default), or"
        + " LimitRequestBody (1 GiB by default)."
    case 500:
      "Its error log says why. ModSecurity with SecRuleEngine DetectionOnly causes this above SecRequestBodyLimit."
    case 502, 503:
      "It got no answer from the program behind it." + programBehind
        + " With ModSecurity (SecRuleEngine DetectionOnly), a request longer than SecRequestBodyLimit has the same"
        + " effect."
    case 504: "The program behind it took too long: raise ProxyTimeout."
    default: nil
    }
  }

  private static func ofNginx(_ status: Int) -> String? {
    switch status {
    case 403: "Its error.log says why: deny, a missing index, or permissions."
    case 405: "It serves files here and takes no uploads: check the server's address, and proxy_pass on the server."
    case 413:
      "Raise client_max_body_size in its configuration (1 MB unless it is set)."
    case 500: "Its error.log says why. The disk for request bodies may be full (client_body_temp_path)."
    case 502: "It got no usable answer from the program behind it (proxy_pass)." + programBehind
    case 503: "It limits requests (limit_req, limit_conn), or the program behind it is down."
    case 504: "The program behind it took too long: raise proxy_read_timeout (60 s unless it is set)."
    default: nil
    }
  }

  /// Where to look for the limit if nothing says which program has refused a form.
  package static let limitsOfForms =
    "Forms are limited by client_max_body_size (nginx), LimitRequestBody (Apache), SecRequestBodyLimit (ModSecurity), and"
    + " post_max_size and upload_max_filesize (PHP)."

  /// The same for an upload over tus.
  package static let limitOfTus = "The largest upload of a tus server is its Tus-Max-Size (tusd: -max-size)."

  private static func ofCloudflare(_ status: Int, mayUseTus: Bool) -> String? {
    switch status {
    case 403, 406:
      "A rule of its firewall blocked the request. Security Events in its dashboard name the rule; let uploads skip it."
    case 413:
      "It accepts at most 100 MB in one request (200 MB on Business, 500 MB on Enterprise), and no setting of the"
        + " server changes that. Send it " + (mayUseTus ? "over tus in shorter requests, or " : "")
        + "to a host name that is DNS only."
    case 429: "It limits the rate of requests. Let uploads skip that rule."
    case 502, 504: "It got no usable answer from the server behind it. Check that the server runs."
    case 520: "The server behind it gave an empty or invalid answer. Read the server's log."
    case 521:
      "The server behind it refuses its connections. Check that it runs, and that its firewall allows Cloudflare."
    case 522, 523: "It cannot reach the server behind it. Check the server's network, firewall and address in its DNS."
    case 524:
      "The server behind it was silent for too long (120 s). Send it " + (mayUseTus ? "over tus, or " : "")
        + "to a host name that is DNS only."
    case 525, 526: "The TLS of the server behind it is broken or its certificate invalid. Renew that certificate."
    case 530: "It cannot find the server behind it. Check its DNS entry, or that the tunnel (cloudflared) runs."
    default: nil
    }
  }

  private static func ofModSecurity(_ status: Int) -> String? {
    switch status {
    case 413: ofSecRequestBodyLimit
    case 400..<600:
      "One of its rules refused the request. Its audit log has the id; exempt uploads with"
        + " SecRuleRemoveById."
    default: nil
    }
  }

  private static func ofCaddy(_ status: Int) -> String? {
    switch status {
    case 413: "Raise max_size of request_body in its Caddyfile."
    case 502, 503, 504: "It got no usable answer from the program behind it (reverse_proxy)." + programBehind
    default: nil
    }
  }

  private static func ofHAProxy(_ status: Int) -> String? {
    switch status {
    case 403: "One of its rules refused the request (http-request deny)."
    case 408: "The request came too slowly: raise timeout http-request and timeout client."
    case 413: "Its rule on the length of requests refused it (req.body_size or content-length in http-request deny)."
    case 502: "It got no usable answer from the program behind it." + programBehind
    case 503: "No server behind it is available." + programBehind
    case 504: "The program behind it took too long: raise timeout server."
    default: nil
    }
  }

  private static func ofAWSELB(_ status: Int) -> String? {
    switch status {
    case 403: "A rule of AWS WAF blocked the request."
    case 413: "The target behind it does not accept requests of this length (Lambda: 1 MB)."
    case 502, 503: "It got no usable answer from the target behind it. Check the health of its targets."
    case 504: "The target took too long: raise its idle timeout (60 s unless it is set)."
    default: nil
    }
  }

  private static func ofS3(_ status: Int, isForm: Bool) -> String? {
    switch status {
    case 400 where isForm, 413 where isForm:
      "The form's policy limits the length (content-length-range), and one request can have 5 GB at most."
    case 403 where isForm: "The form's policy or signature does not allow this upload, or has expired."
    case 403:
      "The policy of the keys must allow it (s3:PutObject; s3:AbortMultipartUpload to cancel it); a signed URL may have expired."
    case 413: "One request can have 5 GB at most."
    default: nil
    }
  }

  private static func ofSquid(_ status: Int) -> String? {
    switch status {
    case 403: "Its access rules (http_access) forbid this. Exclude the server from the proxy, or ask its administrator."
    case 413: "Raise request_body_max_size in squid.conf, or exclude the server from the proxy."
    case 502, 503, 504: "It cannot reach the server. Exclude the server from the proxy if it is in the local network."
    default: nil
    }
  }

  private static func ofVarnish(_ status: Int) -> String? {
    switch status {
    case 413: "Its VCL limits the length of requests. Let uploads bypass it (pipe)."
    case 500..<600: "It got no usable answer from the program behind it: check first_byte_timeout." + programBehind
    default: nil
    }
  }
}
