import Testing
import UploadCore

/// Two requests on one connection, and which response belongs to which.
struct PipelineTests {
  /// The result of feeding bytes to a pipeline.
  private enum Outcome: Equatable {
    /// The responses with the names of their requests, and whether one is incomplete.
    case answers([String], isPartial: Bool)
    case failed(ResponseError)
  }

  private let head = "PATCH /first HTTP/1.1\r\n\r\n"
  private var headLength: Int64 { Int64(head.utf8.count) }

  private func request(_ name: String = "first", method: String = "PATCH", length: Int64 = 100) -> WireRequest {
    WireRequest(
      head: bytes(head.split(separator: " ")[0] + " /" + name + " HTTP/1.1\r\n\r\n"),
      body: RequestBody(fileLength: length), exchange: Exchange(method: method, expectsContinue: false))
  }

  /// The current request was sent.
  private func send(_ pipeline: inout Pipeline) {
    pipeline.current.exchange.headWasSent(continueDeadlineMilliseconds: 0)
    pipeline.current.exchange.bodyWasSent()
  }

  private func one(method: String = "PATCH") -> Pipeline {
    var pipeline = Pipeline(request(method: method))
    send(&pipeline)
    return pipeline
  }

  /// Two requests, the second one pipelined.
  private func two(isSecondSent: Bool = true) -> Pipeline {
    var pipeline = one()
    pipeline.append(request("second"), written: headLength + 100)
    if isSecondSent { send(&pipeline) }
    return pipeline
  }

  private func name(_ request: WireRequest) -> String {
    String(decoding: request.head, as: UTF8.self).split(separator: " ")[1].description
  }

  /// Feeds bytes as a connection does: the unused rest of a read is passed in again.
  private func feed(_ pipeline: inout Pipeline, _ delivery: Delivery) -> Outcome {
    var answers: [String] = []
    var isPartial = true
    do throws(ResponseError) {
      try delivery.each { (piece) throws(ResponseError) in
        var left = piece
        repeat {
          switch try pipeline.receive(left) {
          case .partial:
            isPartial = true
            return
          case .answered(let response, let request, let rest):
            answers.append(name(request) + " \(response.status) " + String(decoding: response.content, as: UTF8.self))
            isPartial = false
            left = UnsafeRawBufferPointer(rebasing: left.suffix(rest))
          case .answeredAndEnded(let response, let request):
            answers.append(name(request) + " \(response.status) ended")
            isPartial = false
            return
          }
        } while !left.isEmpty
      }
    } catch { return .failed(error) }
    return .answers(answers, isPartial: isPartial)
  }

  private func feed(_ pipeline: inout Pipeline, _ text: String) -> Outcome {
    let sample = bytes(text)
    return feed(&pipeline, Delivery(pieces: [sample[...]], page: GuardPage(room: sample.count)))
  }

  private func ok(_ content: String = "", _ fields: String = "") -> String {
    "HTTP/1.1 200 OK\r\n\(fields)Content-Length: \(content.utf8.count)\r\n\r\n" + content
  }

  // MARK: Answers

  @Test(arguments: [
    ("HTTP/1.1 204 No Content\r\n\r\n", "204 "),
    ("HTTP/1.1 409 Conflict\r\nContent-Length: 2\r\n\r\nno", "409 no"),
    ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n", "200 abc"),
    ("HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n", "204 "),
    ("HTTP/1.1 413 Too Large\r\nTransfer-Encoding: chunked\r\n\r\n4;x=y\r\nHTTP\r\n0\r\nX: y\r\n\r\n", "413 HTTP"),
  ])
  func everySplitOfTwoAnswersGivesEachToItsRequest(first: String, told: String) {
    let second = "HTTP/1.1 100 Continue\r\n\r\n" + ok("second")
    let expected = Outcome.answers(["/first " + told, "/second 200 second"], isPartial: false)
    // Without bytes after the second response, which would end the connection.
    EverySplit.expect(expected, from: bytes(first + second), trailing: []) {
      var pipeline = two()
      let outcome = feed(&pipeline, $0)
      return pipeline.canReuseConnection ? outcome : .failed(.incomplete)
    }
  }

  @Test func theMethodOfEachDecidesWhetherItsAnswerHasContent() {
    let answers = bytes("HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n" + ok("two"))
    let expected = Outcome.answers(["/first 200 ", "/second 200 two"], isPartial: false)
    EverySplit.expect(expected, from: answers, trailing: []) {
      var pipeline = one(method: "HEAD")
      pipeline.append(request("second"), written: headLength + 100)
      send(&pipeline)
      return feed(&pipeline, $0)
    }
  }

  @Test func everyStartOfTwoAnswersIsPartial() {
    let answers = bytes(ok("one") + ok("two"))
    let firstLength = ok("one").utf8.count
    for count in 1..<answers.count {
      var pipeline = two()
      let sample = answers[..<count]
      let expected = count < firstLength ? [] : ["/first 200 one"]
      #expect(
        feed(&pipeline, Delivery(pieces: [sample], page: GuardPage(room: count)))
          == .answers(expected, isPartial: count != firstLength), "\(count) bytes")
      #expect(pipeline.awaitsCurrent == (count >= firstLength), "\(count) bytes")
      #expect(!pipeline.canReuseConnection && pipeline.awaitsHead == (count == firstLength), "\(count) bytes")
    }
  }

  @Test func behindTheLastAnswerBytesAreDroppedAndTheConnectionWithThem() {
    var pipeline = two()
    #expect(feed(&pipeline, ok() + ok() + "x") == .answers(["/first 200 ", "/second 200 "], isPartial: false))
    #expect(!pipeline.canReuseConnection)
    var single = one()
    #expect(feed(&single, ok() + ok()) == .answers(["/first 200 "], isPartial: false))
    #expect(!single.canReuseConnection)
  }

  @Test func anAnswerThatBreaksTheRulesIsAnErrorAndItsRequestStaysUnanswered() {
    var pipeline = two()
    #expect(feed(&pipeline, "220 ftp ready\r\n") == .failed(.notHTTP))
    #expect(!pipeline.awaitsCurrent && !pipeline.canReuseConnection)
    var second = two()
    #expect(feed(&second, ok() + "220 ftp ready\r\n") == .failed(.notHTTP))
    #expect(second.awaitsCurrent)
  }

  /// RFC 9112, 9.6: the server ignores everything after it.
  @Test(arguments: [
    "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n", "HTTP/1.0 204 No Content\r\n\r\n",
    "HTTP/1.1 204 No Content\r\nConnection: x, close\r\n\r\n",
  ])
  func anAnswerThatEndsTheConnectionEndsThePipeline(first: String) {
    var pipeline = two()
    #expect(!pipeline.hasEnded)
    #expect(feed(&pipeline, first + ok()) == .answers(["/first 204 ended"], isPartial: false))
    #expect(pipeline.hasEnded && !pipeline.canReuseConnection)
    // Not before it is whole.
    var begun = two()
    let head = "HTTP/1.1 409 Conflict\r\nConnection: close\r\nContent-Length: 2\r\n\r\nn"
    #expect(feed(&begun, head) == .answers([], isPartial: true) && !begun.hasEnded)
    // With nothing after it, it is an ordinary response.
    var single = one()
    #expect(feed(&single, first) == .answers(["/first 204 "], isPartial: false))
    #expect(!single.hasEnded && !single.canReuseConnection)
  }

  /// Servers keep sending interim responses during a long request. Without progress there is a limit.
  @Test func interimAnswersCountFromZeroWheneverContentArrives() {
    let one = "HTTP/1.1 102 Processing\r\n\r\n"
    let interim = String(repeating: one, count: Limits.interimLength / one.utf8.count)
    let partial = Outcome.answers([], isPartial: true)
    for var pipeline in [self.one(), two()] {
      #expect(feed(&pipeline, interim) == partial)
      pipeline.contentHasAdvanced()
      #expect(feed(&pipeline, interim) == partial)
      #expect(
        feed(&pipeline, interim) == .failed(.tooManyInterimResponses(limit: Limits.interimLength)))
    }
  }

  // MARK: At most two

  @Test func aRequestFollowsOneThatIsOutAndNoMoreThanOne() {
    var pipeline = Pipeline(request())
    #expect(!pipeline.canPipeline)
    pipeline.current.exchange.headWasSent(continueDeadlineMilliseconds: 0)
    #expect(!pipeline.canPipeline)
    pipeline.current.exchange.bodyWasSent()
    #expect(pipeline.canPipeline)
    pipeline.append(request("second"), written: headLength + 100)
    #expect(!pipeline.canPipeline && pipeline.start == headLength + 100)
    send(&pipeline)
    // A third one must wait for the first response.
    #expect(!pipeline.canPipeline)
    #expect(feed(&pipeline, ok()) == .answers(["/first 200 "], isPartial: false))
    #expect(pipeline.canPipeline)
    pipeline.append(request("third"), written: 2 * headLength + 201)
    send(&pipeline)
    #expect(!pipeline.canPipeline)
    #expect(feed(&pipeline, ok() + ok()) == .answers(["/second 200 ", "/third 200 "], isPartial: false))
    #expect(pipeline.canReuseConnection)
  }

  @Test func nothingFollowsARequestThatWasStopped() {
    var pipeline = Pipeline(request())
    pipeline.current.exchange.headWasSent(continueDeadlineMilliseconds: 0)
    #expect(feed(&pipeline, "HTTP/1.1 413 No\r\nContent-Length: 2\r\n\r\n") == .answers([], isPartial: true))
    #expect(!pipeline.canPipeline)
  }

  // MARK: The connection ends

  @Test func anEndBeforeTheFirstOfTwoResponsesIsNoResponse() throws {
    var pipeline = two()
    #expect(try pipeline.receiveEnd() == nil)
    // Even if the response would end with the connection.
    var begun = two()
    #expect(feed(&begun, "HTTP/1.1 200 OK\r\n\r\nabc") == .answers([], isPartial: true))
    #expect(try begun.receiveEnd() == nil)
  }

  @Test func anAnswerThatEndsWithTheConnectionIsWhole() throws {
    for var pipeline in [self.one(), two()] {
      if !pipeline.awaitsCurrent { #expect(feed(&pipeline, ok()) == .answers(["/first 200 "], isPartial: false)) }
      #expect(feed(&pipeline, "HTTP/1.1 200 OK\r\n\r\nabc") == .answers([], isPartial: true))
      #expect(try pipeline.receiveEnd()?.content == bytes("abc"))
      #expect(!pipeline.canReuseConnection)
    }
  }

  @Test(arguments: ["", "HTTP/1.1 20", "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nab"])
  func anAnswerThatTheEndCutsIsIncomplete(start: String) {
    var pipeline = two()
    #expect(feed(&pipeline, ok() + start) == .answers(["/first 200 "], isPartial: !start.isEmpty))
    #expect(pipeline.awaitsHead == start.isEmpty)
    #expect(throws: ResponseError.incomplete) { try pipeline.receiveEnd() }
  }

  /// Its head is enough. That of the first of two makes the second pointless.
  @Test func aRefusalCountsFromItsHeadOnAndBelongsToTheOldestRequest() throws {
    let refusal = "HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\n\r\nb"
    var single = one()
    #expect(single.refusalSoFar == nil)
    _ = feed(&single, refusal)
    #expect(single.refusalSoFar?.response.status == 413 && single.refusalSoFar.map { name($0.request) } == "/first")
    var pipeline = two()
    #expect(feed(&pipeline, refusal) == .answers([], isPartial: true))
    let early = try #require(pipeline.refusalSoFar)
    #expect(early.response.content == bytes("b") && name(early.request) == "/first")
    #expect(feed(&pipeline, "ig" + refusal) == .answers(["/first 413 big"], isPartial: true))
    #expect(pipeline.refusalSoFar.map { name($0.request) } == "/second")
    for var pipeline in [self.one(), two()] {
      _ = feed(&pipeline, "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nb")
      #expect(pipeline.refusalSoFar == nil)
    }
  }

  @Test func aPromiseIsThatOfTheLastAnswer() {
    var pipeline = two()
    #expect(!pipeline.promisesReuse)
    _ = feed(&pipeline, ok("", "Connection: keep-alive\r\n"))
    #expect(!pipeline.promisesReuse)
    _ = feed(&pipeline, ok("", "Keep-Alive: timeout=5\r\n"))
    #expect(pipeline.promisesReuse)
    var silent = one()
    _ = feed(&silent, ok())
    #expect(silent.canReuseConnection && !silent.promisesReuse)
  }

  // MARK: Sent and arrived bytes

  @Test func sentBytesAreCountedFromTheStartOfTheRequest() {
    var pipeline = one()
    #expect(pipeline.sent(offered: 0) == .none && pipeline.sent(offered: headLength) == .none)
    #expect(pipeline.sent(offered: headLength + 1) == .partial && pipeline.sent(offered: headLength + 99) == .partial)
    #expect(pipeline.sent(offered: headLength + 100) == .whole)
    let start = headLength + 100
    pipeline.append(request("second"), written: start)
    // The oldest one was sent.
    #expect(pipeline.sent(offered: start) == .whole)
    _ = feed(&pipeline, ok())
    // "/second" has a letter more.
    #expect(pipeline.sent(offered: start + headLength + 1) == .none)
    #expect(pipeline.sent(offered: start + headLength + 2) == .partial)
    #expect(pipeline.sent(offered: start + headLength + 101) == .whole)
  }

  /// A request without content is sent when its head is.
  @Test func aRequestWithoutContentIsWholeOrNothing() {
    let pipeline = Pipeline(request(length: 0))
    #expect(pipeline.sent(offered: headLength - 1) == .none && pipeline.sent(offered: headLength) == .whole)
  }

  @Test func receivedBytesAreCountedWithoutTheFirstHead() {
    var pipeline = one()
    #expect(pipeline.arrived(acknowledged: 0) == 0 && pipeline.arrived(acknowledged: headLength) == 0)
    #expect(pipeline.arrived(acknowledged: headLength + 60) == 60)
    let start = headLength + 100
    pipeline.append(request("second"), written: start)
    #expect(pipeline.arrived(acknowledged: headLength) == 0 && pipeline.arrived(acknowledged: headLength + 60) == 60)
    #expect(pipeline.arrived(acknowledged: start) == 100)
    _ = feed(&pipeline, ok())
    // What arrived of the first one is answered.
    #expect(pipeline.arrived(acknowledged: start) == 0)
    #expect(pipeline.arrived(acknowledged: start + headLength + 1 + 60) == 60)
  }

  // MARK: Stale connections

  private let little = Int64(Limits.runLength)

  @Test func aNewConnectionIsFresh() {
    #expect(one().staleness(isReused: false, offered: headLength, isOrderly: true) == .fresh)
    #expect(two().staleness(isReused: false, offered: headLength, isOrderly: true) == .fresh)
  }

  @Test func aReusedConnectionCountsAsUnusedUntilMuchWasSent() {
    let pipeline = Pipeline(request(length: 10 * little))
    for (offered, hasSentLittle) in [(0, true), (headLength + little, true), (headLength + little + 1, false)] {
      #expect(
        pipeline.staleness(isReused: true, offered: offered, isOrderly: false) == .used(hasSentLittle: hasSentLittle))
    }
  }

  /// Nothing came back for either: both count.
  @Test func sentBytesOfBothRequestsCount() {
    var pipeline = Pipeline(request(length: 10 * little))
    send(&pipeline)
    let start = headLength + 10 * little
    pipeline.append(request("second"), written: start)
    #expect(pipeline.staleness(isReused: true, offered: start, isOrderly: false) == .used(hasSentLittle: false))
    #expect(two().staleness(isReused: true, offered: 300, isOrderly: false) == .used(hasSentLittle: true))
  }

  @Test(arguments: ["HTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.1 20"])
  func aConnectionOnWhichSomethingCameBackIsFresh(text: String) {
    for var pipeline in [self.one(), two()] {
      _ = feed(&pipeline, text)
      #expect(pipeline.staleness(isReused: true, offered: 300, isOrderly: true) == .fresh)
    }
  }

  /// Servers that allow few requests per connection close it after a response.
  @Test func behindAnAnsweredRequestTheConnectionIsUsed() {
    var pipeline = Pipeline(request())
    send(&pipeline)
    pipeline.append(request("second", length: 10 * little), written: headLength + 100)
    _ = feed(&pipeline, ok())
    let much = headLength + 100 + 5 * little
    #expect(pipeline.staleness(isReused: false, offered: much, isOrderly: true) == .used(hasSentLittle: true))
    #expect(pipeline.staleness(isReused: false, offered: much, isOrderly: false) == .used(hasSentLittle: false))
    #expect(pipeline.staleness(isReused: false, offered: 200, isOrderly: false) == .used(hasSentLittle: true))
    _ = feed(&pipeline, "HTTP/1.1 20")
    #expect(pipeline.staleness(isReused: false, offered: 200, isOrderly: false) == .fresh)
  }
}
