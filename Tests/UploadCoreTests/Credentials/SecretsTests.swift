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
    #expect(secrets.blanked("no: open sesame, open sesame") == "no: (secret), (secret)")
    #expect(secrets.blanked("got QWxhZGRpbjpvcGVuIHNlc2FtZQ==") == "got (secret)")
    #expect(secrets.blanked("Aladdin may not") == "Aladdin may not")
  }

  @Test(arguments: [Credentials.bearer(token: "mF_9.B5f"), .uploadToken("mF_9.B5f")])
  func aServerCannotRepeatAToken(credentials: Credentials) {
    #expect(secrets(credentials).blanked("mF_9.B5f mF_9.B5") == "(secret) mF_9.B5")
  }

  @Test func whatAnEllipsisHasCutIsBlankedToo() {
    let secrets = secrets(.bearer(token: "mF_9.B5f"))
    #expect(secrets.blanked("bad mF_9.B5…") == "bad (secret)…")
    #expect(secrets.blanked("bad mF_9…") == "bad (secret)…")
    #expect(secrets.blanked("bad mF_…") == "bad mF_…")
    #expect(secrets.blanked("…") == "…")
  }

  @Test func aProxysPasswordIsASecret() throws {
    var secrets = Secrets()
    secrets.add(try Proxy(TargetURI("http://proxy:3128"), user: "Aladdin", password: Array("open sesame".utf8)))
    #expect(secrets.blanked("open sesame QWxhZGRpbjpvcGVuIHNlc2FtZQ==") == "(secret) (secret)")
    var others = Secrets()
    others.add(try Proxy(variable: "http://Aladdin:open%20sesame@proxy:3128"))
    #expect(others.blanked("open sesame") == "(secret)")
  }

  @Test func aSecretThatIsTheWordForItIsBlankedOnce() {
    #expect(secrets(.bearer(token: "secret")).blanked("the secret") == "the (secret)")
    #expect(secrets(.bearer(token: "(secret)")).blanked("(secret)…") == "(secret)…")
  }

  /// They would make holes into every sentence.
  @Test func shortSecretsAreLeft() {
    #expect(secrets(.bearer(token: "a")).blanked("a label is required") == "a label is required")
    #expect(Secrets().blanked("as it is") == "as it is")
  }
}
