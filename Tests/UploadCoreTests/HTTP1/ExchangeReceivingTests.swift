import Testing
import UploadCore

/// Complete responses, each split in every way.
struct ExchangeReceivingTests {
  @Test(arguments: [
    (
      "HTTP/1.1 201 Created\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nhello",
      response(201, [Field("Content-Type", "text/plain"), Field("Content-Length", "5")], "hello")
    ),
    ("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", response(200, [Field("Content-Length", "0")])),
    // What looks like a response is content.
    (
      "HTTP/1.1 200 OK\r\nContent-Length: 38\r\n\r\nHTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n",
      response(200, [Field("Content-Length", "38")], "HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n")
    ),
    // Chunks, extensions and trailers.
    (
      """
      HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\n\r\n5;name=value;quoted="a;b"\r\nhello\r\n1 \r\n,\r\n006\r\n \
      world\r\n000;last\r\nDigest: none\r\nX-Trailer: \r\n\r\n
      """, response(201, [Field("Transfer-Encoding", "chunked")], "hello, world")
    ),
    (
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
      response(200, [Field("Transfer-Encoding", "chunked")])
    ),
    // Lines may end in a line feed alone.
    (
      "HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n2\nok\n0\nX: y\n\n",
      response(200, [Field("Transfer-Encoding", "chunked")], "ok")
    ),
    // Interim responses come first.
    (
      """
      HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\nContent-Length: 9\r\n\r\nHTTP/1.1 104 \
      Upload Resumption Supported\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok
      """, response(200, [Field("Content-Length", "2")], "ok")
    ),
    (
      "HTTP/1.0 404 Not Found\r\nContent-Length: 4\r\n\r\ngone",
      response(404, [Field("Content-Length", "4")], "gone", minorVersion: 0)
    ),
    // A stray line end after the previous response.
    (
      "\r\nHTTP/1.1 200 \r\nContent-Length: 1\r\n\r\n!",
      response(200, [Field("Content-Length", "1")], "!")
    ),
  ])
  func aResponseIsTheSameHoweverItArrives(text: String, expected: Response) {
    EverySplit.expect(.complete(expected), from: bytes(text)) { reception(of: $0) }
  }

  @Test func aResponseWithoutLengthEndsWithTheConnection() {
    let sample = bytes("HTTP/1.1 200 OK\r\nServer: x\r\n\r\nall\r\n\r\nof it")
    let expected = response(200, [Field("Server", "x")], "all\r\n\r\nof it")
    EverySplit.expect(.complete(expected), from: sample, trailing: []) { reception(of: $0, connectionEnds: true) }
    EverySplit.expect(.needsMore, from: sample, trailing: []) { reception(of: $0) }
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
