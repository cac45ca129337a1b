import Testing

@testable import Uploader

struct RedirectionsTests {
  private func uri(_ text: String) throws -> TargetURI { try TargetURI(text) }

  @Test func withoutARedirectionATargetIsItself() throws {
    #expect(Redirections().target(for: try uri("https://hive/a")) == (try uri("https://hive/a")))
  }

  @Test func aTargetIsFollowedToWhereTheServerSaid() throws {
    var redirections = Redirections()
    try redirections.follow(from: try uri("https://hive/a"), to: "/b")
    try redirections.follow(from: try uri("https://hive/b"), to: "https://other/c")
    #expect(redirections.target(for: try uri("https://hive/a")) == (try uri("https://other/c")))
    #expect(redirections.target(for: try uri("https://hive/b")) == (try uri("https://other/c")))
    #expect(redirections.target(for: try uri("https://hive/x")) == (try uri("https://hive/x")))
  }

  @Test func aCircleIsRefused() throws {
    var redirections = Redirections()
    let circle = UploadError.redirectionRefused(location: "/a", .circle)
    #expect(throws: circle) { try redirections.follow(from: try uri("https://hive/a"), to: "/a") }
    try redirections.follow(from: try uri("https://hive/a"), to: "/b")
    #expect(throws: circle) { try redirections.follow(from: try uri("https://hive/b"), to: "/a") }
  }

  @Test func fiveInARowAreFollowedAndNoMore() throws {
    var redirections = Redirections()
    for index in 0..<5 { try redirections.follow(from: try uri("https://hive/\(index)"), to: "/\(index + 1)") }
    #expect(throws: UploadError.redirectionRefused(location: "/6", .tooMany(limit: 5))) {
      try redirections.follow(from: try uri("https://hive/5"), to: "/6")
    }
  }

  @Test func anAnswerLetsTheCountBeginAnew() throws {
    var redirections = Redirections()
    for index in 0..<20 {
      try redirections.follow(from: try uri("https://hive/\(index)"), to: "/\(index + 1)")
      redirections.settle()
    }
    #expect(redirections.target(for: try uri("https://hive/0")) == (try uri("https://hive/20")))
  }

  @Test func aRedirectionOutOfTLSIsRefused() throws {
    var redirections = Redirections()
    #expect(throws: UploadError.redirectionRefused(location: "http://hive/b", .leavesTLS)) {
      try redirections.follow(from: try uri("https://hive/a"), to: "http://hive/b")
    }
    try redirections.follow(from: try uri("http://hive/a"), to: "https://hive/a")
  }

  @Test(arguments: ["ftp://hive/", "//", "/a b", "https://u:p@hive/"])
  func aRedirectionToNowhereIsRefused(location: String) throws {
    var redirections = Redirections()
    #expect(throws: UploadError.redirectionRefused(location: location, .noAddress)) {
      try redirections.follow(from: try uri("https://hive/a"), to: location)
    }
  }
}
