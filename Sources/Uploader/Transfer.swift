import CShims
import UploadCore

/// The rate that all transfers of an uploader share.
final class Pace {
  var limiter: RateLimiter

  init(bytesPerSecond: Int64) { limiter = RateLimiter(bytesPerSecond: bytesPerSecond) }
}

/// What a transfer is told by and tells to whoever knows the protocol.
struct TransferHooks {
  /// Another request to be sent before the last one is answered (RFC 9112, 9.3.2); nil for none.
  var followUp: () throws(UploadError) -> OutgoingRequest? = { () throws(UploadError) in nil }
  /// Takes a good answer to a request that another one has followed, and says whether the other one still makes sense.
  var onEarlierAnswer: (_ response: Response, _ afterMilliseconds: Int64) throws(UploadError) -> Bool = {
    (_, _) throws(UploadError) in true
  }
  var onProgress: (Progress) -> Void = { _ in }
}

/// A file, or a stretch of it, on its way through one connection:
///
///     file ──read──▶ ring ──write──▶ connection
///                                        │
///     response ◀──── exchange ◀──read────┘   (also while sending)
///
/// Each step reads what has arrived and writes one run; then it says what it waits for.
final class Transfer: Machine {
  private let connection: Connection
  private let buffers: TransferBuffers
  private let file: SourceFile?
  private let digest: FileDigest?
  private let timeouts: Timeouts
  private let pace: Pace?
  private let hooks: TransferHooks

  /// The request that is being sent, or whose answer is awaited.
  private var request: OutgoingRequest
  /// The one before it, as long as it is not answered.
  private var earlier: OutgoingRequest?
  /// Can the file go past the ring?
  private var mayBeDirect: Bool

  /// Bytes of heads and bodies that the connection has taken.
  private var written: Int64 = 0
  /// Bytes that the connection was given to write, all or part of which it may have passed on.
  private var offered: Int64 = 0
  /// Bytes of `written` that the peer has acknowledged, when last looked at.
  private var acknowledged: Int64 = 0
  /// What `written` was when the request began.
  private var requestStart: Int64 = 0

  private var now: Int64 = 0
  private var lastAdvance: Int64 = 0
  /// Is it the rate limit that nothing is sent for now?
  private var isPaced = false
  private var nextReport: Int64 = 0
  /// When the first step was made, on the monotonic clock.
  private(set) var startedAt: Int64?
  /// The answer, once ``step(_:nowMilliseconds:)`` has returned nil.
  private(set) var response: Response?
  /// Has the transfer ended without an answer, because the one to the request before it made this one pointless?
  private(set) var isVoid = false

  /// - Parameters:
  ///   - file: what the request's body is a stretch of; nil if it has none.
  ///   - digest: is given every byte of the file, the ones before the stretch while the connection takes no more.
  init(
    _ request: OutgoingRequest, of file: SourceFile?, digest: FileDigest?, over connection: Connection,
    buffers: TransferBuffers, timeouts: Timeouts, pace: Pace? = nil, hooks: TransferHooks = TransferHooks()
  ) {
    self.request = request
    self.file = file
    self.digest = digest
    self.connection = connection
    self.buffers = buffers
    self.timeouts = timeouts
    self.pace = pace
    self.hooks = hooks
    // What fits into one run goes out in one write, with its framing.
    mayBeDirect = digest == nil && request.body.fileLength > Int64(buffers.runLength)
    buffers.ring.removeAll()
  }

  /// Has a request been answered, with another one behind it?
  private(set) var followsAnswered = false

  /// Can the next request use the same connection?
  var canReuseConnection: Bool { earlier == nil && request.exchange.canReuseConnection }

  /// Did anything of an answer arrive? If not, a kept connection may have been closed before the request came.
  var hasBegunReceiving: Bool { requestStart > 0 || request.exchange.hasBegunReceiving }

  /// Has the whole request gone out?
  var hasSentAll: Bool { request.exchange.sending == .finished }

  /// Can any of the body have gone out?
  var hasBegunBody: Bool { offered > requestStart + Int64(request.head.count) }

  /// Has so little gone out, and nothing come back, that a kept connection may have been closed before the request came?
  var hasHardlyBegun: Bool {
    !hasBegunReceiving && offered - requestStart - Int64(request.head.count) <= Int64(buffers.runLength)
  }

  /// How much of the unanswered bodies has arrived at the other side at least, in bytes.
  var arrived: Int64 {
    let earlierBody = earlier.map { requestStart - $0.body.length }
    return max(0, acknowledged - (earlierBody ?? requestStart + Int64(request.head.count)))
  }

  /// How long the answer took from the request's last byte, in milliseconds.
  var answerMilliseconds: Int64 { now - (request.sentAt ?? now) }

  private var phase: UploadPhase { request.sentAt == nil ? .sending : awaitingPhase }

  private var awaitingPhase: UploadPhase {
    let isWholeForm = !request.body.header.isEmpty && request.body.fileLength > 0
    return isWholeForm ? .awaitingResponse : .awaitingAnswer
  }

  // MARK: The step

  func step(_ ready: Readiness, nowMilliseconds: Int64) throws(UploadError) -> Wait? {
    now = nowMilliseconds
    if startedAt == nil {
      startedAt = now
      lastAdvance = now
    }
    request.exchange.tick(nowMilliseconds: now)
    if ready.contains(.readable) { try receive() }
    if isVoid { return nil }
    let isBlocked = response == nil ? try send() : false
    if response != nil || isVoid { return nil }
    try reportProgress()
    try checkDeadline()
    if response != nil { return nil }
    let isDigesting = isBlocked ? try catchUp() : false
    return nextWait(isBlocked: isBlocked && !isDigesting)
  }

  // MARK: Sending

  /// Writes one run, refilling the ring when it is empty.
  /// - Returns: true if the connection takes no more for now.
  private func send() throws(UploadError) -> Bool {
    isPaced = false
    if request.exchange.sending == .finished, !(try beginFollowUp()) { return false }
    if request.exchange.sending == .stopped { return false }
    let allowance = pace?.limiter.allowance(nowMilliseconds: now) ?? Int.max
    isPaced = allowance == 0
    if isPaced { return true }
    // Only when it is empty: the ring then starts at its first byte, and the kernel's own queues bridge the read.
    if buffers.ring.isEmpty {
      if let isBlocked = try sendDirectly(allowance) { return isBlocked }
      try fill()
    }
    let run = buffers.ring.readableRun.prefix(min(buffers.runLength, max(allowance, connection.stream.owedLength)))
    let isBlocked: Bool
    offered = max(offered, written + Int64(run.count))
    do throws(StreamError) {
      let count = run.isEmpty ? 0 : try connection.stream.write(UnsafeRawBufferPointer(rebasing: run))
      buffers.ring.consume(count)
      noteWritten(count)
      let isFlushed = try connection.stream.flush()
      if isFlushed { noteSent() }
      isBlocked = count < run.count || !isFlushed
    } catch {
      try receiveRest(after: error)
      return false
    }
    if request.exchange.sending == .finished { _ = try beginFollowUp() }
    return isBlocked
  }

  /// Goes over to the next request, if there is one that need not wait for the answer to this one.
  private func beginFollowUp() throws(UploadError) -> Bool {
    guard earlier == nil, response == nil, let next = try hooks.followUp() else { return false }
    request.exchange.isFollowed = true
    earlier = request
    request = next
    requestStart = written
    return true
  }

  /// Lets the kernel pass the file from its page cache to the connection, where nobody needs to see the bytes: no TLS to
  /// encrypt them and no digest to compute.
  /// - Returns: nil if the ring has to do it.
  private func sendDirectly(_ allowance: Int) throws(UploadError) -> Bool? {
    guard mayBeDirect, request.exchange.sending == .body, case .file(let sent) = request.body.phase, let file else {
      return nil
    }
    let length = Int(min(request.body.fileLength - sent, Int64(min(Limits.directLength, allowance))))
    offered = max(offered, written + Int64(length))
    let isBlocked: Bool
    do throws(DirectError) {
      guard let count = try connection.stream.send(file, at: request.body.fileOffset + sent, count: length) else {
        mayBeDirect = false
        return nil
      }
      noteWritten(count)
      if count > 0 { request.body.advanceFile(by: count) }
      isBlocked = count < length
    } catch {
      switch error {
      case .file(let error): throw .file(file.path, error)
      case .stream(let error): try receiveRest(after: error)
      }
      return false
    }
    try verifyAtEnd(of: file)
    noteSent()
    return isBlocked
  }

  /// What the server said before it closed the connection is worth more than the error (RFC 9112, 9.6).
  private func receiveRest(after error: StreamError) throws(UploadError) {
    try receive()
    if response == nil, !isVoid { try endReceiving(error) }
  }

  private func noteWritten(_ count: Int) {
    written += Int64(count)
    pace?.limiter.consume(count)
  }

  private func noteSent() {
    if written >= requestStart + Int64(request.head.count) {
      request.exchange.headWasSent(continueDeadlineMilliseconds: now + continueWait)
    }
    guard request.body.phase == .complete, buffers.ring.isEmpty else { return }
    request.exchange.bodyWasSent()
    if request.exchange.sending == .finished, request.sentAt == nil { request.sentAt = now }
  }

  /// Some round trips, within bounds: a server that means to answer does so by then, and one that ignores the
  /// expectation costs little.
  private var continueWait: Int64 {
    let roundTrips = connection.roundTripMilliseconds * Limits.continueWaitRoundTrips
    return min(max(roundTrips, Limits.continueWaitMinimumMilliseconds), Limits.continueWaitMaximumMilliseconds)
  }

  /// Puts the next run into the ring: what is left of the head, framing, and one read of the file.
  private func fill() throws(UploadError) {
    buffers.ring.commit(request.writeHead(into: buffers.ring.writableRun))
    guard request.exchange.sending == .body || !request.exchange.expectsContinue else { return }
    while !buffers.ring.isFull {
      switch request.body.phase {
      case .header, .footer:
        buffers.ring.commit(request.body.writeFraming(into: buffers.ring.writableRun))
      case .file(let sent):
        // The framing before the file goes out first, and the file behind it past the ring.
        if mayBeDirect, !buffers.ring.isEmpty { return }
        try fillFromFile(sent)
        if case .file = request.body.phase { return }
      case .complete:
        return
      }
    }
  }

  private func fillFromFile(_ sent: Int64) throws(UploadError) {
    guard let file else { preconditionFailure("a body with a stretch of no file") }
    let space = buffers.ring.writableRun
    let length = min(Int64(min(space.count, buffers.runLength)), request.body.fileLength - sent)
    let run = UnsafeMutableRawBufferPointer(rebasing: space[..<Int(length)])
    let offset = request.body.fileOffset + sent
    do throws(FileError) {
      let count = try file.read(into: run, at: offset)
      digest?.update(UnsafeRawBufferPointer(rebasing: run[..<count]), at: offset)
      buffers.ring.commit(count)
      request.body.advanceFile(by: count)
    } catch { throw .file(file.path, error) }
    try verifyAtEnd(of: file)
  }

  /// The end of the body says "this was the whole file", so it follows only if that is still true.
  private func verifyAtEnd(of file: SourceFile) throws(UploadError) {
    if case .file = request.body.phase { return }
    do throws(FileError) { try file.verifyUnchanged() } catch { throw .file(file.path, error) }
  }

  /// While the connection takes nothing: gives the digest one run of what was sent without it, as after a resume.
  /// - Returns: true if there is more.
  private func catchUp() throws(UploadError) -> Bool {
    guard let digest, let file, case .file(let sent) = request.body.phase else { return false }
    let lag = request.body.fileOffset + sent - digest.position
    // Behind what the ring holds, none of its bytes are in the way.
    let space = buffers.ring.writableRun
    guard lag > 0, !space.isEmpty else { return false }
    let run = UnsafeMutableRawBufferPointer(rebasing: space.prefix(min(Int(clamping: lag), buffers.runLength)))
    do throws(FileError) {
      let offset = digest.position
      let count = try file.read(into: run, at: offset)
      digest.update(UnsafeRawBufferPointer(rebasing: run[..<count]), at: offset)
      return lag > Int64(count)
    } catch { throw .file(file.path, error) }
  }

  // MARK: Receiving

  /// Reads until there is nothing more for now, or the answer is whole.
  private func receive() throws(UploadError) {
    for _ in 0..<Limits.receiveCount where response == nil && !isVoid {
      let result: StreamRead
      do throws(StreamError) { result = try connection.stream.read(into: buffers.received) } catch {
        return try endReceiving(error)
      }
      switch result {
      case .notReady: return
      case .end: return try endReceiving(nil)
      case .bytes(let count): try take(UnsafeRawBufferPointer(rebasing: buffers.received[..<count]))
      }
    }
  }

  private func take(_ bytes: UnsafeRawBufferPointer) throws(UploadError) {
    var bytes = bytes
    if earlier != nil {
      let count = try takeEarlier(bytes)
      bytes = UnsafeRawBufferPointer(rebasing: bytes[count...])
      if bytes.isEmpty { return }
    }
    do throws(ResponseError) { try request.exchange.receive(bytes) } catch {
      response = request.exchange.refusalSoFar
      if response == nil { throw .invalidResponse(error, peer: connection.peer) }
    }
    if request.exchange.sending == .stopped, request.sentAt == nil { request.sentAt = now }
    response = request.exchange.finalResponse ?? response
  }

  /// Gives bytes to the request before the one that is being sent.
  /// - Returns: how many were its answer's.
  private func takeEarlier(_ bytes: UnsafeRawBufferPointer) throws(UploadError) -> Int {
    let count: Int
    do throws(ResponseError) { count = try earlier?.exchange.receive(bytes) ?? 0 } catch {
      throw .invalidResponse(error, peer: connection.peer)
    }
    guard let answered = earlier, let response = answered.exchange.finalResponse else { return count }
    earlier = nil
    followsAnswered = true
    // A refusal is for whoever knows what to do about it; the request behind it is void.
    guard response.status < 300 else {
      self.response = response
      return bytes.count
    }
    isVoid = !(try hooks.onEarlierAnswer(response, now - (answered.sentAt ?? now)))
    // A server that ends the connection here will not look at the request behind it.
    if answered.exchange.endsConnection { isVoid = true }
    if isVoid { return bytes.count }
    return count
  }

  /// The connection has ended, with or without an error.
  private func endReceiving(_ error: StreamError?) throws(UploadError) {
    let awaited = earlier?.exchange ?? request.exchange
    // A refusal counts as soon as its head is there.
    response = earlier == nil ? request.exchange.refusalSoFar : nil
    guard response == nil else { return }
    switch error {
    case .system(let error): throw .connectionLost(phase, peer: connection.peer, error)
    case .tls(.truncated) where awaited.awaitsHead, nil where awaited.awaitsHead || earlier != nil:
      throw .connectionLost(phase, peer: connection.peer, nil)
    case .tls(let error): throw .tls(error, host: connection.peer)
    case nil:
      do throws(ResponseError) { try request.exchange.receiveEnd() } catch {
        throw .invalidResponse(error, peer: connection.peer)
      }
      response = request.exchange.finalResponse
    }
  }

  // MARK: Progress and time

  /// Looks now and then how much of what was written has arrived, and whether the file is still what it was.
  private func reportProgress() throws(UploadError) {
    guard now >= nextReport || now >= deadline else { return }
    nextReport = now + Limits.progressIntervalMilliseconds
    if case .file = request.body.phase, let file {
      do throws(FileError) { try file.verifyUnchanged() } catch { throw .file(file.path, error) }
    }
    let reached = written - Int64(connection.stream.unacknowledgedLength)
    // While the rate limit forbids sending, nobody can be late.
    if reached > acknowledged {
      request.exchange.contentHasAdvanced()
      earlier?.exchange.contentHasAdvanced()
    }
    if reached > acknowledged || (isPaced && reached == written) {
      acknowledged = reached
      lastAdvance = now
    }
    guard let file, request.body.fileLength > 0 else { return }
    hooks.onProgress(Progress(deliveredBytes: min(max(0, reachedInFile), file.size), totalBytes: file.size))
  }

  /// How far the acknowledged bytes reach into the file.
  private var reachedInFile: Int64 {
    let ofRequest = acknowledged - requestStart
    // What is missing of the request before lies directly in front of this one's stretch.
    let inStretch = ofRequest < 0 ? ofRequest : max(0, ofRequest - request.framingLength)
    return request.body.fileOffset + min(inStretch, request.body.fileLength)
  }

  /// The answer is waited for from the moment that the last byte has arrived, or that the answer has begun.
  private var isAwaitingResponse: Bool {
    if earlier == nil, !request.exchange.awaitsHead { return true }
    return request.exchange.sending == .finished && acknowledged >= written
  }

  private var deadline: Int64 {
    if isAwaitingResponse { return max(request.sentAt ?? 0, lastAdvance) + timeouts.responseMilliseconds }
    return lastAdvance + timeouts.stallMilliseconds
  }

  private func checkDeadline() throws(UploadError) {
    guard now >= deadline else { return }
    response = earlier == nil ? request.exchange.refusalSoFar : nil
    guard response == nil else { return }
    let limit = isAwaitingResponse ? timeouts.responseMilliseconds : timeouts.stallMilliseconds
    throw .timedOut(isAwaitingResponse ? awaitingPhase : .sending, peer: connection.peer, limitMilliseconds: limit)
  }

  private func nextWait(isBlocked: Bool) -> Wait {
    var until = min(deadline, nextReport)
    var readiness: Readiness = .readable
    switch request.exchange.sending {
    case .awaitingContinue(let limit): until = min(until, limit)
    case .head, .body:
      let next = pace?.limiter.nextMilliseconds(nowMilliseconds: now) ?? now
      if next > now {
        until = min(until, next)
      } else {
        readiness.insert(.writable)
        // More can be written at once: poll only to see whether an answer is there.
        if !isBlocked { until = now }
      }
    case .finished, .stopped: break
    }
    return Wait(descriptor: connection.stream.descriptor, readiness: readiness, untilMilliseconds: until)
  }
}
