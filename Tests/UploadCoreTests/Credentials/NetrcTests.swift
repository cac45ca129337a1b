import Testing
import UploadCore

struct NetrcTests {
  private func login(_ text: String, host: String = "hive", user: String? = nil) -> String? {
    Netrc.login(host: host, user: user, in: bytes(text)).map {
      $0.user + "|" + String(decoding: $0.password, as: UTF8.self)
    }
  }

  /// `p\u{E4}ss` in Latin-1: bytes that are not UTF-8 reach the server unchanged, even from quotes.
  @Test func aPasswordKeepsItsBytes() {
    let password: [UInt8] = [0x70, 0xE4, 0x73, 0x73, 0xFF]
    for (before, after) in [("", ""), ("\"", "\"")] {
      let file = bytes("machine hive login u password " + before) + password + bytes(after + "\n")
      #expect(Netrc.login(host: "hive", user: nil, in: file)?.password == password)
    }
  }

  private let two = "machine hive login uploader password one\nmachine other login admin password two\n"

  @Test func theEntryOfTheHostIsFound() {
    #expect(login(two) == "uploader|one")
    #expect(login(two, host: "other") == "admin|two")
    #expect(login(two, host: "HIVE") == "uploader|one")
    #expect(login(two, host: "hive.local") == nil)
    #expect(login("") == nil)
  }

  @Test func anEntryMaySpreadOverLinesInAnyOrder() {
    #expect(login("machine\n\thive\r\n  password p\n  account a\n  login\n u\n") == "u|p")
  }

  @Test func theFirstEntryForTheHostWins() {
    #expect(login("machine hive login a password 1\nmachine hive login b password 2") == "a|1")
  }

  @Test func withAUserNameOnlyTheMatchingEntryCounts() {
    let text = "machine hive login a password 1\nmachine hive login b password 2\n"
    #expect(login(text, user: "b") == "b|2")
    #expect(login(text, user: "c") == nil)
    #expect(login(text, user: "A") == nil)
    #expect(login("machine hive password 1", user: "c") == "c|1")
  }

  @Test func theDefaultIsForEveryOtherHost() {
    let text = two + "default login anonymous password me@home\n"
    #expect(login(text, host: "elsewhere") == "anonymous|me@home")
    #expect(login(text) == "uploader|one")
  }

  @Test func anEntryWithoutPasswordOrLoginIsNoLogin() {
    #expect(login("machine hive login a") == nil)
    #expect(login("machine hive password p") == nil)
    #expect(login("machine hive login a password") == nil)
    #expect(login("machine hive login a\nmachine x password p") == nil)
    #expect(login("machine") == nil)
  }

  @Test func anIncompleteEntryDoesNotBorrowFromTheNext() {
    #expect(login("machine hive login a\nmachine hive password p login b") == "b|p")
    #expect(login("machine hive login a\nmachine hive password p") == nil)
    #expect(login("machine x login y password z\nmachine hive login a") == nil)
    #expect(login("machine x login y password z\nmachine hive", user: "y") == nil)
  }

  @Test func commentsAreSkipped() {
    #expect(login("# machine hive login x password y\nmachine hive # login x\nlogin a password b#c # end") == "a|b#c")
  }

  @Test func quotedWordsMayHoldSpacesAndEscapes() {
    #expect(login(#"machine hive login "my name" password "a \"b\" \\ #c""#) == #"my name|a "b" \ #c"#)
    #expect(login(#"machine hive login a password """#) == "a|")
    #expect(login(#"machine hive login a password "open"#) == "a|open")
    #expect(login(#"machine hive login a password "open\"#) == #"a|open\"#)
  }

  /// curl treats these three letters after a backslash as control characters.
  @Test func quotedWordsMayHoldTheEscapesOfCurl() {
    #expect(login(#"machine hive login a password "1\t2\n3\r4""#) == "a|1\t2\n3\r4")
  }

  @Test func wordsThatAreKeywordsInAnotherPlaceAreValues() {
    #expect(login("machine login login password password machine", host: "login") == "password|machine")
  }

  @Test func macrosAreSkippedUpToTheirEmptyLine() {
    let text =
      "machine x login y password z\nmacdef init\nmachine hive\nlogin bad password bad\n\nmachine hive login a password b"
    #expect(login(text) == "a|b")
    #expect(login("macdef init\nmachine hive login bad password bad") == nil)
  }

  @Test func bytesThatAreNoTextDoNoHarm() {
    let noise: [UInt8] = [0, 0xFF, 0xFE, 0x22, 0x5C]
    #expect(Netrc.login(host: "hive", user: nil, in: noise) == nil)
    #expect(Netrc.login(host: "hive", user: nil, in: bytes("machine hive login a password ") + [0xFF])?.user == "a")
  }
}
