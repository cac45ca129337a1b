import Testing

@testable import Uploader

struct UploadErrorTextTests {
  private let hostile = "a\u{1B}[2J\r\nb\u{202E}"

  @Test func everyErrorHasWholeSentencesForCallersOfEveryKind() {
    for error in EveryError.samples {
      let message = error.message
      #expect(message.hasSuffix(".") || message.hasSuffix("?") || message.hasSuffix("!"), "\(error): \(message)")
      #expect(!message.contains("..") && !message.contains("  ") && message.count > 5, "\(error): \(message)")
    }
  }

  @Test func noMessageNamesAnOptionOrACommand() {
    for error in EveryError.samples {
      let message = error.message
      #expect(!message.contains("--") && !message.contains("gighive-upload"), "\(error): \(message)")
    }
  }

  @Test func theSamplesHaveEveryCase() {
    #expect(Set(EveryError.samples.map(EveryError.name)).count == EveryError.caseCount)
  }

  @Test func textsFromOutsideArePrintableInEveryMessage() {
    let errors: [UploadError] = [
      .file(LocalPath(hostile), .missing), .form(.invalidEventDate(hostile)), .form(.unknownEventType(hostile)),
      .formData(.invalidMediaType(hostile)), .redirected(status: 302, location: hostile),
      .tls(.unusableFile(path: hostile, reason: "x"), host: "hive"), .tls(.unusablePin(hostile), host: "hive"),
    ]
    for error in errors {
      #expect(error.message.contains("a\u{FFFD}[2J b\u{FFFD}"), "\(error)")
      #expect(error.message.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x202E })
    }
  }

  @Test func aRedirectWithoutAnAddressSaysSo() {
    let message = UploadError.redirected(status: 302, location: "").message
    #expect(message == "the server redirects (302), but names no address. Check the destination's URL.")
  }

  @Test func aRefusalHasTheServersWordsAndAdvice() {
    let message = UploadError.refused(status: 413, message: "Too big").message
    #expect(message.contains("413") && message.contains("Too big") && message.contains("docs/server-setup.md"))
    #expect(UploadError.refused(status: 401, message: "").message.contains("password"))
  }

  @Test func aProxysDemandForCredentialsDiffersFromAWrongPassword() {
    let message = { UploadError.proxyRefused(status: 407, proxy: "proxy:3128", hadCredentials: $0).message }
    #expect(message(true).contains("refuses this user's password") && message(true).contains("proxy:3128"))
    #expect(message(false) == "the proxy proxy:3128 requires a user name and a password (407).")
  }

  @Test func whatPHPSaysInPlaceOfItsProgramIsQuoted() {
    let page = Array("<br />\n<b>Fatal error</b>:  Uncaught Error: no in <b>/a.php</b><br />\n".utf8)
    for (error, status) in [
      (UploadError.unconfirmed(status: 200), 200), (.refused(status: 500, message: "x"), 500),
      (.notFromServer(status: 200), 200),
    ] {
      let message = error.message(after: RedactedAnswer(Answer(status: status, content: page), Secrets()))
      #expect(message.hasPrefix("PHP failed (\(status)): Fatal error: Uncaught Error: no in /a.php."), "\(message)")
      #expect(message.contains("The upload is kept.") == (error == .notFromServer(status: 200)), "\(message)")
      #expect(message.hasSuffix("PHP's error log there says more."))
    }
    let other = UploadError.uploadLost.message(after: RedactedAnswer(Answer(status: 200, content: page), Secrets()))
    #expect(!other.contains("Fatal"))
  }

  @Test func aTimeoutNamesPhaseLimitAndAddress() {
    let message = UploadError.timedOut(.handshaking, peer: "192.0.2.1:443", limitMilliseconds: 1500).message
    #expect(
      message.contains("during the TLS handshake") && message.contains("1.50 s") && message.contains("192.0.2.1:443"))
  }

  @Test func aChangedFileNamesBothSizes() {
    let message = UploadError.file("set.wav", .grew(from: 1, to: 4_710_000_000)).message
    #expect(message.hasPrefix("set.wav grew ") && message.contains("1 byte ") && message.contains("4710000000 bytes"))
  }
}
