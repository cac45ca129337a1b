import Testing
import UploadCore

struct ProxyTests {
  // MARK: Environment variables

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

  // MARK: Choice

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

  /// The rules of curl's noproxy.c, and its own test cases' kinds.
  @Test(arguments: [
    ("http://192.168.0.1/", "192.168.0.0/16"), ("http://192.168.0.1/", "192.168.0.1/32"),
    ("http://192.168.0.1/", "192.168.0.1/0"), ("http://192.168.0.1/", "localhost, 192.168.0.0/24"),
    ("http://192.168.127.1/", "192.168.0.0/17"), ("http://10.255.255.255/", "10.0.0.0/8:80"),
    ("http://[fd00:1:2::9]/", "fd00::/8"), ("http://[fd00:1:2::9]/", "[fd00::]/8"),
    ("http://[2001:db8::7]/", "2001:0DB8:0:0::/32"), ("http://[::1]/", "0:0:0:0:0:0:0:1"),
    ("http://[fe80::1%25eth0]/", "fe80::1"), ("http://[fe80::1%25eth0]/", "fe80::1%eth0"),
    ("http://[fe80::1]/", "fe80::/10"),
    ("http://hive.example./", "hive.example"), ("http://hive.example/", "hive.example."),
    ("http://hive.example/", ".example."),
    ("http://hive.example/", "other\thive.example"), ("http://hive.example/", "\thive.example\t,"),
    ("http://hive.example/", "other \t, hive.example"), ("http://192.0.2.7/", "\t192.0.2.0/24 "),
    ("http://192.0.2.7/", "192.0.2.7"), ("http://192.0.2.7/", "192.0.2.7:80"), ("http://192.0.2.7/", "::1,192.0.2.7"),
    ("http://[::1]:8080/", "::1"), ("http://[::1]:8080/", "[::1]"), ("http://[::1]:8080/", "[::1]:8080"),
  ])
  func addressesBlocksTrailingDotsAndTabsAreThoseOfCurl(url: String, exceptions: String) throws {
    #expect(try isDirect(url, exceptions: exceptions))
  }

  @Test(arguments: [
    ("http://192.168.1.1/", "192.168.0.0/24"), ("http://192.168.128.1/", "192.168.0.0/17"),
    ("http://192.168.0.1/", "192.168.0.0/33"), ("http://192.168.0.1/", "192.168.0.0/"),
    ("http://192.168.0.1/", "192.168.0.0/-8"), ("http://192.168.0.1/", "192.168.0.0/8x"),
    ("http://192.168.0.1/", "0.0.0.0/0"),
    ("http://192.168.0.1/", "0.1"), ("http://192.168.0.1/", "/16"), ("http://192.168.0.1/", "192.168/16"),
    ("http://192.168.0.1/", "::/0"), ("http://[fd00::1]/", "fe00::/8"), ("http://[fd00::1]/", "fd00::/129"),
    ("http://[fe80::1]/", "fec0::/10"), ("http://[::1]/", "127.0.0.0/8"), ("http://hive.example/", "hive.example/24"),
    ("http://hive.example/", "10.0.0.0/8"), ("http://10.0.0.1/", "10.0.0.0/8:8080"),
    ("http://[::1]:8080/", "[::1]:80"), ("http://192.0.2.7/", "192.0.2.7:8080"),
  ])
  func otherAddressesPortsAndBlocksGoThroughTheProxy(url: String, exceptions: String) throws {
    #expect(try !isDirect(url, exceptions: exceptions))
  }

  @Test func anUnusableProxyMattersOnlyToWhatItIsFor() throws {
    var settings = ProxySettings()
    settings.unusableHTTPS = "$ALL_PROXY"
    settings.http = try Proxy(variable: "plain:1")
    settings.exceptions = "direct.example,10.0.0.0/8"
    #expect(settings.unusable(for: try TargetURI("https://hive/")) == "$ALL_PROXY")
    #expect(settings.unusable(for: try TargetURI("https://direct.example/")) == nil)
    #expect(settings.unusable(for: try TargetURI("https://10.1.2.3/")) == nil)
    #expect(settings.unusable(for: try TargetURI("http://hive/")) == nil)
  }

  // MARK: Refusals

  @Test(arguments: [("proxy:3128", false), ("a:b@proxy:3128", true)])
  func aDemandForCredentialsSaysWhetherTheProxyHadSome(text: String, hadCredentials: Bool) throws {
    var settings = ProxySettings()
    settings.http = try Proxy(variable: text)
    let target = try TargetURI("http://hive/")
    let demand = UploadError.proxyRefused(status: 407, proxy: "proxy:3128", hadCredentials: hadCredentials)
    #expect(settings.refusal(Answer(status: 407), to: target) == demand)
    #expect(settings.refusal(Answer(status: 401), to: target) == nil)
  }

  /// A response through a tunnel is the server's.
  @Test func aDemandForCredentialsIsTheServersIfNoProxyReadsTheRequest() throws {
    var settings = ProxySettings()
    settings.http = try Proxy(variable: "plain:1")
    settings.https = try Proxy(variable: "secure:2")
    settings.exceptions = "direct"
    for url in ["https://hive/", "http://direct/"] {
      #expect(settings.refusal(Answer(status: 407), to: try TargetURI(url)) == nil, "\(url)")
    }
  }

  @Test func aPasswordOfTheEnvironmentKeepsItsBytes() throws {
    let proxy = try Proxy(variable: Array("http://a:".utf8) + [0xE4, 0xFF] + Array("%E4@proxy".utf8))
    #expect(proxy.password == [0xE4, 0xFF, 0xE4])
  }
}
