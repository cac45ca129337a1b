import Testing
import UploadCore

struct SecretsTests {
  private func secrets(_ credentials: Credentials) -> Secrets {
    var secrets = Secrets()
    secrets.add(credentials)
    return secrets
  }

  @Test func aServerCannotRepeatAPassword() {
    let secrets = secrets(.basic(user: "Aladdin", password: "open sesame"))
    #expect(secrets.redacted("no: open sesame, open sesame") == "no: (secret), (secret)")
    #expect(secrets.redacted("got QWxhZGRpbjpvcGVuIHNlc2FtZQ==") == "got (secret)")
    #expect(secrets.redacted("Aladdin may not") == "Aladdin may not")
  }

  @Test(arguments: [Credentials.bearer(token: "mF_9.B5f"), .uploadToken("mF_9.B5f")])
  func aServerCannotRepeatAToken(credentials: Credentials) {
    #expect(secrets(credentials).redacted("mF_9.B5f mF_9.B5, mF_9.B5 mF_") == "(secret) mF_9.B5, mF_9.B5 mF_")
  }

  @Test func aSecretThatAnEllipsisCutsIsRedactedToo() {
    let secrets = secrets(.bearer(token: "mF_9.B5f"))
    #expect(secrets.redacted("bad mF_9.B5…") == "bad (secret)…")
    #expect(secrets.redacted("bad mF_9…") == "bad (secret)…")
    #expect(secrets.redacted("bad mF_…") == "bad mF_…")
    #expect(secrets.redacted("…") == "…")
  }

  @Test func aProxysPasswordIsASecret() throws {
    var secrets = Secrets()
    secrets.add(try Proxy(TargetURI("http://proxy:3128"), user: "Aladdin", password: Array("open sesame".utf8)))
    #expect(secrets.redacted("open sesame QWxhZGRpbjpvcGVuIHNlc2FtZQ==") == "(secret) (secret)")
    var others = Secrets()
    others.add(try Proxy(variable: "http://Aladdin:open%20sesame@proxy:3128"))
    #expect(others.redacted("open sesame") == "(secret)")
  }

  @Test func aSecretEqualToTheReplacementIsRedactedOnce() {
    #expect(secrets(.bearer(token: "secret")).redacted("the secret") == "the (secret)")
    #expect(secrets(.bearer(token: "(secret)")).redacted("(secret)…") == "(secret)…")
  }

  /// They would redact parts of ordinary words.
  @Test func shortSecretsAreLeft() {
    #expect(secrets(.bearer(token: "a")).redacted("a label is required") == "a label is required")
    #expect(Secrets().redacted("as it is") == "as it is")
  }

  // MARK: Spellings

  private static let password = "a b\"\\/<ä€😀>&'+%z"

  /// Written by Python's json, urllib.parse and html.
  @Test(arguments: [
    #"a b\"\\/<ä€😀>&'+%z"#, #"a b\"\\/<\u00e4\u20ac\ud83d\ude00>&'+%z"#,
    #"a b\"\\\/<\u00E4\u20AC\uD83D\uDE00\u003e\u0026\u0027+%z"#,
    "a%20b%22%5C%2F%3C%C3%A4%E2%82%AC%F0%9F%98%80%3E%26%27%2B%25z",
    "a+b%22%5c/%3c%c3%a4%e2%82%ac%f0%9f%98%80%3e%26%27%2b%25z",
    "a b&quot;\\/&lt;ä€😀&gt;&amp;&#x27;+%z", "a&#32;b&#34;&#92;/&#x3C;&#228;&#8364;&#128512;&#62;&#38;&apos;+%z",
    "%61%20%62\"\\/<ä€😀>&'+%z",
  ])
  func aSecretIsFoundHoweverItIsEscaped(spelling: String) {
    let secrets = secrets(.basic(user: "u", password: SecretsTests.password))
    #expect(secrets.redacted("no: " + spelling + "!") == "no: (secret)!")
    #expect(secrets.redacted(spelling) == "(secret)")
    // Truncated anywhere after the first four characters, even inside an escape or a character.
    let bytes = Array(("no: " + spelling).utf8)
    for end in (4 + 24)..<bytes.count {
      let text = String(decoding: secrets.redacted(Array(bytes[..<end])), as: UTF8.self)
      #expect(text.hasPrefix("no: (secret)") && text.utf8.count < 24, "\(end): \(text)")
    }
  }

  @Test(arguments: [
    "a b", "a  b\"\\/<ä€😀>&'+%z", "a%2b", "\\u00", "&amp", "%", "\\", "%6", "&#", "\\ud83d\\u0041", "&#99999999999;",
    "&#xD800;",
    "%GG", "\\uZZZZ", "\\x4",
  ])
  func textThatIsNotTheSecretStays(text: String) {
    let secrets = secrets(.basic(user: "u", password: SecretsTests.password))
    #expect(secrets.redacted(text + " and more") == text + " and more")
  }

  @Test func aSecretOfBackslashesIsFoundWithAndWithoutEscapes() {
    let secrets = secrets(.bearer(token: String(repeating: "\\", count: 64)))
    #expect(secrets.redacted(String(repeating: "\\", count: 128) + ".") == "(secret).")
    #expect(secrets.redacted(String(repeating: "\\", count: 64) + ".") == "(secret).")
  }

  @Test func bytesThatAreNoUTF8AreFoundInEveryReading() {
    let password: [UInt8] = [0x70, 0xE4, 0x73, 0x73, 0xFF, 0x77]
    let secrets = secrets(.basic(user: "u", password: password))
    #expect(secrets.redacted([0x3A] + password + [0x21]) == Array(":(secret)!".utf8))
    #expect(secrets.redacted("p\u{FFFD}ss\u{FFFD}w.") == "(secret).", "as UTF-8")
    #expect(secrets.redacted("pässÿw.") == "(secret).", "as Latin-1")
    #expect(secrets.redacted("p%E4ss%ffw.") == "(secret).")
    #expect(secrets.redacted("p\\u00e4ss\\u00ffw.") == "(secret).")
    #expect(secrets.redacted("p\\xe4ss\\xffw.") == "(secret).", "as Python shows bytes")
    #expect(secrets.redacted("dTpw5HNz/3c=") == "(secret)", "base 64 of u:…")
    #expect(secrets.redacted("cORzc/93.") == "(secret).", "base 64")
  }

  @Test func base64IsFoundWithoutItsPaddingToo() {
    let secrets = secrets(.basic(user: "Aladdin", password: "open sesame"))
    #expect(secrets.redacted("QWxhZGRpbjpvcGVuIHNlc2FtZQ, QWxhZGRpbjpvcGVuIHNlc2FtZQ%3D%3D") == "(secret), (secret)")
  }

  /// RFC 4648, 5, as in URLs and host names.
  @Test func base64IsFoundWithTheDigitsOfURLsToo() {
    let secrets = secrets(.basic(user: "u", password: "~~~???ÿÿ"))
    #expect(secrets.redacted("dTp-fn4_Pz_Dv8O_, fn5-Pz8_w7_Dvw, fn5+Pz8/w7/Dvw==") == "(secret), (secret), (secret)")
    #expect(secrets.host("dtp-fn4_pz_dv8o_.example") == "(secret).example")
  }

  @Test func overlappingSecretsAreRedactedAsOne() {
    var secrets = Secrets()
    secrets.add(Array("abcdef".utf8))
    secrets.add(Array("efghij".utf8))
    #expect(secrets.redacted("1 abcdefghij 2") == "1 (secret) 2")
  }

  // MARK: As it is shown

  /// White space is collapsed and control characters are replaced after redaction.
  @Test(arguments: ["two  spaces", "a\ttab", "x\u{1B}[1m", " ends ", "a\r\nb.c"])
  func aSecretIsFoundBeforeWhiteSpaceIsCollapsed(password: String) {
    let secrets = secrets(.basic(user: "u", password: password))
    #expect(secrets.line("no,\n  " + password + ",  no") == "no, (secret), no")
  }

  @Test func aLineIsTruncatedAfterTheRedaction() {
    let secrets = secrets(.bearer(token: "mF_9.B5f"))
    #expect(secrets.line(filler(296) + "mF_9.B5f") == filler(296) + "(sec…")
  }

  @Test func aSecretWithAQuestionMarkIsFoundInAnAddress() {
    let secrets = secrets(.bearer(token: "what?ever"))
    #expect(secrets.line(ofURI: "http://hive/what?ever/x?token=1") == "http://hive/(secret)/x?…")
  }

  @Test func aHostThatAServerNamesHidesASecretInAnyCase() {
    var secrets = Secrets(ownHost: "hive.example")
    secrets.add(.basic(user: "u", password: "Hive"))
    #expect(secrets.host("hive.example:443") == "hive.example:443")
    #expect(secrets.host("hive.elsewhere:443") == "(secret).elsewhere:443")
  }

  @Test(arguments: [
    ("apikey", "k3y-of-mine", "k3y-of-mine"), ("Authorization", "Token t0ken.x", "t0ken.x"),
    ("Authorization", "Token t0ken.x", "Token t0ken.x"), ("authorization", "Basic dXNlcjpzM2NyZXQ=", "s3cret"),
    ("Cookie", "a=first1; b=second=2", "first1"), ("cookie", "a=first1; b=second=2", "second=2"),
    ("Cookie", "a=first1; b=second=2", "a=first1; b=second=2"),
  ])
  func aServerCannotRepeatASecretOfAHeaderField(name: String, value: String, part: String) throws {
    let secrets = secrets(.headers([try CustomField(name, value)], and: .bearer(token: "b3arer")))
    #expect(secrets.line("no: " + part + ".") == "no: (secret).")
    #expect(secrets.line("b3arer") == "(secret)")
    #expect(secrets.line("Basic Token a b apikey") == "Basic Token a b apikey")
  }
}
