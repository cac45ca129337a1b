import Testing
import UploadCore

/// Complete responses, each split in every way.
struct ExchangeReceivingTests {
  @Test func aResponseWithContentLengthEndsAfterThatManyBytes() {
    let sample = bytes("HTTP/1.1 201 Created\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nhello")
    let fields = [Field("Content-Type", "text/plain"), Field("Content-Length", "5")]
    EverySplit.expect(.complete(response(201, fields, "hello")), from: sample) { reception(of: $0) }
  }

  @Test func aChunkedResponseEndsAfterItsTrailers() {
    let sample = bytes(
      "HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\n\r\n"
        + "5;name=value;quoted=\"a;b\"\r\nhello\r\n1 \r\n,\r\n006\r\n world\r\n000;last\r\n"
        + "Digest: none\r\nX-Trailer: \r\n\r\n")
    let expected = response(201, [Field("Transfer-Encoding", "chunked")], "hello, world")
    EverySplit.expect(.complete(expected), from: sample) { reception(of: $0) }
  }

  @Test func aResponseWithoutLengthEndsWithTheConnection() {
    let sample = bytes("HTTP/1.1 200 OK\r\nServer: x\r\n\r\nall\r\n\r\nof it")
    let expected = response(200, [Field("Server", "x")], "all\r\n\r\nof it")
    EverySplit.expect(.complete(expected), from: sample, trailing: []) { reception(of: $0, connectionEnds: true) }
    EverySplit.expect(.needsMore, from: sample, trailing: []) { reception(of: $0) }
  }

  @Test func interimResponsesComeBeforeTheFinalOneAndAreNotIt() {
    let sample = bytes(
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\nContent-Length: 9\r\n\r\n"
        + "HTTP/1.1 104 Upload Resumption Supported\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
    let expected = response(200, [Field("Content-Length", "2")], "ok")
    EverySplit.expect(.complete(expected), from: sample) { reception(of: $0) }
  }

  @Test func aResponseOfHTTP10IsUnderstood() {
    let sample = bytes("HTTP/1.0 404 Not Found\r\nContent-Length: 4\r\n\r\ngone")
    let expected = response(404, [Field("Content-Length", "4")], "gone", minorVersion: 0)
    EverySplit.expect(.complete(expected), from: sample) { reception(of: $0) }
  }

  @Test func emptyContentIsComplete() {
    let length = bytes("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
    EverySplit.expect(.complete(response(200, [Field("Content-Length", "0")])), from: length) { reception(of: $0) }
    let chunked = bytes("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n")
    let expected = response(200, [Field("Transfer-Encoding", "chunked")])
    EverySplit.expect(.complete(expected), from: chunked) { reception(of: $0) }
  }

  @Test func linesMayEndInLineFeedAlone() {
    let sample = bytes("HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n2\nok\n0\nX: y\n\n")
    let expected = response(200, [Field("Transfer-Encoding", "chunked")], "ok")
    EverySplit.expect(.complete(expected), from: sample) { reception(of: $0) }
  }

  @Test func aStrayLineEndAfterThePreviousResponseIsSkipped() {
    let sample = bytes("\r\nHTTP/1.1 200 \r\nContent-Length: 1\r\n\r\n!")
    EverySplit.expect(.complete(response(200, [Field("Content-Length", "1")], "!")), from: sample) {
      reception(of: $0)
    }
  }

  @Test func contentThatLooksLikeAResponseIsContent() {
    let inner = "HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n"
    let sample = bytes("HTTP/1.1 200 OK\r\nContent-Length: \(inner.utf8.count)\r\n\r\n" + inner)
    let expected = response(200, [Field("Content-Length", "38")], inner)
    #expect(inner.utf8.count == 38)
    EverySplit.expect(.complete(expected), from: sample) { reception(of: $0) }
  }

  @Test(arguments: [
    "", "\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel", "HTTP/1.1 100 Continue\r\n\r\n",
  ])
  func aResponseThatEndsEarlyIsIncomplete(text: String) {
    #expect(reception(of: text) == .needsMore)
    #expect(reception(of: text, connectionEnds: true) == .failed(.incomplete))
  }

  @Test func theEndOfTheConnectionAfterAWholeResponseIsNoError() {
    let text = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
    #expect(
      reception(of: text, connectionEnds: true) == .complete(response(200, [Field("Content-Length", "2")], "ok")))
  }
}
