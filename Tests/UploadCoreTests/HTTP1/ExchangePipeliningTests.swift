import Testing
import UploadCore

/// Two requests on one connection, the second sent before the first is answered: whose are the bytes that arrive?
struct ExchangePipeliningTests {
  private struct Outcome: Equatable {
    var first: Reception
    var second: Reception
    var canReuse: Bool
  }

  /// Feeds a delivery to an exchange, and what that does not take to the one behind it.
  private func receive(_ delivery: Delivery, methods: (String, String) = ("PATCH", "PATCH")) -> Outcome {
    var (first, second) = (Exchange.afterSending(method: methods.0), Exchange.afterSending(method: methods.1))
    first.hasSuccessor = true
    var failure: Reception?
    do throws(ResponseError) {
      try delivery.each { (piece) throws(ResponseError) in
        var rest = piece
        if first.finalResponse == nil { rest = UnsafeRawBufferPointer(rebasing: rest[(try first.receive(rest))...]) }
        if first.finalResponse != nil, !rest.isEmpty { try second.receive(rest) }
      }
    } catch { failure = .failed(error) }
    return Outcome(
      first: failure ?? first.reception, second: failure ?? second.reception,
      canReuse: first.canReuseConnection && second.canReuseConnection)
  }

  private let stored = "HTTP/1.1 204 No Content\r\nUpload-Offset: 4\r\n\r\n"
  private var storedResponse: Response { response(204, [Field("Upload-Offset", "4")]) }

  @Test(arguments: [
    "HTTP/1.1 204 No Content\r\nUpload-Offset: 8\r\n\r\n", "HTTP/1.1 409 Conflict\r\nContent-Length: 2\r\n\r\nno",
    "HTTP/1.1 404 Gone\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nHTTP\r\n0\r\n\r\n",
    "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
  ])
  func theFirstAnswerEndsWhereTheSecondBegins(second: String) {
    let alone = reception(of: second)
    let expected = Outcome(first: .complete(storedResponse), second: alone, canReuse: true)
    // Nothing may trail: it would be a third answer's.
    EverySplit.expect(expected, from: bytes(stored + second), trailing: []) { receive($0) }
  }

  @Test(arguments: [
    "HTTP/1.1 409 Conflict\r\nContent-Length: 2\r\n\r\nno", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
    "HTTP/1.1 413 Too Large\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\nbig\r\n0\r\nX: y\r\n\r\n",
    "HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 500 No\r\nContent-Length: 1\r\n\r\n!",
  ])
  func theSecondAnswerBeginsWhereTheFirstEnds(first: String) {
    let expected = Outcome(first: reception(of: first), second: .complete(storedResponse), canReuse: true)
    EverySplit.expect(expected, from: bytes(first + stored), trailing: []) { receive($0) }
  }

  @Test func theMethodOfEachDecidesWhetherItsAnswerHasContent() {
    let head = "HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n"
    let expected = Outcome(
      first: .complete(response(200, [Field("Content-Length", "50")])), second: .complete(storedResponse),
      canReuse: true)
    EverySplit.expect(expected, from: bytes(head + stored), trailing: []) { receive($0, methods: ("HEAD", "PATCH")) }
  }

  @Test func aSecondAnswerThatIsCutIsStillAwaited() {
    let expected = Outcome(first: .complete(storedResponse), second: .needsMore, canReuse: false)
    EverySplit.expect(expected, from: bytes(stored + "HTTP/1.1 204 No Content\r\nUpload-Off"), trailing: []) {
      receive($0)
    }
  }

  /// RFC 9112, 9.6: behind such an answer there is no other.
  @Test(arguments: ["Connection: close\r\n", "Connection: x, close\r\n"])
  func behindTheEndOfTheConnectionThereIsNoSecondAnswer(field: String) {
    var first = Exchange.afterSending(method: "PATCH")
    first.hasSuccessor = true
    let text = bytes("HTTP/1.1 204 No Content\r\n\(field)\r\n" + stored)
    let taken = text.withUnsafeBytes { try? first.receive($0) }
    #expect(taken == text.count)
    #expect(first.endsConnection && first.finalResponse?.status == 204 && !first.canReuseConnection)
  }

  @Test func anAnswerEndsTheConnectionOnlyOnceItIsWhole() throws {
    var first = Exchange.afterSending(method: "PATCH")
    first.hasSuccessor = true
    try first.receive("HTTP/1.1 409 Conflict\r\nConnection: close\r\nContent-Length: 2\r\n\r\n")
    #expect(!first.endsConnection)
    try first.receive("no")
    #expect(first.endsConnection)
  }

  @Test func withoutAFollowerTrailingBytesAreNobodys() throws {
    var only = Exchange.afterSending(method: "PATCH")
    let text = bytes(stored + stored)
    let taken = text.withUnsafeBytes { try? only.receive($0) }
    #expect(taken == text.count && only.endsConnection)
  }
}
