import Testing
import UploadCore

struct RedactedAnswerTests {
  private func shown(_ content: [UInt8], fields: [Field] = [], secrets: Secrets = Secrets()) -> RedactedAnswer {
    RedactedAnswer(Answer(status: 400, fields: fields, content: content), secrets)
  }

  @Test func aShortBodyIsWhole() {
    let answer = shown(bytes("{\"message\":\"no\"}\n"))
    #expect(answer.status == 400 && answer.location == nil)
    #expect(answer.body == "{\"message\":\"no\"}\n" && !answer.isBodyTruncated)
    #expect(shown([]).body.isEmpty && !shown([]).isBodyTruncated)
  }

  @Test(arguments: ["a", "é", "€", "🎸"]) func aLongBodyIsCutBetweenCharacters(character: String) {
    let limit = Limits.answerBodyLength
    for offset in 0..<4 {
      let text = String(repeating: "x", count: offset) + String(repeating: character, count: limit)
      let answer = shown(bytes(text))
      #expect(answer.isBodyTruncated == (text.utf8.count > limit))
      #expect(text.utf8.starts(with: answer.body.utf8))
      #expect(answer.body.utf8.count <= limit && answer.body.utf8.count > limit - 4)
    }
  }

  @Test func aBodyOfExactlyTheLimitIsNotCut() {
    #expect(!shown([UInt8](repeating: 0x61, count: 1024)).isBodyTruncated)
    #expect(shown([UInt8](repeating: 0x61, count: Limits.answerBodyLength + 1)).isBodyTruncated)
  }

  @Test func bytesThatAreNotUTF8CountAsTheyAreShown() {
    let answer = shown([UInt8](repeating: 0xFF, count: Limits.answerBodyLength))
    #expect(answer.isBodyTruncated && answer.body.utf8.count == Limits.answerBodyLength / 3 * 3)
  }

  @Test func aSecretAtTheLimitIsNotShownInPart() {
    var secrets = Secrets()
    secrets.add(.bearer(token: "QQQQQQQQ"))
    for length in (Limits.answerBodyLength - 40)...Limits.answerBodyLength {
      let padding = String(repeating: "x", count: length)
      for text in [padding + "QQQQQQQQ", padding + #""token":"QQQQ-QQQQ""#, padding + "?QQ=QQ"] {
        #expect(!shown(bytes(text), secrets: secrets).body.utf8.contains(UInt8(ascii: "Q")))
      }
    }
  }

  @Test func aLocationHasNoQueryAndNoToken() {
    let location = { self.shown([], fields: [Field("location", $0)]).location }
    #expect(location("https://h/files/1") == "https://h/files/1")
    #expect(location("https://h/files/1?sig=x") == "https://h/files/1?…")
    #expect(location("/p#access_token=x") == "/p#access_token=(secret)")
  }

}
