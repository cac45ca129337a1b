import Testing
import UploadCore

struct FormDataTests {
  private let boundary = Boundary(random: Array(0...15))
  private let file = FilePart(name: "file", fileName: "set 1.mp4", mediaType: "video/mp4")

  private func body(_ fields: [FormField] = [], _ file: FilePart? = nil, fileLength: Int64 = 3) throws -> RequestBody {
    try FormData.body(fields: fields, file: file ?? self.file, fileLength: fileLength, boundary: boundary)
  }

  /// A body without text fields whose file has this name: the line that carries the name.
  private func nameLine(_ fileName: String) throws -> [UInt8] {
    let header = try body([], FilePart(name: "file", fileName: fileName, mediaType: "audio/wav")).header
    return Array(header.split(separator: 0x0A)[1])
  }

  @Test func aWholeBodyIsFieldsThenFileThenTheClosingBoundary() throws {
    let body = try body(
      [FormField("event_date", "2026-11-20"), FormField("label", "Grüße\r\n--x")], fileLength: 5_000_000_000)
    let header =
      "------GigHive-000102030405060708090a0b0c0d0e0f\r\n"
      + "Content-Disposition: form-data; name=\"event_date\"\r\n\r\n2026-11-20\r\n"
      + "------GigHive-000102030405060708090a0b0c0d0e0f\r\n"
      + "Content-Disposition: form-data; name=\"label\"\r\n\r\nGrüße\r\n--x\r\n"
      + "------GigHive-000102030405060708090a0b0c0d0e0f\r\n"
      + "Content-Disposition: form-data; name=\"file\"; filename=\"set 1.mp4\"\r\nContent-Type: video/mp4\r\n\r\n"
    let footer = "\r\n------GigHive-000102030405060708090a0b0c0d0e0f--\r\n"
    #expect(body.header == bytes(header))
    #expect(body.footer == bytes(footer))
    #expect(body.length == 5_000_000_000 + Int64(header.utf8.count + footer.utf8.count))
  }

  @Test func theContentTypeNamesTheBoundary() {
    let expected = "multipart/form-data; boundary=----GigHive-000102030405060708090a0b0c0d0e0f"
    #expect(FormData.contentType(boundary) == expected)
  }

  /// The HTML standard's rules; RFC 7578, 4.2 forbids `filename*`.
  @Test(arguments: [
    ("a\"b.mp4", "a%22b.mp4"), ("a\r\nb.mp4", "a%0D%0Ab.mp4"), ("a\nb", "a%0Ab"), ("a\rb", "a%0Db"), ("a;b=c", "a;b=c"),
    ("a\\b", "a\\b"), ("100%22.wav", "100%22.wav"), ("🎸 Größe 音", "🎸 Größe 音"), ("a\tb\u{1}", "a\tb\u{1}"), ("", ""),
    ("\"; name=\"evil", "%22; name=%22evil"), ("x\r\n\r\n--", "x%0D%0A%0D%0A--"),
  ])
  func aFileNameCannotLeaveItsQuotes(name: String, escaped: String) throws {
    let expected = "Content-Disposition: form-data; name=\"file\"; filename=\"" + escaped + "\"\r"
    #expect(try nameLine(name) == bytes(expected))
  }

  @Test func aFileNameOf255BytesGoesWhole() throws {
    let name = String(repeating: "🎸", count: 63) + "abc"
    #expect(name.utf8.count == 255)
    let expected = "Content-Disposition: form-data; name=\"file\"; filename=\"" + name + "\"\r"
    #expect(try nameLine(name) == bytes(expected))
  }

  @Test func aFieldNameCannotLeaveItsQuotes() throws {
    let header = try body([FormField("a\"\r\nb", "c")]).header
    let expected =
      "------GigHive-000102030405060708090a0b0c0d0e0f\r\nContent-Disposition: form-data; name=\"a%22%0D%0Ab\"\r\n\r\nc\r\n"
    #expect(header.starts(with: bytes(expected)))
  }

  @Test func thePartsNameIsEscapedToo() throws {
    let header = try body([], FilePart(name: "f\"\n", fileName: "n", mediaType: "a/b")).header
    let expected =
      "------GigHive-000102030405060708090a0b0c0d0e0f\r\nContent-Disposition: form-data; name=\"f%22%0A\"; filename=\"n\"\r\n"
      + "Content-Type: a/b\r\n\r\n"
    #expect(header == bytes(expected))
  }

  @Test(arguments: ["video/mp4\r\nX: y", "video/mp4\n", "video\0/mp4", "a/b\u{7F}"])
  func aMediaTypeCannotInjectALine(mediaType: String) {
    #expect(throws: FormDataError.invalidMediaType(mediaType)) {
      try body([], FilePart(name: "file", fileName: "n", mediaType: mediaType))
    }
  }

  @Test func fieldsAtTheLimitAreTakenAndLongerOnesAreNot() throws {
    let framing =
      "------GigHive-000102030405060708090a0b0c0d0e0f\r\nContent-Disposition: form-data; name=\"notes\"\r\n\r\n\r\n"
      + "------GigHive-000102030405060708090a0b0c0d0e0f\r\n"
      + "Content-Disposition: form-data; name=\"file\"; filename=\"set 1.mp4\"\r\nContent-Type: video/mp4\r\n\r\n"
    let longest = Limits.formLength - framing.utf8.count
    #expect(try body([FormField("notes", filler(longest))]).header.count == 64 << 10)
    #expect(throws: FormDataError.fieldsTooLong(limit: 64 << 10)) {
      try body([FormField("notes", filler(longest + 1))])
    }
  }
}
