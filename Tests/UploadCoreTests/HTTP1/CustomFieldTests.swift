import Testing

@testable import UploadCore

struct CustomFieldTests {
  private func parse(_ line: String) throws(CustomFieldError) -> CustomField {
    try CustomField(line: Array(line.utf8))
  }

  @Test(arguments: [
    ("X-Team: sound", "X-Team", "sound"), ("X-Team:sound", "X-Team", "sound"),
    ("X-Team: \t sound \t", "X-Team", "sound"),
    ("X-Empty:", "X-Empty", ""), ("a!#$%&'*+-.^_`|~9: b:c", "a!#$%&'*+-.^_`|~9", "b:c"),
    ("X-Name: Zoë", "X-Name", "Zoë"),
    ("User-Agent: radio/2", "User-Agent", "radio/2"), ("CF-Access-Client-Id: 1", "CF-Access-Client-Id", "1"),
  ])
  func aFieldHasANameAndAValue(line: String, name: String, value: String) throws {
    let field = try parse(line)
    #expect(field.name == name && field.value == value && field.field.isSendable)
  }

  /// Whatever is cut off, an incomplete line is either refused or sendable.
  @Test func everyBeginningOfALineIsRefusedOrSendable() {
    let line = Array("X-Team: sound and light".utf8)
    for length in 0...line.count {
      do throws(CustomFieldError) {
        let field = try CustomField(line: Array(line.prefix(length)))
        #expect(length > 6 && field.field.isSendable)
      } catch { #expect(length <= 6 && error == .noColon) }
    }
  }

  @Test(arguments: ["", " ", "\t"])
  func aLineWithoutAColonIsRefused(line: String) {
    #expect(throws: CustomFieldError.noColon) { try parse(line) }
  }

  @Test func everyByteThatIsNoTokenCharacterIsRefusedInAName() {
    for byte in UInt8.min...UInt8.max where !ASCII.isTokenCharacter(byte) && byte != ASCII.colon {
      for line in [[0x41, byte, 0x42, ASCII.colon, 0x43], [byte, ASCII.colon, 0x43], [0x41, byte, ASCII.colon]]
        as [[UInt8]]
      {
        #expect(throws: CustomFieldError.invalidName) { try CustomField(line: line) }
      }
    }
    #expect(throws: CustomFieldError.invalidName) { try parse(": value") }
  }

  @Test func everyControlCharacterIsRefusedInAValue() {
    for byte in (UInt8.min...UInt8.max).filter(ASCII.isControl) {
      #expect(throws: CustomFieldError.invalidValue(name: "A")) {
        try CustomField(line: Array("A: b".utf8) + [byte] + Array("c".utf8))
      }
    }
    #expect(throws: CustomFieldError.invalidValue(name: "X")) { try parse("X: a\r\nAuthorization: b") }
    #expect(throws: CustomFieldError.invalidValue(name: "X")) { try parse("X: a\n") }
  }

  @Test func aValueThatIsNotUTF8IsRefused() {
    #expect(throws: CustomFieldError.invalidValue(name: "A")) { try CustomField(line: Array("A: ".utf8) + [0xFF]) }
  }

  @Test(arguments: [
    "Host", "Content-Length", "Content-Type", "Content-Encoding", "Transfer-Encoding", "TE", "Trailer", "Connection",
    "Keep-Alive", "Upgrade", "Expect", "Accept", "Accept-Encoding", "Proxy-Authorization", "Proxy-Connection",
    "Tus-Resumable", "Tus-Anything", "Upload-Offset", "Upload-Anything", "X-HTTP-Method-Override",
  ])
  func aFieldOfTheProtocolIsReserved(name: String) {
    for form in [name, ASCII.lowercased(name), name.uppercased(), String(name.map { $0 == "-" ? "_" : $0 })] {
      #expect(throws: CustomFieldError.reserved(name: form)) { try parse(form + ": 1") }
      #expect(throws: CustomFieldError.reserved(name: form)) { try CustomField(form, "1") }
    }
  }

  @Test(arguments: [
    "Authorization", "Cookie", "X-Upload-Token", "apikey", "X-API-Key", "x_api_key", "X-ApiKey", "PRIVATE-TOKEN",
    "CF-Access-Client-Secret", "X-Password", "X-Forwarded-Authorization",
  ])
  func aFieldWithASecretBelongsToTheCredentials(name: String) throws {
    let field = try CustomField(name, "1")
    #expect(CustomField.problem(in: [field], with: .none) == .secret(name: name))
    #expect(CustomField.problem(in: [], with: .headers([field], and: .none)) == nil)
  }

  @Test(arguments: ["Keyboard", "Token", "X-Key-Id", "X-Team", "Monkey"])
  func otherFieldsAreNoSecrets(name: String) throws {
    #expect(CustomField.problem(in: [try CustomField(name, "1")], with: .none) == nil)
  }

  @Test func aNameOfTheCredentialsOccursOnce() throws {
    let authorization = try CustomField("authorization", "Bearer abc")
    let twice = Credentials.headers([authorization, authorization], and: .none)
    #expect(CustomField.problem(in: [], with: twice) == .repeated(name: "authorization"))
    let both = Credentials.headers([authorization], and: .basic(user: "a", password: "b"))
    #expect(CustomField.problem(in: [], with: both) == .repeated(name: "authorization"))
    let team = try CustomField("X-Team", "1")
    #expect(CustomField.problem(in: [team], with: .headers([team], and: .none)) == .repeated(name: "X-Team"))
    #expect(CustomField.problem(in: [team, team], with: .none) == nil)
    let agent = try CustomField("user-agent", "1")
    #expect(CustomField.problem(in: [agent, agent], with: .none) == .repeated(name: "User-Agent"))
  }

  @Test func theLengthIsLimitedForOneFieldAndForAll() throws {
    let limit = Limits.ownFieldsLength
    let longest = try CustomField("X", String(repeating: "a", count: limit - 1))
    #expect(CustomField.problem(in: [longest], with: .headers([try CustomField("Y", "")], and: .none)) == nil)
    #expect(throws: CustomFieldError.tooLong(limit: limit)) {
      try CustomField("X", String(repeating: "a", count: limit))
    }
    let more = try CustomField("Y", "")
    #expect(CustomField.problem(in: [longest, more], with: .none) == .tooLong(limit: limit))
    #expect(CustomField.problem(in: [], with: .headers([longest, more], and: .none)) == .tooLong(limit: limit))
  }
}
