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
    let isNamedHTML = answer.fields.listMembers(of: "Content-Type") == ["text/html"]
    return isNamedHTML && !answer.content.isEmpty && (try? JSONReader.read(answer.content)) == nil
  }

  /// Whether a response asks for a login: 511 (RFC 6585, 6), or a page with a field for a password.
  static func asksForPassword(_ answer: Answer) -> Bool {
    answer.status == 511 || isPage(answer) && Page(answer).hasPasswordField
  }

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
