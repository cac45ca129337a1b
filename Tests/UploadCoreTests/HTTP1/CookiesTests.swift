import Testing
import UploadCore

struct CookiesTests {
  private func cookies(
    _ texts: [String], from target: String = "https://hive/files/", now: Int64 = 0
  ) throws -> Cookies {
    var cookies = Cookies()
    cookies.receive(texts.map { Field("set-cookie", $0) }, from: try TargetURI(target), nowSeconds: now)
    return cookies
  }

  private func value(_ cookies: Cookies, to target: String = "https://hive/files/5e1f") throws -> String? {
    cookies.field(for: try TargetURI(target))?.value
  }

  @Test(
    arguments: [
      ("AWSALB=abc", "AWSALB=abc"), (" a = b ; Path=/", "a=b"), ("a=b=c", "a=b=c"), ("a=", "a="),
      ("a=\"b c\"", "a=\"b c\""),
      ("a=b; HttpOnly; SameSite=None; Secure", "a=b"),
      ("a=b; Max-Age=60; Expires=Thu, 01 Jan 1970 00:00:01 GMT", "a=b"),
      ("a=b; Domain=hive", "a=b"), ("a=b; domain=.hive", "a=b"), ("a=b; Domain=", "a=b"), ("a=b; Max-Age=x", "a=b"),
      ("a", nil), ("=b", nil), ("", nil), (";", nil), ("a=b\u{1}", nil), ("a=b; Domain=other", nil),
      ("a=b; Domain=ive", nil),
      ("a=b; Max-Age=0", nil), ("a=b; Max-Age=-1", nil), ("a=b; Expires=Thu, 01 Jan 1970 00:00:01 GMT", nil),
    ] as [(String, String?)])
  func aCookieIsKeptWithoutItsAttributes(text: String, value: String?) throws {
    #expect(try self.value(cookies([text], now: 1000)) == value)
  }

  /// RFC 6265, 5.1.4.
  @Test(arguments: [
    ("a=b", "/files/", true), ("a=b", "/files", true), ("a=b", "/filesystem", false), ("a=b", "/", false),
    ("a=b; Path=/", "/api", true), ("a=b; Path=/api", "/api?x", true), ("a=b; Path=/api", "/api/x", true),
    ("a=b; Path=/api/", "/api", false), ("a=b; Path=/api/", "/api/x", true), ("a=b; Path=/api", "/apix", false),
    ("a=b; Path=api", "/files/1", true),
  ])
  func theirPathCounts(text: String, path: String, isSent: Bool) throws {
    #expect((try value(cookies([text]), to: "https://hive" + path) != nil) == isSent)
  }

  @Test func overHTTPASecureCookieIsNotKept() throws {
    let texts = ["a=b; Secure", "c=d"]
    #expect(try value(cookies(texts, from: "http://hive/files/"), to: "http://hive/files/1") == "c=d")
  }

  @Test func laterCookiesReplaceAndRemoveEarlierOnes() throws {
    var cookies = try cookies(["a=1", "b=2; Path=/", "c=3"])
    #expect(try value(cookies) == "a=1; c=3; b=2")
    let names = cookies
    let target = try TargetURI("https://hive/files/5e1f")
    cookies.receive([Field("Set-Cookie", "a=4")], from: target, nowSeconds: 0)
    #expect(try value(cookies) == "c=3; a=4; b=2")
    #expect(cookies.haveSameNames(as: names) && names.haveSameNames(as: cookies))
    cookies.receive([Field("Set-Cookie", "c=; Max-Age=0")], from: target, nowSeconds: 0)
    #expect(try value(cookies) == "a=4; b=2")
    #expect(!cookies.haveSameNames(as: names) && !names.haveSameNames(as: cookies))
  }

  @Test func fourCookiesAreKeptWithTwoKibibytesAltogether() throws {
    #expect(try value(cookies(["a=1", "b=2", "c=3", "d=4", "e=5"])) == "b=2; c=3; d=4; e=5")
    let long = String(repeating: "x", count: 1023)
    #expect(try value(cookies(["a=1", "b=" + long, "c=" + long])) == "b=\(long); c=\(long)")
    #expect(try value(cookies(["a=1", "b=" + long + long + "xxx"])) == "a=1")
  }

  @Test func theRecordHasTheSame() throws {
    let cookies = try cookies(["a=1; Path=/x", "b=2"], from: "http://hive/files/")
    #expect(cookies.texts == ["a=1; Path=/x", "b=2; Path=/files"])
    #expect(Cookies(cookies.texts) == cookies)
    #expect(Cookies(["", "a", "a=\n", "a=b; Path=/\n"]) == Cookies())
  }
}
