import Testing
import UploadCore

/// Servers that violate HTTP, and the limits for them.
struct ExchangeHostileTests {
  @Test(
    arguments: [
      ("SSH-2.0-OpenSSH_9.6\r\n", .notHTTP), ("HTTP/2.0 200 OK\r\n\r\n", .notHTTP),
      ("\u{15}\u{3}\u{3}\0\u{2}", .notHTTP),
      ("http/1.1 200 OK\r\n\r\n", .notHTTP), ("HTTP/1.1  200 OK\r\n\r\n", .notHTTP), ("\r\n\r\nHTTP/1.1 200", .notHTTP),
      ("HTTP/1.1 200 O\rK\r\n\r\n", .invalidField),
      ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n 6\r\n\r\n", .invalidField),
      ("HTTP/1.1 200 OK\r\nContent-Length : 5\r\n\r\n", .invalidField),
      ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n", .invalidContentLength),
      ("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", .unsupportedTransferEncoding),
      ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n", .invalidChunk),
      ("HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\n\r\n", .unexpectedUpgrade),
    ] as [(String, ResponseError)])
  func aBrokenResponseIsAnErrorHoweverItArrives(text: String, error: ResponseError) {
    EverySplit.expect(.failed(error), from: bytes(text)) { reception(of: $0) }
  }

  @Test func anotherProtocolIsNoticedAtItsFirstWrongByte() {
    #expect(reception(of: "HTTP/1") == .needsMore)
    #expect(reception(of: "HTTP/2") == .failed(.notHTTP))
    #expect(reception(of: "2") == .failed(.notHTTP))
  }

  @Test func aHeadAtTheLimitIsTakenAndALongerOneIsNot() {
    // 17 bytes of status line, 3 + 2 around the value, 2 for the empty line
    let longest = Limits.responseHeadLength - 24
    func head(_ length: Int) -> String { "HTTP/1.1 204 OK\r\nX: \(filler(length))\r\n\r\n" }
    #expect(head(longest).utf8.count == 32 << 10)
    #expect(reception(of: head(longest)) == .complete(response(204, [Field("X", filler(longest))])))
    #expect(reception(of: head(longest + 1)) == .failed(.headTooLong(limit: 32 << 10)))
  }

  @Test func aHeadWithoutEndIsGivenUpAtTheLimit() {
    let start = "HTTP/1.1 200 "
    #expect(reception(of: start + filler((32 << 10) - start.utf8.count)) == .needsMore)
    #expect(reception(of: start + filler((32 << 10) - start.utf8.count + 1)) == .failed(.headTooLong(limit: 32 << 10)))
  }

  /// A server that works for hours sends many, of which each is short.
  @Test func theBytesOfInterimResponsesAreCounted() {
    let interim = "HTTP/1.1 102 Processing\r\n\r\n"
    let most = Limits.interimLength / interim.utf8.count
    func text(_ count: Int) -> String { String(repeating: interim, count: count) + "HTTP/1.1 204 OK\r\n\r\n" }
    #expect(reception(of: text(most)) == .complete(response(204)))
    #expect(reception(of: text(most + 1)) == .failed(.tooManyInterimResponses(limit: Limits.interimLength)))
  }

  @Test func contentUpToTheLimitIsKeptWhole() {
    let most = Limits.replyLength
    let fields = { (count: Int) in [Field("Content-Length", String(count))] }
    func text(_ count: Int) -> String { "HTTP/1.1 200 OK\r\nContent-Length: \(count)\r\n\r\n" + filler(count) }
    #expect(reception(of: text(most)) == .complete(response(200, fields(most), filler(most))))
    let longer = response(200, fields(most + 1), filler(most), isTruncated: true)
    #expect(reception(of: text(most + 1)) == .complete(longer))
  }

  @Test(arguments: ["Content-Length: 99999999", "X: close-delimited", "Transfer-Encoding: chunked"])
  func contentWithoutEndIsReadOnlySoFar(field: String) throws {
    let head = "HTTP/1.1 413 No\r\n\(field)\r\n\r\n" + (field.hasSuffix("chunked") ? "5f5e0ff\r\n" : "")
    let most = Limits.replyLength + Int(Limits.replyDrainLength)
    var exchange = Exchange.afterSending()
    try exchange.receive(head + filler(most))
    #expect(exchange.finalResponse == nil)
    try exchange.receive("a")
    let response = try #require(exchange.finalResponse)
    #expect(response.isTruncated && response.content == bytes(filler(Limits.replyLength)))
    #expect(!exchange.canReuseConnection)
  }

  @Test func aLengthOverEveryFileIsStillALength() {
    let text = "HTTP/1.1 200 OK\r\nContent-Length: 9223372036854775807\r\n\r\nabc"
    #expect(reception(of: text) == .needsMore)
    #expect(reception(of: text, connectionEnds: true) == .failed(.incomplete))
  }
}
