import Testing
import UploadCore

struct ServerMessageTests {
  /// The words of a page, with single spaces.
  private func words(_ page: String) -> String {
    ServerMessage.text(of: bytes(page)).split { $0 == " " || $0 == "\n" }.joined(separator: " ")
  }

  @Test(arguments: [
    "<p>No</p><script>if (a < b) { c = '<p>x' }</script><p>entry.</p>",
    "<p>No</p><STYLE type=text/css>p > b { color: red }</STYLE ><p>entry.</p>",
    "<html><head><style>p{}</style></head><body>No <script src=a.js></script>entry.<script>unfinished",
    "No<style><script></style> entry.",
  ])
  func scriptAndStyleAreNeverQuoted(page: String) {
    #expect(words(page) == "No entry.")
  }

  @Test func theHeadIsLeftOut() {
    #expect(words("<head><title>403</title></head><body><h1>Forbidden</h1>") == "Forbidden")
  }
}
