import Testing

@testable import UploadCore

struct TusFieldsTests {
  /// The specification's own example (tus 1.0.0, "Upload-Metadata").
  @Test func metadataIsPairsOfAKeyAndTheBase64OfItsValue() throws {
    let pairs = [FormField("filename", "world_domination_plan.pdf"), FormField("is_confidential", "")]
    #expect(try TusFields.metadata(pairs) == "filename d29ybGRfZG9taW5hdGlvbl9wbGFuLnBkZg==,is_confidential")
  }

  @Test func noMetadataIsAnEmptyText() throws {
    #expect(try TusFields.metadata([]).isEmpty)
  }

  @Test func valuesAreAnyText() throws {
    let pairs = [FormField("label", "Grüße, 音\r\nX: y\0")]
    #expect(try TusFields.metadata(pairs) == "label R3LDvMOfZSwg6Z+zDQpYOiB5AA==")
  }

  @Test func aLaterValueOfTheSameKeyReplacesTheEarlierOne() throws {
    let pairs = [FormField("a", "1"), FormField("b", "2"), FormField("a", "3")]
    #expect(try TusFields.metadata(pairs) == "b Mg==,a Mw==")
  }

  @Test(arguments: ["a", "~!#$%&'*+-.^_`|", "a;b=\"c\"", String(repeating: "k", count: 300)])
  func aKeyIsVisibleASCIIWithoutCommas(key: String) throws {
    #expect(try TusFields.metadata([FormField(key, "")]) == key)
  }

  @Test(arguments: ["", " ", "a b", "a,b", "a\tb", "a\r\nX: y", "\u{7F}", "größe", "a\0"])
  func otherKeysAreRefused(key: String) {
    #expect {
      try TusFields.metadata([FormField("fine", "x"), FormField(key, "")])
    } throws: { error in
      guard case TusError.invalidMetadataKey(let text) = error else { return false }
      return text == PrintableText.line(key)
    }
  }
}

/// Parsing a server's response to OPTIONS.
struct TusCapabilitiesTests {
  private func offer(_ fields: KeyValuePairs<String, String>) throws -> TusCapabilities {
    try #require(try TusCapabilities(fields.map { Field($0.key, $0.value) }))
  }

  @Test func aServerWithoutExtensionsOffersNothing() throws {
    #expect(try offer(["Tus-Resumable": "1.0.0", "Tus-Version": "1.0.0"]) == TusCapabilities())
  }

  /// The response of tusd 2.
  @Test func extensionsAreFoundInTheirList() throws {
    let offer = try offer([
      "Tus-Resumable": "1.0.0", "Tus-Version": "1.0.0", "Tus-Max-Size": "5368709120",
      "Tus-Extension": "creation,creation-with-upload,termination,concatenation,creation-defer-length",
    ])
    #expect(offer.createsWithUpload && offer.defersLength && offer.terminates)
    #expect(offer.maximumSize == 5_368_709_120 && offer.checksum == nil)
  }

  @Test func extensionsAreTakenWhole() throws {
    let offer = try offer([
      "Tus-Version": "1.0.0", "Tus-Extension": "creation-with-uploads, xtermination,creation defer length",
    ])
    #expect(offer == TusCapabilities())
  }

  @Test(arguments: ["0.2.2,1.0.0", "1.0.0, 0.2.2", "1.1.0 ,1.0.0"])
  func oneOfSeveralVersionsIsEnough(versions: String) throws {
    #expect(try offer(["Tus-Version": versions]) == TusCapabilities())
  }

  /// Some servers give the version only in Tus-Resumable.
  @Test func aServerNeedNotListItsVersions() throws {
    #expect(try offer(["Tus-Resumable": "1.0.0"]) == TusCapabilities())
  }

  @Test(arguments: ["0.2.2", "2.0.0,1.0.1", "1.0"])
  func otherVersionsAreNotSpoken(versions: String) {
    #expect {
      try offer(["Tus-Version": versions])
    } throws: { error in
      guard case TusError.versionNotSupported(let offered) = error else { return false }
      return offered.split(separator: ", ").joined(separator: ",") == versions
    }
  }

  @Test(
    arguments: [
      ("checksum", "sha1", .sha1), ("checksum", "sha1,sha256", .sha256), ("checksum", "md5, SHA256 ,crc32", .sha256),
      ("checksum", "md5,crc32", nil), ("checksum", "", nil), ("checksum-trailer", "sha1", nil),
    ] as [(String, String, TusCapabilities.ChecksumAlgorithm?)])
  func theBestChecksumThatBothKnowIsUsed(
    name: String, algorithms: String, best: TusCapabilities.ChecksumAlgorithm?
  ) throws {
    let offer = try offer([
      "Tus-Version": "1.0.0", "Tus-Extension": "creation," + name, "Tus-Checksum-Algorithm": algorithms,
    ])
    #expect(offer.checksum == best)
  }

  @Test(arguments: ["", "0", "-1", "1e9", "many", "99999999999999999999", " "])
  func anInvalidLimitLimitsNothing(text: String) throws {
    let offer = try offer(["Tus-Version": "1.0.0", "Tus-Max-Size": text])
    #expect(offer.maximumSize == nil)
  }
}
