import Testing
import UploadCore

/// References in responses (RFC 3986, 5).
struct TargetURIResolvingTests {
  /// A server does not know its client's networks.
  @Test(arguments: [
    ("http://[fe80::1]/files/7", "http://[fe80::1%25eth0]/files/7"), ("/files/7", "http://[fe80::1%25eth0]/files/7"),
    ("//[fe80::1]:81/7", "http://[fe80::1%25eth0]:81/7"), ("http://[fe80::2]/7", "http://[fe80::2%25eth0]/7"),
    ("http://[fe80::1%25eth1]/7", "http://[fe80::1%25eth1]/7"), ("http://[2001:db8::1]/7", "http://[2001:db8::1]/7"),
    ("http://hive/7", "http://hive/7"),
  ])
  func aLocationKeepsTheZone(reference: String, expected: String) throws {
    #expect(try TargetURI("http://[fe80::1%25eth0]/files/").resolving(reference).text == expected)
  }

  /// The base of RFC 3986, 5.4. Fragments are dropped, because they are never sent, and an empty path is written as "/".
  private let base = "http://a/b/c/d;p?q"

  private func resolve(_ reference: String, base: String? = nil) throws -> String {
    try TargetURI(base ?? self.base).resolving(reference).text
  }

  @Test(arguments: [
    // RFC 3986, 5.4.1
    ("g", "http://a/b/c/g"), ("./g", "http://a/b/c/g"), ("g/", "http://a/b/c/g/"), ("/g", "http://a/g"),
    ("//g", "http://g/"), ("?y", "http://a/b/c/d;p?y"), ("g?y", "http://a/b/c/g?y"), ("#s", "http://a/b/c/d;p?q"),
    ("g#s", "http://a/b/c/g"), ("g?y#s", "http://a/b/c/g?y"), (";x", "http://a/b/c/;x"), ("g;x", "http://a/b/c/g;x"),
    ("g;x?y#s", "http://a/b/c/g;x?y"), ("", "http://a/b/c/d;p?q"), (".", "http://a/b/c/"), ("./", "http://a/b/c/"),
    ("..", "http://a/b/"), ("../", "http://a/b/"), ("../g", "http://a/b/g"), ("../..", "http://a/"),
    ("../../", "http://a/"), ("../../g", "http://a/g"),
    // RFC 3986, 5.4.2
    ("../../../g", "http://a/g"), ("../../../../g", "http://a/g"), ("/./g", "http://a/g"), ("/../g", "http://a/g"),
    ("g.", "http://a/b/c/g."), (".g", "http://a/b/c/.g"), ("g..", "http://a/b/c/g.."), ("..g", "http://a/b/c/..g"),
    ("./../g", "http://a/b/g"), ("./g/.", "http://a/b/c/g/"), ("g/./h", "http://a/b/c/g/h"),
    ("g/../h", "http://a/b/c/h"), ("g;x=1/./y", "http://a/b/c/g;x=1/y"), ("g;x=1/../y", "http://a/b/c/y"),
    ("g?y/./x", "http://a/b/c/g?y/./x"), ("g?y/../x", "http://a/b/c/g?y/../x"), ("g#s/./x", "http://a/b/c/g"),
    ("g#s/../x", "http://a/b/c/g"),
  ])
  func theStandardsExamplesHold(reference: String, target: String) throws {
    #expect(try resolve(reference) == target)
  }

  /// RFC 3986, 5.4.2 leaves "http:g" to strict parsers.
  @Test(arguments: ["g:h", "http:g", "mailto:x@y", "javascript:alert(1)", "ftp://a/", "a+b-c.d:/x", "x:"])
  func otherSchemesAreRefused(reference: String) {
    #expect(throws: TargetURIError.unsupportedScheme) { try resolve(reference) }
  }

  @Test(arguments: [
    ("http://hive:8080/files/", "https://other/x?y=z#f", "https://other/x?y=z"),
    ("http://hive:8080/files/", "HTTP://Other:80", "http://other/"),
    ("http://hive:8080/files/", "//other/x", "http://other/x"),
    ("https://hive:8443/files/", "//other/x", "https://other/x"),
    ("https://hive:8443/files/", "/x", "https://hive:8443/x"),
    ("https://[fe80::1]:8443/files/", "x", "https://[fe80::1]:8443/files/x"),
    ("https://hive", "x", "https://hive/x"), ("https://hive", "?x", "https://hive/?x"),
    ("https://hive?a/b/c", "x", "https://hive/x"), ("https://hive/files/?a=/b/", "x", "https://hive/files/x"),
    // These only look like a scheme.
    ("https://hive/files/", "./a:b", "https://hive/files/a:b"),
    ("https://hive/files/", "1a:b", "https://hive/files/1a:b"),
    ("https://hive/files/", "a/b:c", "https://hive/files/a/b:c"), ("https://hive/files/", "/a:b", "https://hive/a:b"),
    ("https://hive/files/", ":b", "https://hive/files/:b"),
    ("https://hive/files/", "a%3Ab", "https://hive/files/a%3Ab"),
    // Empty segments are segments.
    ("https://hive/a//b", "c", "https://hive/a//c"), ("https://hive/a/b", "c//../d", "https://hive/a/c/d"),
    ("https://hive/a", "/..", "https://hive/"), ("https://hive/a", "/.", "https://hive/"),
    ("https://hive/a", "/b/..", "https://hive/"), ("https://hive/a", "...", "https://hive/..."),
  ])
  func aLocationIsReadAsABrowserWould(base: String, reference: String, target: String) throws {
    #expect(try resolve(reference, base: base) == target)
  }

  @Test(
    arguments: [
      ("/a b", .invalidCharacter), ("a\r\nX: y", .invalidCharacter), ("\u{7F}", .invalidCharacter),
      ("ü", .invalidCharacter),
      ("?\0", .invalidCharacter), ("//", .missingHost), ("//u:p@hive/", .containsUserInformation),
      ("https://u@hive", .containsUserInformation), ("//hive:0/", .invalidPort), ("//hi ve/", .invalidHost),
    ] as [(String, TargetURIError)])
  func aReferenceThatWouldBreakTheRequestLineIsRefused(reference: String, error: TargetURIError) {
    #expect(throws: error) { try resolve(reference) }
  }

  @Test func aResultOverTheLimitIsRefused() throws {
    // "http://a" and the path.
    let longest = "/" + filler(Limits.uriLength - 9)
    #expect(try resolve(longest).utf8.count == Limits.uriLength)
    #expect(throws: TargetURIError.tooLong(limit: 8000)) { try resolve(longest + "a") }
    #expect(throws: TargetURIError.tooLong(limit: 8000)) { try resolve("/" + filler(100_000)) }
  }

  @Test func anotherOriginCanTakeOverPathAndQuery() throws {
    let moved = try TargetURI("http://inner:1080/files/5e1f?x=y").moved(
      toOriginOf: TargetURI("https://hive:8443/other"))
    #expect(moved.text == "https://hive:8443/files/5e1f?x=y")
  }

  @Test(arguments: [
    ("https://hive/files/5e1f", "5e1f"), ("https://hive/files/5e1f?x=/y", "5e1f"), ("https://hive/files/", ""),
    ("https://hive", ""), ("https://hive?x/y", ""), ("https://hive/files/5e1f+2", "5e1f+2"),
    ("https://hive/a%2Fb", "a%2Fb"),
  ])
  func theLastSegmentIsTheNameOfTheUpload(text: String, segment: String) throws {
    #expect(try TargetURI(text).lastPathSegment == segment)
  }
}
