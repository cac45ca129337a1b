import Testing
import UploadCore

/// The order of events in an exchange.
struct ExchangeTests {
  private let created = "HTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\nok"

  // MARK: Sending

  @Test func otherInterimResponsesDoNotStartTheBody() throws {
    var exchange = Exchange(method: "POST", expectsContinue: true)
    exchange.headWasSent(continueDeadlineMilliseconds: 500)
    try exchange.receive("HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 104 Resumable\r\n\r\n")
    #expect(exchange.sending == .awaitingContinue(untilMilliseconds: 500))
  }

  @Test func aLate100ContinueChangesNothing() throws {
    var exchange = Exchange(method: "POST", expectsContinue: true)
    exchange.headWasSent(continueDeadlineMilliseconds: 500)
    exchange.tick(nowMilliseconds: 500)
    exchange.bodyWasSent()
    try exchange.receive("HTTP/1.1 100 Continue\r\n\r\n")
    #expect(exchange.sending == .finished)
    try exchange.receive(created)
    #expect(exchange.reception == .complete(response(201, [Field("Content-Length", "2")], "ok")))
  }

  @Test(arguments: [false, true])
  func aFinalAnswerBeforeTheBodyIsOutStopsTheSending(expectsContinue: Bool) throws {
    var exchange = Exchange(method: "POST", expectsContinue: expectsContinue)
    exchange.headWasSent(continueDeadlineMilliseconds: 500)
    try exchange.receive("HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\n\r\n")
    #expect(exchange.sending == .stopped)
    #expect(exchange.finalResponse == nil)
    try exchange.receive("big")
    #expect(exchange.reception == .complete(response(413, [Field("Content-Length", "3")], "big")))
    exchange.tick(nowMilliseconds: 500)
    exchange.bodyWasSent()
    #expect(exchange.sending == .stopped)
  }

  @Test func anAnswerBeforeTheHeadIsOutStopsTheSending() throws {
    var exchange = Exchange(method: "POST", expectsContinue: false)
    try exchange.receive("HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n")
    exchange.headWasSent(continueDeadlineMilliseconds: 500)
    #expect(exchange.sending == .stopped)
  }

  // MARK: What has arrived

  @Test func aRefusalCountsAsSoonAsItsHeadIsThere() throws {
    var exchange = Exchange.afterSending()
    try exchange.receive("HTTP/1.1 401 Unauthorized\r\nContent-Length: 100\r\n")
    #expect(exchange.refusalSoFar == nil)
    try exchange.receive("\r\nNot")
    #expect(exchange.refusalSoFar?.content == bytes("Not") && exchange.refusalSoFar?.isCut == true)
    #expect(exchange.finalResponse == nil)
  }

  @Test func aRedirectionIsARefusalAndASuccessIsNone() throws {
    var moved = Exchange.afterSending()
    try moved.receive("HTTP/1.1 302 Found\r\nLocation: /login\r\n\r\n")
    #expect(moved.refusalSoFar?.status == 302)
    var created = Exchange.afterSending()
    try created.receive("HTTP/1.1 201 Created\r\nContent-Length: 100\r\n\r\nhalf")
    #expect(created.refusalSoFar == nil)
  }

  @Test func receivingBeginsWithTheFirstByteOfAHead() throws {
    var exchange = Exchange.afterSending()
    #expect(!exchange.hasResponseStarted)
    try exchange.receive("\r\n")
    #expect(!exchange.hasResponseStarted)
    try exchange.receive("H")
    #expect(exchange.hasResponseStarted)
    try exchange.receive("TTP/1.1 100 Continue\r\n\r\n")
    #expect(exchange.hasResponseStarted)
  }

  // MARK: Reuse (RFC 9112, 9.3 and 9.6)

  private func canReuse(after text: String, method: String = "POST", sent: Bool = true) throws -> Bool {
    var exchange = sent ? Exchange.afterSending(method: method) : Exchange(method: method, expectsContinue: false)
    if !sent { exchange.headWasSent(continueDeadlineMilliseconds: 0) }
    try exchange.receive(text)
    return exchange.canReuseConnection
  }

  @Test(arguments: [
    "HTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\nok", "HTTP/1.1 204 No Content\r\n\r\n",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 0\r\n\r\n",
    "HTTP/1.1 400 Bad\r\nConnection: keep-alive\r\nContent-Length: 0\r\n\r\n",
  ])
  func aConnectionIsKeptAfterAWholeExchange(text: String) throws {
    #expect(try canReuse(after: text))
  }

  @Test(arguments: [
    "HTTP/1.1 201 Created\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok",
    "HTTP/1.1 201 Created\r\nConnection: x, CLOSE\r\nContent-Length: 2\r\n\r\nok",
    "HTTP/1.1 201 Created\r\nConnection: keep-alive\r\nconnection: close\r\nContent-Length: 2\r\n\r\nok",
    "HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n",
    "HTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\nok!",
    "HTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\no",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n0\r\n\r\n",
    // RFC 9112, 6.1: the framing of such a message is to be taken as faulty.
    "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
  ])
  func aConnectionThatEndsOrIsInDoubtIsNotKept(text: String) throws {
    #expect(try !canReuse(after: text))
  }

  @Test func aConnectionIsNotKeptWhenTheRequestWasNotSentWhole() throws {
    #expect(try !canReuse(after: "HTTP/1.1 401 No\r\nContent-Length: 0\r\n\r\n", sent: false))
  }
}
