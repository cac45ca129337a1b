import Testing

@testable import UploadCore

struct PHPErrorTests {
  private static let exception = """
    <br />
    <b>Fatal error</b>:  Uncaught PDOException: Class &quot;A&amp;B&quot; in /var/www/Db.php:12
    Stack trace:
    #0 /var/www/Db.php(12): PDO-&gt;__construct('hive', 'x')
    #1 {main}
      thrown in <b>/var/www/Db.php</b> on line <b>12</b><br />
    """

  /// As PHP 8 and Xdebug 3 write them.
  @Test(arguments: [
    (exception, "Fatal error:  Uncaught PDOException: Class \"A&B\" in /var/www/Db.php:12"),
    (
      "{\"id\":\n<br />\n<b>Parse error</b>:  syntax error in <b>/a.php</b> on line <b>3</b><br />\n<p>more",
      "Parse error:  syntax error in /a.php on line 3"
    ),
    ("PHP Fatal error:  Uncaught Error: no\nStack trace:\n#0 {main}", "Fatal error:  Uncaught Error: no"),
    (
      "<table><tr><th><span>( ! )</span> Fatal error: out of memory in /a.php on line <i>3</i></th></tr></table>",
      "Fatal error: out of memory in /a.php on line 3"
    ),
    ("<b>Fatal error</b>: &lt;&#039;&gt; &nbsp; &", "Fatal error: <'> &nbsp; &"),
    ("<b>Fatal error</b>:", "Fatal error:"),
  ])
  func anErrorIsItsLineWithoutMarkupAndStackTrace(page: String, text: String) {
    #expect(PHPError.text(in: bytes(page)) == text)
    #expect(ServerMessage.text(of: bytes(page)) == text)
  }

  @Test(arguments: ["", "<b>Warning</b>:  no", "Fatal error", "a fatal error: no", "<b>Fatal error"])
  func otherTextsAreNotErrorsOfPHP(page: String) { #expect(PHPError.text(in: bytes(page)) == nil) }

  @Test func theQuotedErrorIsPrintableBoundedAndRedacted() throws {
    var secrets = Secrets()
    secrets.add(.bearer(token: "QQQQQQQQ"))
    let page = "<b>Fatal error</b>:  \u{1B}[2J QQQQQQQQ\n" + String(repeating: "x ", count: 9000) + "<br />"
    let answer = RedactedAnswer(Answer(status: 200, content: bytes(page)), secrets)
    let text = try #require(answer.phpError)
    #expect(text.hasPrefix("Fatal error: \u{FFFD}[2J (secret) x x"))
    #expect(text.unicodeScalars.count == Limits.quotedMessageLength + 1)
  }
}
