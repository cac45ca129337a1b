import Testing
import UploadCore

struct TargetURITests {
  @Test(
    arguments: [
      ("http://hive", "hive", 80, "/"), ("http://hive/", "hive", 80, "/"), ("http://hive:/x", "hive", 80, "/x"),
      ("http://HIVE.Local:8080/A/b", "hive.local", 8080, "/A/b"), ("HTTP://hive?x=1", "hive", 80, "/?x=1"),
      ("http://hive#part", "hive", 80, "/"), ("http://hive/a?b=c/d?e#f?g", "hive", 80, "/a?b=c/d?e"),
      ("http://192.0.2.7:65535/a//b/../c", "192.0.2.7", 65535, "/a//b/../c"), ("http://[::1]:1", "::1", 1, "/"),
      ("http://[2001:DB8::7:192.0.2.1]/x", "2001:db8::7:192.0.2.1", 80, "/x"),
      ("http://my_hive-2/", "my_hive-2", 80, "/"),
      ("http://hive/%2F%20%C3%A9@:;", "hive", 80, "/%2F%20%C3%A9@:;"), ("http://hive:00080/", "hive", 80, "/"),
    ] as [(String, String, UInt16, String)])
  func aURLIsTakenApart(text: String, host: String, port: UInt16, target: String) throws {
    let uri = try TargetURI(text)
    #expect(uri.scheme == .http)
    #expect(uri.host == host)
    #expect(uri.port == port)
    #expect(uri.requestTarget == target)
  }

  @Test func httpsHasItsOwnPort() throws {
    let uri = try TargetURI("HttpS://hive/x")
    #expect(uri.scheme == .https && uri.port == 443 && uri.host == "hive")
  }

  @Test(arguments: [
    ("http://hive:80/", "hive"), ("https://hive:443/", "hive"), ("http://hive:443/", "hive:443"),
    ("https://hive:80/", "hive:80"), ("https://[FE80::1]/", "[fe80::1]"), ("https://[fe80::1]:8443/", "[fe80::1]:8443"),
  ])
  func theAuthorityNamesThePortOnlyIfItIsNotTheSchemes(text: String, authority: String) throws {
    #expect(try TargetURI(text).authority == authority)
  }

  // MARK: Zones (RFC 6874)

  @Test(arguments: [
    ("http://[fe80::1%25eth0]/x", "fe80::1", "eth0"), ("http://[FE80::1%eth0]:8080", "fe80::1", "eth0"),
    ("https://[fe80::1%25br-lan.7]/", "fe80::1", "br-lan.7"), ("http://[fe80::1%2]/", "fe80::1", "2"),
    ("http://[fe80::1%25]/", "fe80::1", "25"), ("http://[fe80::1%2525]/", "fe80::1", "25"),
    ("http://[fe80::1%25Wlan_0~]/", "fe80::1", "Wlan_0~"),
    ("http://[fe80::1%25a23456789012345]/", "fe80::1", "a23456789012345"),
  ])
  func anAddressCanHaveAZone(text: String, host: String, zone: String) throws {
    let uri = try TargetURI(text)
    #expect(uri.host == host && uri.zone == zone && uri.lookupName == host + "%" + zone)
    #expect(try TargetURI(uri.text) == uri)
  }

  @Test func aZoneIsThisMachinesOwnAndIsNotSent() throws {
    let uri = try TargetURI("http://[fe80::1%25eth0]:8080/x")
    #expect(uri.authority == "[fe80::1]:8080" && uri.authorityWithPort == "[fe80::1]:8080")
    #expect(uri.absoluteForm == "http://[fe80::1]:8080/x")
    #expect(uri.text == "http://[fe80::1%25eth0]:8080/x")
    let head = try HTTPRequest(method: "POST", target: uri, fields: []).encodedHead(.absolute)
    #expect(
      String(decoding: head, as: UTF8.self) == "POST http://[fe80::1]:8080/x HTTP/1.1\r\nHost: [fe80::1]:8080\r\n\r\n")
  }

  @Test func theSameAddressInAnotherZoneIsAnotherServer() throws {
    #expect(try TargetURI("http://[fe80::1%eth0]/").origin != TargetURI("http://[fe80::1%eth1]/").origin)
  }

  @Test(arguments: [
    "http://[fe80::1%]/", "http://[fe80::1%25a2345678901234567]/", "http://[fe80::1%25e h]/", "http://[fe80::1%25é]/",
    "http://[fe80::1%25a%25b]/", "http://[fe80::1%25a/b]/", "http://[%25eth0]/", "http://hive%25eth0/",
    "http://192.0.2.1%25eth0/", "http://[hive%25eth0]/", "http://[fe80::1%25a:b]/",
  ])
  func invalidZonesAreRefused(text: String) {
    #expect(throws: TargetURIError.self) { try TargetURI(text) }
  }

  @Test func theTextIsTheURIInItsPlainestForm() throws {
    #expect(try TargetURI("HTTPS://Hive:443?x#y").text == "https://hive/?x")
    #expect(try TargetURI("http://[::1]:8080/a").text == "http://[::1]:8080/a")
  }

  @Test(arguments: [
    "", "hive", "hive/", "//hive/", "ftp://hive/", "http:/hive", "http:hive", " http://hive", "httpx://hive",
  ])
  func otherSchemesAreRefused(text: String) {
    #expect(throws: TargetURIError.unsupportedScheme) { try TargetURI(text) }
  }

  @Test(arguments: ["http://", "http:///path", "http://?x", "http://#x", "http://:80/", "https://"])
  func aHostIsNeeded(text: String) {
    #expect(throws: TargetURIError.missingHost) { try TargetURI(text) }
  }

  @Test(arguments: [
    "http://hi ve/", "http://hive\r\nX: y/", "http://hi\0ve/", "http://höhle/", "http://hi%76e/", "http://hi\\ve/",
    "http://[::1/", "http://[]/", "http://[hive]/", "http://[1234]/", "http://[::1]x/", "http://[::g]/",
    "http://hive]/",
    "http://a,b/", "http://\"/",
  ])
  func invalidHostsAreRefused(text: String) {
    #expect(throws: TargetURIError.invalidHost) { try TargetURI(text) }
  }

  @Test(arguments: [
    "http://hive:0/", "http://hive:65536/", "http://hive:-1/", "http://hive:8o/", "http://hive:80:80/",
    "http://hive: 80/", "http://[::1]:99999999999999999999/",
  ])
  func portsThatDoNotExistAreRefused(text: String) {
    #expect(throws: TargetURIError.invalidPort) { try TargetURI(text) }
  }

  @Test(arguments: ["http://user:password@hive/", "https://user@hive", "http://@hive/", "http://hive:80@evil/"])
  func aSecretInAURLIsRefused(text: String) {
    #expect(throws: TargetURIError.containsUserInformation) { try TargetURI(text) }
  }

  @Test func anAtSignInThePathIsNoSecret() throws {
    #expect(try TargetURI("http://hive/a@b").requestTarget == "/a@b")
  }

  @Test(arguments: [
    "http://hive/a b", "http://hive/a\r\nX: y", "http://hive/\0", "http://hive/ü", "http://hive/\u{7F}",
    "http://hive?\t",
  ])
  func charactersThatWouldBreakTheRequestLineAreRefused(text: String) {
    #expect(throws: TargetURIError.invalidCharacter) { try TargetURI(text) }
  }

  @Test func aURLAtTheLimitIsTakenAndALongerOneIsNot() throws {
    let longest = "http://hive/" + filler(Limits.uriLength - 12)
    #expect(longest.utf8.count == 8000)
    #expect(try TargetURI(longest).requestTarget.utf8.count == 7989)
    #expect(throws: TargetURIError.tooLong(limit: 8000)) { try TargetURI(longest + "a") }
  }

  @Test(arguments: [
    ("https://hive", "/api/x?y=1"), ("https://hive/", "/api/x?y=1"), ("https://hive/base", "/base/api/x?y=1"),
    ("https://hive/base/?old=1#f", "/base/api/x?y=1"), ("https://hive?old/er", "/api/x?y=1"),
  ])
  func aTargetBelowAnotherKeepsItsPathAndDropsItsQuery(base: String, target: String) throws {
    let uri = try TargetURI(base).appending("api/x?y=1")
    #expect(uri.requestTarget == target)
    #expect(uri.host == "hive" && uri.scheme == .https && uri.port == 443)
  }
}
