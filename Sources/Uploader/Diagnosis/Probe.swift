import CShims
import UploadCore

/// One request of a diagnosis, over a connection of its own. Nothing is retried, no redirect is followed, and content that the
/// server was asked about (`Expect`) is never sent.
final class Probe: Machine {
  private enum State {
    case connecting(Connector)
    case exchanging(Connection)
    case ended
  }

  private let request: HTTPRequest?
  private let configuration: Configuration
  private let composer: RequestComposer
  private var state: State
  /// Head and content.
  private var bytes = UnsafeMutableRawBufferPointer(start: nil, count: 0)
  private let received = UnsafeMutableRawBufferPointer.allocate(byteCount: Limits.receiveLength, alignment: 16)
  private var written = 0
  private var exchange = Exchange(method: "HEAD", expectsContinue: false)
  private var deadline: Int64 = 0
  let result = ProbeResult()

  /// - Parameters:
  ///   - request: nil only connects.
  ///   - composer: adds credentials to the request.
  init(
    _ request: HTTPRequest?, to target: TargetURI, _ configuration: Configuration, _ composer: RequestComposer,
    tls: TLSContext?
  ) {
    self.request = request
    self.configuration = configuration
    self.composer = composer
    state = .connecting(Connector(to: target, configuration: configuration, tls: tls))
  }

  deinit {
    bytes.deallocate()
    received.deallocate()
  }

  func step(_ ready: Readiness, nowMilliseconds now: Int64) throws(UploadError) -> Wait? {
    switch state {
    case .connecting(let connector):
      if let wait = try connector.step(ready, nowMilliseconds: now) { return wait }
      guard let connection = connector.connection else { return nil }
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
    diagnostics.show(complete)
    exchange = wire.exchange
    let whole = wire.head + (request.mayExpectContinue ? [] : wire.body.header)
    bytes = .allocate(byteCount: whole.count, alignment: 1)
    bytes.copyBytes(from: whole)
    deadline = now + (request.mayExpectContinue ? min(limit, Limits.probeContinueMilliseconds) : limit)
    state = .exchanging(connection)
    return try step([], nowMilliseconds: now)
  }

  private func continueExchange(_ connection: Connection, _ now: Int64) throws(StreamError) -> Wait? {
    let stream = connection.stream
    if written < bytes.count {
      written += try stream.write(UnsafeRawBufferPointer(rebasing: bytes[written...]))
      if written == bytes.count {
        exchange.headWasSent(continueDeadlineMilliseconds: .max)
        exchange.bodyWasSent()
      }
    }
    let isFlushed = try stream.flush()
    for _ in 0..<Limits.receiveCount {
      switch try stream.read(into: received) {
      case .notReady:
        guard now < deadline else { return expire(connection) }
        let readiness: Readiness = written < bytes.count || !isFlushed ? [.readable, .writable] : .readable
        return Wait(descriptor: stream.descriptor, readiness: readiness, untilMilliseconds: deadline)
      case .end:
        do throws(ResponseError) { try exchange.receiveEnd() } catch {
          result.error = .connectionLost(.awaitingAnswer, peer: connection.peer, nil)
        }
      case .bytes(let count):
        do throws(ResponseError) {
          try exchange.receive(UnsafeRawBufferPointer(rebasing: received[..<count]))
        } catch { result.error = .invalidResponse(error, peer: connection.peer) }
      }
      if isOver {
        end(connection)
        return nil
      }
    }
    return Wait(descriptor: stream.descriptor, readiness: .readable, untilMilliseconds: now)
  }

  /// How long the response is waited for.
  private var limit: Int64 { min(configuration.timeouts.responseMilliseconds, Limits.probeResponseMilliseconds) }

  /// Whether the response is there, or the server wants the content, or neither will come.
  private var isOver: Bool {
    if exchange.expectsContinue, exchange.sending == .body { result.isContinued = true }
    return exchange.finalResponse != nil || result.isContinued || result.error != nil
  }

  /// The time limit has passed. A server that was asked about content may wait for it.
  private func expire(_ connection: Connection) -> Wait? {
    if !exchange.expectsContinue || exchange.hasResponseStarted {
      result.error = .timedOut(.awaitingAnswer, peer: connection.peer, limitMilliseconds: limit)
    }
    end(connection)
    return nil
  }

  /// The connection broke. What has arrived counts.
  private func end(after error: StreamError, _ connection: Connection) {
    if exchange.refusalSoFar == nil {
      switch error {
      case .system(let error): result.error = .connectionLost(.awaitingAnswer, peer: connection.peer, error)
      case .tls(let error): result.error = .tls(error, host: connection.host ?? connection.peer)
      }
    }
    end(connection)
  }

  private func end(_ connection: Connection) {
    connection.stream.closeNotify()
    state = .ended
    guard let response = exchange.finalResponse ?? exchange.refusalSoFar else { return }
    result.error = nil
    diagnostics.show(response.head)
    var content = response.isTruncated ? [] : (try? ContentCoding.decodedContent(of: response)) ?? []
    diagnostics.show(content)
    if (try? JSONReader.read(content)) == nil { content = composer.secrets.redacted(content) }
    let answer = Answer(
      status: response.status, fields: response.head.fields, content: content, receivedAtSeconds: shim_unix_seconds())
    result.answer = answer
    result.shown = ServerAnswer(answer, composer.secrets)
    if answer.status >= 300 {
      let location = answer.fields.first("Location")
      let error: UploadError =
        answer.status < 400
        ? .redirected(status: answer.status, location: location ?? "an unspecified address") : answer.refusal
      result.error = error.redacted(composer.secrets)
    }
  }

  private var diagnostics: Diagnostics {
    Diagnostics(tell: configuration.diagnostics, secrets: composer.secrets, secretFields: composer.credentials.fields)
  }

  /// Ends with the error of the connection.
  func fail(_ error: UploadError) { result.error = error.redacted(composer.secrets) }
}
