import Testing
import UploadCore

struct SecretMembersTests {
  @Test(
    arguments: [
      (#"{"delete_token":"abc","id":1}"#, #"{"delete_token":"(secret)","id":1}"#),
      (#"{ "Delete_Token" : "a\"b\\", "id" : 1 }"#, #"{ "Delete_Token" : "(secret)", "id" : 1 }"#),
      (#"{"api_key":123,"keyring":null}"#, #"{"api_key":"(secret)","keyring":"(secret)"}"#),
      (#"{"keywords":"rock, live","Keyword":"x"}"#, #"{"keywords":"rock, live","Keyword":"x"}"#),
      (#"{"password":true,"id":1}"#, #"{"password":"(secret)","id":1}"#),
      (#"{"secrets":{"a":"x}","b":["y"]},"id":1}"#, #"{"secrets":"(secret)","id":1}"#),
      (#"{"tokens":["a","]",{"b":"c"}],"id":1}"#, #"{"tokens":"(secret)","id":1}"#),
      (#"{"\u0074oken":"abc"}"#, #"{"\u0074oken":"(secret)"}"#),
      (#"{"a\"token":"abc"}"#, #"{"a\"token":"(secret)"}"#),
      (#"{"token":"","next":"x"}"#, #"{"token":"(secret)","next":"x"}"#),
      // In JSON in a string.
      (#"{"text":"{\"token\":\"abc\",\"id\":1}"}"#, #"{"text":"{\"token\":\"(secret)\",\"id\":1}"}"#),
      (#"{"text":"{\"token\":\"a\\\"b\\\\\",\"id\":1}"}"#, #"{"text":"{\"token\":\"(secret)\",\"id\":1}"}"#),
      (#"{"text":"{\"t\":\"{\\\"key\\\":\\\"abc\\\"}\"}"}"#, #"{"text":"{\"t\":\"{\\\"key\\\":\\\"(secret)\\\"}\"}"}"#),
      (#"{"text":"{\"key\":17}"}"#, #"{"text":"{\"key\":\"(secret)\"}"}"#),
      // Queries and the fields of forms.
      ("https://h/p?a=1&b=2 and more", "https://h/p?… and more"),
      (#"{"url":"https:\/\/h\/p?sig=x\u0026y=z","id":1}"#, #"{"url":"https:\/\/h\/p?…","id":1}"#),
      (#"{"t":"{\"url\":\"/p?sig=x\"}"}"#, #"{"t":"{\"url\":\"/p?…\"}"}"#),
      ("<a href='/p?a=b'>Really? Yes?</a>", "<a href='/p?…'>Really? Yes?</a>"),
      ("access_token=abc&state=x", "access_token=(secret)&state=x"),
      ("/p#access_token=abc;x", "/p#access_token=(secret);x"),
      ("token = \"a b\" c", "token = \"(secret)\" c"),
    ])
  func secretsAreRedacted(text: String, expected: String) {
    #expect(SecretMembers.redacted(text) == expected)
    if text.hasPrefix("{") { #expect((try? JSONReader.read(bytes(SecretMembers.redacted(text)))) != nil) }
  }

  @Test(arguments: [
    "", "wrong token: it has expired", #"{"message":"no such key: x","status":"a=b"}"#, "a = b; c: d", #"{"a":1}"#,
    "::==", #""":"#, "key", "token", #"{"tok":"en"}"#,
  ])
  func otherTextStays(text: String) {
    #expect(SecretMembers.redacted(text) == text)
  }

  private static let secret = "Zq7Xw9"
  private static let samples = [
    #"{"id":17,"delete_token":"Zq7Xw9","n":[1,2]}"#, #"{"a":{"api_key" : ["Zq7Xw9",{"b":"Zq7Xw9"}]},"c":1}"#,
    #"{"body":"{\"password\":\"Zq7Xw9\"}","url":"https:\/\/h\/?x=Zq7Xw9&y=Zq7Xw9#z"}"#,
    "secret=Zq7Xw9&a=b", #"{"token":"\"Zq7Xw9\\","key":Zq7Xw9}"#, #"{"\u0074\u006fken":"Zq7Xw9"}"#,
    "<a href=\"/?Zq7Xw9\">x</a>",
  ]

  /// Not even the first character, which occurs nowhere else.
  @Test(arguments: samples) func aTextCutAnywhereShowsNoBeginningOfASecret(text: String) {
    let whole = bytes(text)
    for length in 0...whole.count {
      let shown = SecretMembers.redacted(Array(whole[..<length]))
      #expect(!shown.contains(UInt8(ascii: "Z")) && !shown.contains(UInt8(ascii: "9")))
    }
  }

  @Test func noDocumentWithASecretShowsItWhereverItIsCut() {
    var random = SeededGenerator(seed: 13)
    for _ in 0..<2000 {
      let text = SecretMembersTests.document(&random, depth: 0)
      let whole = bytes(text)
      #expect((try? JSONReader.read(SecretMembers.redacted(whole))) != nil, "\(text)")
      let cut = SecretMembers.redacted(Array(whole[..<Int(random.next() % UInt64(whole.count + 1))]))
      for shown in [SecretMembers.redacted(whole), cut] {
        #expect(!shown.contains(UInt8(ascii: "Z")), "\(text) → \(String(decoding: shown, as: UTF8.self))")
      }
    }
  }

  /// Random JSON in which "Z" occurs only in secrets.
  private static func document(_ random: inout SeededGenerator, depth: Int) -> String {
    var writer = JSONWriter()
    for number in 0..<(1 + random.next() % 3) {
      let name = ["a", "b\"c", "é", "d\\", "x:y", "e=f"][Int(random.next() % 6)] + String(number)
      let secretName = ["token", "MyKey", "pass_password", "a\"secret\\"][Int(random.next() % 4)] + String(number)
      let secret = ["Z", "Z\"Z", "\\Z\\", "{Z:[", "Z}],Z", "é Z?Z=Z", "'Z'"][Int(random.next() % 7)]
      switch random.next() % 5 {
      case 0: writer.add(secretName, secret)
      case 1: writer.add(name, "https://h/p?q=" + (secret.utf8.contains { " \"'".utf8.contains($0) } ? "Z" : secret))
      case 2 where depth < 2: writer.add(name, document(&random, depth: depth + 1))
      case 3 where depth < 2:
        if let value = try? JSONReader.read(bytes(document(&random, depth: depth + 1))) {
          writer.add(random.next() % 2 == 0 ? name : secretName, value)
        }
      default: writer.add(name, ["", "plain", "a:b", "{\"", "'"][Int(random.next() % 5)])
      }
    }
    return writer.finished()
  }

  @Test func noBytesAtAllAreTooMuch() {
    var random = SeededGenerator(seed: 7)
    let alphabet = bytes("\"'\\:={}[]?&; tokenkeyZ\u{FF}")
    for _ in 0..<5000 {
      let text = (0..<(random.next() % 60)).map { _ in alphabet[Int(random.next() % UInt64(alphabet.count))] }
      _ = SecretMembers.redacted(text)
    }
  }
}
