import Testing
import UploadCore

struct LocalPathTests {
  @Test(arguments: [
    ("set.mp4", "set.mp4"), ("/srv/music/set.mp4", "set.mp4"), ("./a/b", "b"), ("/", ""), ("a/", ""), ("", ""),
    ("/x/Größe 🎸.wav", "Größe 🎸.wav"), ("a\\b", "a\\b"),
  ])
  func theLastComponentIsWhatFollowsTheLastSlash(path: String, name: String) {
    #expect(LocalPath(path).lastComponent == name)
  }

  @Test func bytesThatAreNotUTF8AreKeptForTheSystemAndShownEscaped() {
    let name: [CChar] = [0x2F, 0x61, CChar(bitPattern: 0xFF), 0x62, 0, 0x63]
    let path = LocalPath(cString: name)
    #expect(path.bytes == [0x2F, 0x61, 0xFF, 0x62])
    #expect(path.cString == [0x2F, 0x61, CChar(bitPattern: 0xFF), 0x62, 0])
    #expect(path.text == "/a\\xffb" && !path.isUTF8)
    #expect(path.lastComponent == "a\\xffb" && path.lastComponentBytes == [0x61, 0xFF, 0x62])
  }

  @Test func aPathWithANULInsideIsInvalid() {
    #expect(LocalPath("/etc/passwd\0.wav").cString == nil)
    #expect(LocalPath("").cString == [0])
  }
}
