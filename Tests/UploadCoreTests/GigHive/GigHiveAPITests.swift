import Testing

@testable import UploadCore

struct GigHiveAPITests {
  private func finalize(_ fields: [FormField], uploadID: String = "5e1f") -> String {
    String(decoding: GigHiveAPI.finalizeContent(uploadID: uploadID, fields: fields), as: UTF8.self)
  }

  @Test func aFinalizeNamesTheUploadAndTheFormsFields() {
    #expect(finalize([]) == #"{"upload_id":"5e1f"}"#)
    #expect(
      finalize([FormField("event_date", "2026-11-20"), FormField("label", "Set \"1\"\n"), FormField("rating", "5")])
        == #"{"upload_id":"5e1f","event_date":"2026-11-20","label":"Set \"1\"\n","rating":"5"}"#)
  }

  @Test func aLaterFieldOfTheSameNameReplacesTheEarlierOne() {
    #expect(
      finalize([FormField("label", "a"), FormField("notes", "b"), FormField("label", "c")])
        == #"{"upload_id":"5e1f","notes":"b","label":"c"}"#)
  }

  @Test func theConsentOfGuestsIsATruthValue() {
    #expect(finalize([FormField("tos_accepted", "true")]) == #"{"upload_id":"5e1f","tos_accepted":true}"#)
    #expect(finalize([FormField("tos_accepted", "yes")]) == #"{"upload_id":"5e1f","tos_accepted":"yes"}"#)
    #expect(finalize([FormField("label", "true")]) == #"{"upload_id":"5e1f","label":"true"}"#)
  }

  @Test func theContentIsJSONWhateverIsInAField() throws {
    let text = "\"\\\r\n\0\u{1B}\u{202E}音\u{1F3B8}"
    let json = try JSONReader.read(GigHiveAPI.finalizeContent(uploadID: text, fields: [FormField(text, text)]))
    #expect(json["upload_id"]?.string == text && json[text]?.string == text)
  }

  @Test(arguments: [
    ("mp4", true), ("", false), ("abcdefghijklmno6", true), ("abcdefghijklmnop7", false), ("m/4", false),
    ("m.4", false),
  ])
  func aRecordingsFileHasAnExtensionOfAtMost16LettersAndDigits(ending: String, isMedia: Bool) {
    let name = GigHive.sha256 + "." + ending
    let path = GigHiveAPI.mediaPath(fileType: "video", fileName: name, sha256: GigHive.sha256)
    #expect(path == (isMedia ? "video/" + name : nil))
  }
}
