import Testing

@testable import Uploader

struct FilePathTests {
  @Test(arguments: [
    ("set.mp4", "set.mp4"), ("/srv/music/set.mp4", "set.mp4"), ("./a/b", "b"), ("/", ""), ("a/", ""), ("", ""),
    ("/x/Größe 🎸.wav", "Größe 🎸.wav"), ("a\\b", "a\\b"),
  ])
  func theLastComponentIsWhatFollowsTheLastSlash(path: String, name: String) {
    #expect(FilePath(path).lastComponent == name)
  }

  @Test func bytesThatAreNotUTF8AreKeptForTheSystemAndShownAsReplaced() {
    let name: [CChar] = [0x2F, 0x61, CChar(bitPattern: 0xFF), 0x62, 0, 0x63]
    let path = FilePath(cString: name)
    #expect(path.bytes == [0x2F, 0x61, 0xFF, 0x62])
    #expect(path.cString == [0x2F, 0x61, CChar(bitPattern: 0xFF), 0x62, 0])
    #expect(path.text == "/a\u{FFFD}b")
    #expect(path.lastComponent == "a\u{FFFD}b")
  }

  @Test func aPathWithANULInsideIsNone() {
    #expect(FilePath("/etc/passwd\0.wav").cString == nil)
    #expect(FilePath("").cString == [0])
  }
}
