import Testing

@testable import UploadCore

struct RedirectsTests {
  private func uri(_ text: String) throws -> TargetURI { try TargetURI(text) }

  @Test func withoutARedirectionATargetIsItself() throws {
    #expect(Redirects().target(for: try uri("https://hive/a")) == (try uri("https://hive/a")))
  }

  @Test func aTargetIsFollowedToWhereTheServerSaid() throws {
    var redirects = Redirects()
    try redirects.follow(from: try uri("https://hive/a"), to: "/b", isPermanent: false)
    try redirects.follow(from: try uri("https://hive/b"), to: "https://other/c", isPermanent: false)
    #expect(redirects.target(for: try uri("https://hive/a")) == (try uri("https://other/c")))
    #expect(redirects.target(for: try uri("https://hive/b")) == (try uri("https://other/c")))
    #expect(redirects.target(for: try uri("https://hive/x")) == (try uri("https://hive/x")))
  }

  @Test func onlyPermanentRedirectsApplyToLaterAttempts() throws {
    var redirects = Redirects()
    try redirects.follow(from: try uri("https://hive/a"), to: "/b", isPermanent: true)
    try redirects.follow(from: try uri("https://hive/b"), to: "/c", isPermanent: false)
    redirects.attemptFailed()
    #expect(redirects.target(for: try uri("https://hive/a")) == (try uri("https://hive/b")))
    try redirects.follow(from: try uri("https://hive/b"), to: "/d", isPermanent: false)
    #expect(redirects.target(for: try uri("https://hive/a")) == (try uri("https://hive/d")))
  }

  /// As of a load balancer, and then of the server.
  @Test func aPermanentRedirectAppliesAfterTheTemporaryOneThatLedToIt() throws {
    var redirects = Redirects()
    try redirects.follow(from: try uri("https://hive/a"), to: "/b", isPermanent: false)
    try redirects.follow(from: try uri("https://hive/b"), to: "/b/", isPermanent: true)
    redirects.attemptFailed()
    #expect(redirects.target(for: try uri("https://hive/a")) == (try uri("https://hive/a")))
    try redirects.follow(from: try uri("https://hive/a"), to: "/b", isPermanent: false)
    #expect(redirects.target(for: try uri("https://hive/a")) == (try uri("https://hive/b/")))
    #expect(throws: UploadError.redirectionRefused(location: "/a", .circle)) {
      try redirects.follow(from: try uri("https://hive/b/"), to: "/a", isPermanent: false)
    }
  }

  @Test func aCircleIsRefused() throws {
    var redirects = Redirects()
    let circle = UploadError.redirectionRefused(location: "/a", .circle)
    #expect(throws: circle) { try redirects.follow(from: try uri("https://hive/a"), to: "/a", isPermanent: false) }
    try redirects.follow(from: try uri("https://hive/a"), to: "/b", isPermanent: false)
    #expect(throws: circle) { try redirects.follow(from: try uri("https://hive/b"), to: "/a", isPermanent: false) }
  }

  @Test func fiveRedirectsInARowAreFollowedAndNoMore() throws {
    var redirects = Redirects()
    for index in 0..<5 {
      try redirects.follow(from: try uri("https://hive/\(index)"), to: "/\(index + 1)", isPermanent: false)
    }
    #expect(throws: UploadError.redirectionRefused(location: "/6", .tooMany(limit: 5))) {
      try redirects.follow(from: try uri("https://hive/5"), to: "/6", isPermanent: false)
    }
  }

  /// Also the start of a chain, which is then redirected again.
  @Test func theOldestAreForgotten() throws {
    var redirects = Redirects()
    try redirects.follow(from: try uri("https://hive/a"), to: "/b", isPermanent: false)
    try redirects.follow(from: try uri("https://hive/b"), to: "/c", isPermanent: false)
    for index in 0..<Limits.redirectMemoryCount {
      redirects.requestAnswered(progress: Int64(index + 1))
      try redirects.follow(from: try uri("https://hive/\(index)"), to: "/to/\(index)", isPermanent: false)
    }
    #expect(redirects.target(for: try uri("https://hive/0")) == (try uri("https://hive/to/0")))
    #expect(redirects.target(for: try uri("https://hive/a")) == (try uri("https://hive/a")))
    redirects.requestAnswered(progress: .max)
    try redirects.follow(from: try uri("https://hive/a"), to: "/b", isPermanent: false)
    try redirects.follow(from: try uri("https://hive/b"), to: "/c", isPermanent: false)
  }

  @Test func progressSetsTheCountBack() throws {
    var redirects = Redirects()
    for index in 0..<20 {
      try redirects.follow(from: try uri("https://hive/\(index)"), to: "/\(index + 1)", isPermanent: false)
      redirects.requestAnswered(progress: Int64(index) + 1)
    }
    #expect(redirects.target(for: try uri("https://hive/0")) == (try uri("https://hive/20")))
  }

  @Test func aRedirectionOutOfTLSIsRefused() throws {
    var redirects = Redirects()
    #expect(throws: UploadError.redirectionRefused(location: "http://hive/b", .leavesTLS)) {
      try redirects.follow(from: try uri("https://hive/a"), to: "http://hive/b", isPermanent: false)
    }
    try redirects.follow(from: try uri("http://hive/a"), to: "https://hive/a", isPermanent: false)
  }

  @Test(arguments: ["ftp://hive/", "//", "/a b", "https://u:p@hive/"])
  func aRedirectionToNowhereIsRefused(location: String) throws {
    var redirects = Redirects()
    #expect(throws: UploadError.redirectionRefused(location: location, .noAddress)) {
      try redirects.follow(from: try uri("https://hive/a"), to: location, isPermanent: false)
    }
  }
}
