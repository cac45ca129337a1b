import CShims
import UploadCore

/// One request of a diagnosis, over a connection of its own. Nothing is retried or redirected, and content that the
/// server was asked about (`Expect`) is never sent. A file in the content is sent as zeros.
final class Probe: Steppable {
  private enum State {
    case connecting(Connector)
    case exchanging(Connection)
    case ended
  }

  private let request: HTTPRequest?
  private let configuration: Configuration
  private var composer: RequestComposer
  private let answered: AnsweredRequest
  private var state: State
  private let cut: ProbeCut?
  private var content: ProbeContent?
  private var meter: LinkMeter?
  private let received = UnsafeMutableRawBufferPointer.allocate(byteCount: Limits.receiveLength, alignment: 16)
  /// Why no more can be sent. The response may have arrived before.
  private var sendError: StreamError?
  private var began: Int64 = 0
  private var exchange = Exchange(method: "HEAD", expectsContinue: false)
  private var deadline: Int64 = 0
  let result = ProbeResult()

  /// - Parameters:
  ///   - request: nil only connects.
  ///   - cut: nil if the request is sent whole.
  ///   - composer: adds credentials to the request.
  ///   - answered: what the response is about.
  init(
    _ request: HTTPRequest?, to target: TargetURI, _ configuration: Configuration, _ composer: RequestComposer,
    tls: TLSContext?, cut: ProbeCut? = nil, answered: AnsweredRequest
  ) {
    self.request = request
    self.answered = answered
    self.cut = cut
    self.configuration = configuration
    self.composer = composer
    let isNarrow = if case .afterMilliseconds(_, true) = cut { true } else { false }
    state = .connecting(Connector(to: target, configuration: configuration, tls: tls, isNarrow: isNarrow))
  }

  deinit {
    content?.deallocate()
    received.deallocate()
  }

  func step(_ ready: Readiness, nowMilliseconds now: Int64) throws(UploadError) -> Wait? {
    switch state {
    case .connecting(let connector):
      if let wait = try connector.step(ready, nowMilliseconds: now) { return wait }
      guard let connection = connector.connection else { return nil }
      result.addresses = connector.addresses
      return try begin(over: connection, now)
    case .exchanging(let connection):
      do throws(StreamError) { return try continueExchange(connection, now) } catch {
        end(after: error, connection)
        return nil
      }
    case .ended: return nil
    }
  }

  private func begin(over connection: Connection, _ now: Int64) throws(UploadError) -> Wait? {
    result.peer = connection.peer
    result.roundTripMilliseconds = connection.roundTripMilliseconds
    result.tls = connection.stream.tlsFacts
    guard let request else {
      end(connection)
      return nil
    }
    let (complete, wire) = try composer.compose(request)
    composer.trace(configuration.diagnostics).show(complete)
    exchange = wire.exchange
    let content = ProbeContent(
      head: wire.head, request.mayExpectContinue ? RequestBody() : wire.body, cutAfter: cutAfterBytes)
    self.content = content
    began = now
    if case .afterMilliseconds(let milliseconds, _) = cut {
      meter = LinkMeter(
        connection.stream.descriptor, content.fileLength, from: now, untilMilliseconds: now + milliseconds)
    }
    deadline =
      now
      + (request.mayExpectContinue
        ? min(limit, Limits.probeContinueMilliseconds)
        : content.hasFile ? configuration.timeouts.stallMilliseconds : limit)
    state = .exchanging(connection)
    return try step([], nowMilliseconds: now)
  }

  private func continueExchange(_ connection: Connection, _ now: Int64) throws(StreamError) -> Wait? {
    let stream = connection.stream
    let isBlocked = send(over: stream, now)
    for _ in 0..<Limits.receiveCount {
      switch try stream.read(into: received) {
      case .notReady:
        if let sendError { throw sendError }
        guard now < deadline else { return expire(connection) }
        if let meter, meter.isOver(now) {
          end(connection)
          return nil
        }
        let readiness: Readiness = isBlocked ? [.readable, .writable] : .readable
        return Wait(descriptor: stream.descriptor, readiness: readiness, untilMilliseconds: nextLook(now))
      case .end:
        do throws(ResponseError) { try exchange.receiveEnd() } catch {
          result.error = .connectionLost(phase, peer: connection.peer, nil)
        }
      case .bytes(let count):
        do throws(ResponseError) {
          try exchange.receive(UnsafeRawBufferPointer(rebasing: received[..<count]))
        } catch { result.error = .invalidResponse(error, peer: connection.peer) }
      }
      if isOver {
        result.contentMilliseconds = max(1, now - began)
        end(connection)
        return nil
      }
    }
    return Wait(descriptor: stream.descriptor, readiness: .readable, untilMilliseconds: now)
  }

  /// - Returns: whether there is more to write.
  private func send(over stream: any ByteStream, _ now: Int64) -> Bool {
    guard var content, sendError == nil else { return false }
    defer { self.content = content }
    do throws(StreamError) {
      if !content.isWritten {
        let count = try stream.write(content.run)
        content.advance(by: count)
        if content.isWritten, cutAfterBytes == nil {
          exchange.headWasSent(continueDeadlineMilliseconds: .max)
          exchange.bodyWasSent()
        }
        if content.hasFile, count > 0 { deadline = now + patience }
      }
      let isFlushed = try stream.flush()
      let arrived = content.arrived(unacknowledged: stream.unacknowledgedLength)
      meter?.sample(arrived, now)
      if arrived > result.arrivedLength {
        result.arrivedLength = arrived
        self.content = content
        deadline = now + patience
      }
      return !content.isWritten || !isFlushed
    } catch {
      sendError = error
      return false
    }
  }

  /// How long to wait for the next progress of a file.
  private var patience: Int64 {
    guard phase == .awaitingAnswer else { return configuration.timeouts.stallMilliseconds }
    guard let cutAfterBytes else { return configuration.timeouts.responseMilliseconds }
    return result.arrivedLength < cutAfterBytes ? configuration.timeouts.stallMilliseconds : Limits.cutRestMilliseconds
  }

  /// When to look again at what has arrived, which wakes nobody.
  private func nextLook(_ now: Int64) -> Int64 {
    switch cut {
    case nil: deadline
    case .afterBytes: min(deadline, now + Limits.cutRestMilliseconds / 10)
    case .afterMilliseconds: min(deadline, now + Limits.linkTickMilliseconds)
    }
  }

  private var cutAfterBytes: Int64? { if case .afterBytes(let count) = cut { count } else { nil } }

  /// "while sending", or "while waiting for the response"
  private var phase: UploadPhase { content?.isWritten ?? true ? .awaitingAnswer : .sending }

  /// How long to wait for the response.
  private var limit: Int64 { min(configuration.timeouts.responseMilliseconds, Limits.probeResponseMilliseconds) }

  /// Whether the response is there, or the server wants the content, or neither will come.
  private var isOver: Bool {
    if exchange.expectsContinue, exchange.sending == .body { result.isContinued = true }
    return exchange.finalResponse != nil || result.isContinued || result.error != nil
  }

  /// The time limit has passed. A server that was asked about content may wait for it.
  private func expire(_ connection: Connection) -> Wait? {
    let isCut = cutAfterBytes != nil && content?.isWritten ?? false
    if !isCut, !exchange.expectsContinue || exchange.hasResponseStarted {
      let limit = content?.hasFile ?? false ? patience : limit
      result.error = .timedOut(phase, peer: connection.peer, limitMilliseconds: limit)
    }
    end(connection)
    return nil
  }

  /// The connection broke. What has arrived counts.
  private func end(after error: StreamError, _ connection: Connection) {
    if exchange.refusalSoFar == nil {
      result.error = error.lost(phase, peer: connection.peer, host: connection.host ?? connection.peer)
    }
    end(connection)
  }

  private func end(_ connection: Connection) {
    connection.stream.closeNotify()
    state = .ended
    result.link = meter?.measurement
    guard let response = exchange.finalResponse ?? exchange.refusalSoFar else { return }
    result.error = nil
    let answer: Answer
    do throws(UploadError) {
      answer = try Answer(decoding: response, &composer, tell: configuration.diagnostics)
    } catch { return fail(error) }
    result.answer = answer
    result.shown = composer.redacted(answer, to: answered)
    result.signature = signature(of: answer)
    if answer.status >= 300 {
      result.error = refusal(by: answer).redacted(composer.secrets)
    }
  }

  private func refusal(by answer: Answer) -> UploadError {
    if answer.status < 400 {
      return .redirected(
        status: answer.status, location: answer.fields.first("Location") ?? "an unspecified address")
    }
    return request.flatMap { configuration.proxies.refusal(answer, to: $0.target) } ?? answer.refusal
  }

  private func signature(of answer: Answer) -> String? {
    let programs = ["Server", "Via"].flatMap { name in answer.fields.values(of: name).map { name + ": " + $0 } }
    return programs.isEmpty ? nil : composer.secrets.line(programs.joined(separator: ", "))
  }

  func fail(_ error: UploadError) { result.error = error.redacted(composer.secrets) }
}

/// Asks a server on behalf of a diagnosis, one request at a time.
package final class Prober {
  package let target: TargetURI
  private let configuration: Configuration
  private let tls: TLSContextCache
  package let cancellation: Cancellation
  private let answered: AnsweredRequest

  /// - Parameters:
  ///   - target: the destination. Credentials go to its origin only.
  ///   - answered: what the responses are about.
  package init(
    _ target: TargetURI, _ configuration: Configuration, _ cancellation: Cancellation,
    answering answered: AnsweredRequest = .other
  ) {
    self.answered = answered
    self.target = target
    self.configuration = configuration
    self.cancellation = cancellation
    tls = TLSContextCache(configuration.tls, jobs: 1)
  }

  /// The error in the configuration; nil if there is none.
  package var problem: UploadError? { configuration.problem(jobs: 1) }

  /// To redact in what the server says.
  package var secrets: Secrets { RequestComposer(configuration, origin: target.origin).secrets }

  /// Connects, and closes the connection again.
  package func connect() -> ProbeResult { run(nil, target, cut: nil) }

  /// - Parameters:
  ///   - request: if it may expect 100 (Continue), its content is announced but not sent.
  ///   - cut: nil if the request is sent whole.
  package func ask(_ request: HTTPRequest, cut: ProbeCut? = nil) -> ProbeResult {
    var request = request
    var result = run(request, request.target, cut: cut)
    for _ in 0..<Limits.redirectCount {
      guard let target = result.redirection(of: request) else { break }
      request.target = target
      result = run(request, target, cut: cut)
      result.redirectedTo = secrets.line(ofURI: target.text)
    }
    return result
  }

  /// Waits, unless the diagnosis is interrupted.
  package func pause(milliseconds: Int64) {
    var entry = shim_poll_entry(descriptor: cancellation.descriptor, events: Readiness.readable.rawValue, ready: 0)
    _ = shim_poll(&entry, 1, milliseconds)
  }

  /// The same, without the interruption that has ended this one: to remove what it has created.
  package func afterInterruption() -> Prober {
    Prober(target, configuration, Cancellation(), answering: answered)
  }

  private func run(_ request: HTTPRequest?, _ target: TargetURI, cut: ProbeCut?) -> ProbeResult {
    let probe: Probe
    do throws(UploadError) {
      let composer = RequestComposer(configuration, origin: self.target.origin)
      probe = Probe(
        request, to: target, configuration, composer, tls: try tls.context(for: target), cut: cut, answered: answered)
    } catch { return ProbeResult(error: error) }
    if let failure = EventLoop(cancellation).run(only: probe) { probe.fail(failure) }
    return probe.result
  }
}

/// The bytes of one request of a diagnosis. The file in it is all zeros.
struct ProbeContent {
  /// The head, and the framing before the file.
  private let front: UnsafeMutableRawBufferPointer
  private let back: UnsafeMutableRawBufferPointer
  private let zeros: UnsafeMutableRawBufferPointer
  let fileLength: Int64
  /// Where sending ends: after everything, or where the request is cut short.
  private let end: Int64
  private(set) var written: Int64 = 0

  /// - Parameter cutAfter: how much of the file is sent, in bytes; nil for all of it.
  init(head: [UInt8], _ body: RequestBody, cutAfter: Int64?) {
    front = ProbeContent.copy(head + body.header)
    back = ProbeContent.copy(body.footer)
    fileLength = body.fileLength
    zeros = .allocate(byteCount: Int(min(fileLength, Int64(Limits.zerosLength))), alignment: 1)
    for index in zeros.indices { zeros[index] = 0 }
    end = Int64(front.count) + (cutAfter ?? fileLength + Int64(back.count))
  }

  func deallocate() {
    front.deallocate()
    back.deallocate()
    zeros.deallocate()
  }

  private static func copy(_ bytes: [UInt8]) -> UnsafeMutableRawBufferPointer {
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
    buffer.copyBytes(from: bytes)
    return buffer
  }

  var isWritten: Bool { written == end }
  var hasFile: Bool { fileLength > 0 }

  var run: UnsafeRawBufferPointer {
    let inFile = written - Int64(front.count)
    if inFile < 0 { return UnsafeRawBufferPointer(rebasing: front[Int(written)...]) }
    if inFile < fileLength {
      let count = min(end - written, min(fileLength - inFile, Int64(zeros.count)))
      return UnsafeRawBufferPointer(rebasing: zeros[..<Int(count)])
    }
    return UnsafeRawBufferPointer(rebasing: back[Int(inFile - fileLength)...])
  }

  mutating func advance(by count: Int) { written += Int64(count) }

  /// How many bytes of the file have arrived.
  /// - Parameter unacknowledged: how many of the bytes written have not.
  func arrived(unacknowledged: Int) -> Int64 {
    min(fileLength, max(0, written - Int64(unacknowledged) - Int64(front.count)))
  }
}

/// Reads what the kernel counts while content is sent over a connection.
struct LinkMeter {
  private(set) var measurement: LinkMeasurement
  private let descriptor: Int32
  private let length: Int64
  private let endMilliseconds: Int64
  private var arrived: Int64 = 0

  /// - Parameters:
  ///   - length: of the content, in bytes. The measurement ends when all of it has arrived.
  ///   - endMilliseconds: when it ends in any case.
  init(_ descriptor: Int32, _ length: Int64, from now: Int64, untilMilliseconds endMilliseconds: Int64) {
    self.descriptor = descriptor
    self.length = length
    self.endMilliseconds = endMilliseconds
    measurement = LinkMeasurement(
      LinkMeasurement.Reading(milliseconds: now, arrivedLength: 0, LinkCounts(of: descriptor)),
      congestionControl: CongestionControl.inUse(by: descriptor))
  }

  /// - Parameter arrived: how much of the content has arrived so far, in bytes.
  mutating func sample(_ arrived: Int64, _ now: Int64) {
    guard self.arrived < length else { return }
    self.arrived = arrived
    measurement.add(
      LinkMeasurement.Reading(milliseconds: now, arrivedLength: arrived, LinkCounts(of: descriptor)))
  }

  func isOver(_ now: Int64) -> Bool { now >= endMilliseconds }
}

extension Limits {
  /// How long a diagnosis waits for a server's opinion on content that it announces, in milliseconds. Servers that have one give it
  /// within a round trip and the time to check a password.
  static let probeContinueMilliseconds: Int64 = 5000
  /// How long it waits for other responses, which cost the server no work.
  static let probeResponseMilliseconds: Int64 = 30_000
  /// How long an interrupted request waits before its connection is closed, in milliseconds, so that proxies can forward what they have.
  static let cutRestMilliseconds: Int64 = 500
  /// The zeros of a diagnosis are written in runs of this length, in bytes.
  static let zerosLength = 64 << 10
  /// How often a measurement looks whether everything has arrived, in milliseconds.
  static let linkTickMilliseconds: Int64 = 10
}
