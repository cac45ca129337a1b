import Testing
import UploadCore

/// RFC 9112, 6.3
struct ResponseBodyFramingTests {
  private func framing(
    _ fields: [Field], status: Int = 200, method: String = "POST"
  ) throws -> ResponseBodyFraming {
    try ResponseBodyFraming(of: ResponseHead(status: status, fields: fields), requestMethod: method)
  }

  private func lengths(_ values: [String]) -> [Field] { values.map { Field("Content-Length", $0) } }

  @Test func responsesWithoutContentHaveNoneWhateverTheirFieldsSay() throws {
    let fields = [Field("Transfer-Encoding", "chunked"), Field("Content-Length", "5")]
    #expect(try framing(fields, method: "HEAD") == .none)
    #expect(try framing(fields, status: 204) == .none)
    #expect(try framing(fields, status: 304) == .none)
    #expect(try framing(lengths(["not a number"]), status: 204) == .none)
  }

  @Test func chunkedWinsOverALength() throws {
    #expect(try framing([Field("Content-Length", "5"), Field("Transfer-Encoding", "chunked")]) == .chunked)
    #expect(try framing([Field("transfer-encoding", "Chunked ")]) == .chunked)
    #expect(try framing([Field("Transfer-Encoding", ", chunked,")]) == .chunked)
  }

  @Test(arguments: [
    "gzip, chunked", "chunked, gzip", "xchunked", "chunked, chunked", "gzip", "\"chunked\"",
  ])
  func otherTransferCodingsAreNotUnderstood(value: String) {
    #expect(throws: ResponseError.unsupportedTransferEncoding) { try framing([Field("Transfer-Encoding", value)]) }
  }

  /// It is from RFC 2616, and some servers still send it.
  @Test func identityIsNoCoding() throws {
    let identity = Field("Transfer-Encoding", "identity")
    #expect(try framing([identity, Field("Content-Length", "5")]) == .length(5))
    #expect(try framing([identity]) == .untilClose)
    #expect(try framing([Field("Transfer-Encoding", "identity, chunked")]) == .chunked)
  }

  @Test func twoFieldsWithTransferCodingsAreOneList() {
    #expect(throws: ResponseError.unsupportedTransferEncoding) {
      try framing([Field("Transfer-Encoding", "gzip"), Field("Transfer-Encoding", "chunked")])
    }
  }

  @Test(
    arguments: [
      (["0"], 0), (["5"], 5), (["007"], 7), (["5", "5"], 5), (["5, 5"], 5), (["5 ,\t5", "05"], 5),
      (["9223372036854775807"], Int64.max),
    ] as [([String], Int64)])
  func aLengthMayBeRepeatedButNotContradicted(values: [String], length: Int64) throws {
    #expect(try framing(lengths(values)) == .length(length))
  }

  @Test(arguments: [
    ["5", "6"], ["5, 6"], ["5", "5", "4"], [""], ["5,"], [",5"], ["-1"], ["+5"], ["5 5"], ["5.0"], ["0x5"], ["five"],
    ["5;a=b"], ["9223372036854775808"], ["18446744073709551621"], ["5", ""],
  ])
  func anythingElseIsAnInvalidLength(values: [String]) {
    #expect(throws: ResponseError.invalidContentLength) { try framing(lengths(values)) }
  }

  @Test func withoutALengthTheContentEndsWithTheConnection() throws {
    #expect(try framing([]) == .untilClose)
    #expect(try framing([Field("X-Content-Length", "5")], status: 500) == .untilClose)
  }
}
