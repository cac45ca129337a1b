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

  @Test func laterOnesReplaceAndRemoveEarlierOnes() throws {
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

  @Test func fourAreKeptWithTogetherTwoKibibytes() throws {
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

  // MARK: Sticky sessions

  /// Two servers behind a load balancer, of which one has the upload.
  @Test func theUploadIsFoundByTheCookieOfItsServer() throws {
    let sticky: KeyValuePairs = ["Tus-Resumable": "1.0.0", "Location": "1", "Set-Cookie": "route=b; Path=/"]
    var offset: Int64 = 0
    var turn = 0
    var server = ScriptedServer { request in
      turn += 1
      let isOther = request.value("Cookie") != "route=b"
      switch request.method {
      case "OPTIONS": return .offer
      case "POST": return .status(201, sticky)
      case _ where isOther: return .gone
      case "HEAD": return .has(offset)
      default:
        if turn == 3 { return .lost(.partial) }
        offset = request.fileRange.upperBound
        return .has(offset)
      }
    }
    #expect(server.run(try .upload(to: .tusServer)) == deliveredPlainly())
    #expect(server.log.filter { $0.hasPrefix("save") } == ["save created", "save cookies", "save lastByteNext"])
    #expect(server.record.unfinished?.cookies.texts == ["route=b; Path=/"])

    // A later process returns it, too.
    var previous = try UploadPlan.PreviousState.at()
    previous.cookies = try #require(server.record.unfinished?.cookies)
    offset = 42
    #expect(server.run(try .upload(to: .tusServer, previous: previous)) == deliveredPlainly(resumedFrom: 42))
  }

  @Test func anotherOriginGetsNoCookieAndSetsNone() throws {
    let far: KeyValuePairs = [
      "Tus-Resumable": "1.0.0", "Location": "https://other/1", "Set-Cookie": "a=b; Path=/",
    ]
    var server = ScriptedServer { request in
      switch request.method {
      case "OPTIONS": .offer
      case "POST": .status(201, far)
      default: .status(204, ["Tus-Resumable": "1.0.0", "Upload-Offset": "100", "Set-Cookie": "c=d; Path=/"])
      }
    }
    #expect(server.run(try .upload(to: .tusServer)) == deliveredPlainly())
    #expect(server.requests.allSatisfy { $0.value("Cookie") == nil })
    #expect(server.record.unfinished?.cookies.texts == ["a=b; Path=/"])
  }

  @Test func aCancellationReturnsThem() throws {
    let cookies = Cookies(["a=b; Path=/"])
    let location = try TargetURI("https://hive/files/1")
    var server = ScriptedServer([.status(204, ["Tus-Resumable": "1.0.0"])])
    let machine = try UploadMachine(.cancel(location, overridesMethod: false, cookies), UploadMachine.policy())
    #expect(server.run(machine) == .finished(.cancelled(isKept: false)))
    #expect(server.requests.first?.value("Cookie") == "a=b")
  }
}
