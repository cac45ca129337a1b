import CShims
import UploadCore

/// The buffers that a transfer works with. Allocated once and handed from one transfer to the next.
final class TransferBuffers {
  var ring = RingBuffer(capacity: Limits.ringCapacity)
  let received = UnsafeMutableRawBufferPointer.allocate(byteCount: Limits.receiveLength, alignment: 16)

  deinit { received.deallocate() }
}

/// One file on its way through one connection:
///
///     file ──read──▶ ring ──write──▶ connection
///                                        │
///     response ◀──── exchange ◀──read────┘   (also while sending)
///
/// Each step reads what has arrived and writes one run; then it says what it waits for.
final class Transfer: Machine {
  private let connection: Connection
  private let buffers: TransferBuffers
  private let file: SourceFile
  private let path: FilePath
  private let head: [UInt8]
  private var body: RequestBody
  private var exchange: Exchange
  private let digest: SHA256?
  private let timeouts: Timeouts
  private let onProgress: (Progress) -> Void

  private var headTaken = 0
  /// Can the file go past the ring?
  private var mayBeDirect: Bool
  /// Bytes of head and body that the connection has taken.
  private var written: Int64 = 0
  /// Bytes of head and body that the connection was given to write, all or part of which it may have passed on.
  private var offered: Int64 = 0
  /// Bytes of `written` that the peer has acknowledged, when last looked at.
  private var acknowledged: Int64 = 0

  private var now: Int64 = 0
  private var lastAdvance: Int64 = 0
  private var nextReport: Int64 = 0
  private var sendingEnded: Int64?
  /// When the first step was made, on the monotonic clock.
  private(set) var startedAt: Int64?
  /// The answer, once ``step(_:nowMilliseconds:)`` has returned nil.
  private(set) var response: Response?

  /// - Parameter digest: is given every byte of the file as it is read.
  init(
    of file: SourceFile, path: FilePath, head: [UInt8], body: RequestBody, exchange: Exchange, digest: SHA256?,
    over connection: Connection, buffers: TransferBuffers, timeouts: Timeouts,
    onProgress: @escaping (Progress) -> Void
  ) {
    self.file = file
    self.path = path
    self.head = head
    self.body = body
    self.exchange = exchange
    self.digest = digest
    self.connection = connection
    self.buffers = buffers
    self.timeouts = timeouts
    self.onProgress = onProgress
    // What fits into one run goes out in one write, with its framing.
    mayBeDirect = digest == nil && body.fileLength > Int64(Limits.runLength)
    buffers.ring.removeAll()
  }

  /// Can the next request use the same connection?
  var canReuseConnection: Bool { exchange.canReuseConnection }

  /// Did anything of an answer arrive? If not, a kept connection may have been closed before the request came.
  var hasBegunReceiving: Bool { exchange.hasBegunReceiving }

  /// Has the whole request gone out?
  var hasSentAll: Bool { exchange.sending == .finished }

  /// Can any of the body have gone out?
  var hasBegunBody: Bool { offered > Int64(head.count) }

  private var phase: UploadPhase { sendingEnded == nil ? .sending : .awaitingResponse }

  // MARK: The step

  func step(_ ready: Readiness, nowMilliseconds: Int64) throws(UploadError) -> Wait? {
    now = nowMilliseconds
    if startedAt == nil {
      startedAt = now
      lastAdvance = now
    }
    exchange.tick(nowMilliseconds: now)
    if ready.contains(.readable) { try receive() }
    let isBlocked = response == nil ? try send() : false
    if response != nil { return nil }
    try reportProgress()
    try checkDeadline()
    if response != nil { return nil }
    return nextWait(isBlocked: isBlocked)
  }

  // MARK: Sending

  /// Writes one run, refilling the ring when it is empty.
  /// - Returns: true if the connection takes no more for now.
  private func send() throws(UploadError) -> Bool {
    if exchange.sending == .finished || exchange.sending == .stopped { return false }
    // Only when it is empty: the ring then starts at its first byte, and the kernel's own queues bridge the read.
    if buffers.ring.isEmpty {
      if let isBlocked = try sendDirectly() { return isBlocked }
      try fill()
    }
    let run = buffers.ring.readableRun.prefix(Limits.runLength)
    offered = max(offered, written + Int64(run.count))
    do throws(StreamError) {
      let count = run.isEmpty ? 0 : try connection.stream.write(UnsafeRawBufferPointer(rebasing: run))
      buffers.ring.consume(count)
      written += Int64(count)
      let isFlushed = try connection.stream.flush()
      if isFlushed { noteSent() }
      return count < run.count || !isFlushed
    } catch {
      try receiveRest(after: error)
      return false
    }
  }

  /// Lets the kernel pass the file from its page cache to the connection, where nobody needs to see the bytes: no TLS to
  /// encrypt them and no digest to compute.
  /// - Returns: nil if the ring has to do it.
  private func sendDirectly() throws(UploadError) -> Bool? {
    guard mayBeDirect, exchange.sending == .body, case .file(let offset) = body.phase else { return nil }
    let length = Int(min(body.fileLength - offset, Int64(Limits.directLength)))
    offered = max(offered, written + Int64(length))
    let isBlocked: Bool
    do throws(DirectError) {
      guard let count = try connection.stream.send(file, at: offset, count: length) else {
        mayBeDirect = false
        return nil
      }
      written += Int64(count)
      if count > 0 { body.advanceFile(by: count) }
      isBlocked = count < length
    } catch {
      switch error {
      case .file(let error): throw .file(path, error)
      case .stream(let error): try receiveRest(after: error)
      }
      return false
    }
    try verifyAtEnd()
    return isBlocked
  }

  /// What the server said before it closed the connection is worth more than the error (RFC 9112, 9.6).
  private func receiveRest(after error: StreamError) throws(UploadError) {
    try receive()
    if response == nil { try endReceiving(error) }
  }

  private func noteSent() {
    if written >= Int64(head.count) { exchange.headWasSent(continueDeadlineMilliseconds: now + continueWait) }
    guard body.phase == .complete, buffers.ring.isEmpty else { return }
    exchange.bodyWasSent()
    if exchange.sending == .finished, sendingEnded == nil { sendingEnded = now }
  }

  /// Some round trips, within bounds: a server that means to answer does so by then, and one that ignores the
  /// expectation costs little.
  private var continueWait: Int64 {
    let roundTrips = connection.roundTripMilliseconds * Limits.continueWaitRoundTrips
    return min(max(roundTrips, Limits.continueWaitMinimumMilliseconds), Limits.continueWaitMaximumMilliseconds)
  }

  /// Puts the next run into the ring: what is left of the head, framing, and one read of the file.
  private func fill() throws(UploadError) {
    fillFromHead()
    guard exchange.sending == .body || !exchange.expectsContinue else { return }
    while !buffers.ring.isFull {
      switch body.phase {
      case .header, .footer:
        buffers.ring.commit(body.writeFraming(into: buffers.ring.writableRun))
      case .file(let offset):
        // The framing before the file goes out first, and the file behind it past the ring.
        if mayBeDirect, !buffers.ring.isEmpty { return }
        try fillFromFile(at: offset)
        if case .file = body.phase { return }
      case .complete:
        return
      }
    }
  }

  private func fillFromHead() {
    let space = buffers.ring.writableRun
    let count = min(head.count - headTaken, space.count)
    guard count > 0 else { return }
    space.copyBytes(from: head[headTaken..<(headTaken + count)])
    buffers.ring.commit(count)
    headTaken += count
  }

  private func fillFromFile(at offset: Int64) throws(UploadError) {
    let space = buffers.ring.writableRun
    let length = min(Int64(min(space.count, Limits.runLength)), body.fileLength - offset)
    let run = UnsafeMutableRawBufferPointer(rebasing: space[..<Int(length)])
    do throws(FileError) {
      let count = try file.read(into: run, at: offset)
      digest?.update(UnsafeRawBufferPointer(rebasing: run[..<count]))
      buffers.ring.commit(count)
      body.advanceFile(by: count)
    } catch { throw .file(path, error) }
    try verifyAtEnd()
  }

  /// The end of the body says "this was the whole file", so it follows only if that is still true.
  private func verifyAtEnd() throws(UploadError) {
    if case .file = body.phase { return }
    do throws(FileError) { try file.verifyUnchanged() } catch { throw .file(path, error) }
  }

  // MARK: Receiving

  /// Reads until there is nothing more for now, or the answer is whole.
  private func receive() throws(UploadError) {
    while response == nil {
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
    do throws(ResponseError) { try exchange.receive(bytes) } catch {
      response = exchange.refusalSoFar
      if response == nil { throw .invalidResponse(error, peer: connection.peer) }
    }
    if exchange.sending == .stopped, sendingEnded == nil { sendingEnded = now }
    response = exchange.finalResponse ?? response
  }

  /// The connection has ended, with or without an error.
  private func endReceiving(_ error: StreamError?) throws(UploadError) {
    // A refusal counts as soon as its head is there.
    response = exchange.refusalSoFar
    guard response == nil else { return }
    switch error {
    case .system(let error): throw .connectionLost(phase, peer: connection.peer, error)
    case .tls(.truncated) where exchange.awaitsHead, nil where exchange.awaitsHead:
      throw .connectionLost(phase, peer: connection.peer, nil)
    case .tls(let error): throw .tls(error, host: connection.peer)
    case nil:
      do throws(ResponseError) { try exchange.receiveEnd() } catch {
        throw .invalidResponse(error, peer: connection.peer)
      }
      response = exchange.finalResponse
    }
  }

  // MARK: Progress and time

  /// Looks now and then how much of what was written has arrived, and whether the file is still what it was.
  private func reportProgress() throws(UploadError) {
    guard now >= nextReport || now >= deadline else { return }
    nextReport = now + Limits.progressIntervalMilliseconds
    if case .file = body.phase {
      do throws(FileError) { try file.verifyUnchanged() } catch { throw .file(path, error) }
    }
    let reached = written - Int64(connection.stream.unacknowledgedLength)
    if reached > acknowledged {
      acknowledged = reached
      lastAdvance = now
    }
    let ofFile = acknowledged - Int64(head.count) - Int64(body.header.count)
    onProgress(Progress(deliveredBytes: min(max(0, ofFile), file.size), totalBytes: file.size))
  }

  /// The answer is waited for from the moment that the last byte has arrived, or that the answer has begun.
  private var isAwaitingResponse: Bool {
    !exchange.awaitsHead || (exchange.sending == .finished && acknowledged >= written)
  }

  private var deadline: Int64 {
    if isAwaitingResponse { return max(sendingEnded ?? 0, lastAdvance) + timeouts.responseMilliseconds }
    return lastAdvance + timeouts.stallMilliseconds
  }

  private func checkDeadline() throws(UploadError) {
    guard now >= deadline else { return }
    response = exchange.refusalSoFar
    guard response == nil else { return }
    let limit = isAwaitingResponse ? timeouts.responseMilliseconds : timeouts.stallMilliseconds
    throw .timedOut(isAwaitingResponse ? .awaitingResponse : .sending, peer: connection.peer, limitMilliseconds: limit)
  }

  private func nextWait(isBlocked: Bool) -> Wait {
    var until = min(deadline, nextReport)
    var readiness: Readiness = .readable
    switch exchange.sending {
    case .awaitingContinue(let limit): until = min(until, limit)
    case .head, .body:
      readiness.insert(.writable)
      // More can be written at once: poll only to see whether an answer is there.
      if !isBlocked { until = now }
    case .finished, .stopped: break
    }
    return Wait(descriptor: connection.stream.descriptor, readiness: readiness, untilMilliseconds: until)
  }
}
