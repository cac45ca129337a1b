import Testing
import UploadCore

struct ProxyTests {
  // MARK: As environment variables name it

  @Test(arguments: [
    ("http://proxy:3128", "proxy:3128"), ("http://Proxy:3128/", "proxy:3128"), ("proxy:3128", "proxy:3128"),
    ("http://proxy", "proxy:80"), ("HTTP://192.0.2.1:8080/path?x", "192.0.2.1:8080"),
    ("http://[::1]:3128", "[::1]:3128"),
  ])
  func aProxyIsAHostAndAPort(text: String, proxy: String) throws {
    let parsed = try Proxy(variable: text)
    #expect(parsed.text == proxy && parsed.authorization == nil)
  }

  /// The examples of RFC 7617, 2, and percent-encoding.
  @Test(arguments: [
    ("http://Aladdin:open%20sesame@proxy:3128", "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="), ("a:b@proxy", "Basic YTpi"),
    ("http://a@proxy", "Basic YTo="), ("http://a:@proxy", "Basic YTo="), ("http://a:b:c@proxy", "Basic YTpiOmM="),
    ("http://a%40b:p%3Aq@proxy", "Basic YUBiOnA6cQ=="), ("http://a:b@c@proxy", "Basic YTpiQGM="),
  ])
  func loginsAreForTheProxyAlone(text: String, authorization: String) throws {
    let proxy = try Proxy(variable: text)
    #expect(proxy.authorization == authorization && proxy.host == "proxy")
  }

  @Test(arguments: [
    "https://proxy", "socks5://proxy:1080", "", "http://", "http://a%zz@proxy", "proxy:0", "pro xy", "ftp://x",
  ])
  func otherProxiesAreRefused(text: String) {
    #expect(throws: TargetURIError.self) { try Proxy(variable: text) }
  }

  // MARK: Which one

  private func isDirect(_ url: String, exceptions: String) throws -> Bool {
    var settings = ProxySettings()
    settings.http = try Proxy(variable: "plain:1")
    settings.https = try Proxy(variable: "secure:2")
    settings.exceptions = exceptions
    let target = try TargetURI(url)
    guard let proxy = settings.proxy(for: target) else { return true }
    #expect(proxy.host == (target.scheme == .https ? "secure" : "plain"))
    return false
  }

  @Test func eachSchemeHasItsOwn() throws {
    #expect(try !isDirect("http://hive/", exceptions: "") && !isDirect("https://hive/", exceptions: ""))
    var settings = ProxySettings()
    #expect(settings.proxy(for: try TargetURI("http://hive/")) == nil)
    settings.http = try Proxy(variable: "plain:1")
    #expect(settings.proxy(for: try TargetURI("https://hive/")) == nil)
  }

  @Test(arguments: [
    "hive.example", "HIVE.Example", ".hive.example", "example", ".example", "*.example", "*", "other, hive.example",
    "other,hive.example:8443", "other hive.example", " ,,hive.example,", "example:8443",
  ])
  func exceptionsAreReachedDirectly(exceptions: String) throws {
    #expect(try isDirect("https://hive.example:8443/", exceptions: exceptions))
  }

  @Test(arguments: [
    "", ",", "ive.example", "hive", "hive.example.org", "hive.example:443", "xhive.example", "a.hive.example", ".",
    "*.",
  ])
  func otherHostsAreNot(exceptions: String) throws {
    #expect(try !isDirect("https://hive.example:8443/", exceptions: exceptions))
  }

  @Test(arguments: ["192.0.2.7", "192.0.2.7:80", "::1,192.0.2.7"])
  func addressesAreExceptionsToo(exceptions: String) throws {
    #expect(try isDirect("http://192.0.2.7/", exceptions: exceptions))
  }

  @Test(arguments: ["::1", "[::1]", "[::1]:8080"])
  func addressesOfIPv6AreExceptionsWithBracketsAndWithout(exceptions: String) throws {
    #expect(try isDirect("http://[::1]:8080/", exceptions: exceptions))
  }

  @Test func anotherPortOfAnAddressIsNoException() throws {
    #expect(try !isDirect("http://[::1]:8080/", exceptions: "[::1]:80"))
    #expect(try !isDirect("http://192.0.2.7/", exceptions: "192.0.2.7:8080"))
  }
}
