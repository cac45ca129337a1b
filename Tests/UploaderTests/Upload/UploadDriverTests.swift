import Foundation
import Testing

@testable import Uploader

/// A driver with its own file, and a log of its callbacks.
private final class DriverBench {
  let directory = TemporaryDirectory()
  let content: [UInt8]
  var configuration = Configuration()
  var slot = UploadSlot(jobs: 1)
  private let path: LocalPath
  private let told = Told()

  final class Told: @unchecked Sendable {
    var lines: [String] = []
    var warnings: [String] = []
    var retries: [Retry] = []
    var changes: [RecordChange] = []
    /// Called with each change before it counts as saved.
    var save: (RecordChange) throws(UploadError) -> Void = { (_) throws(UploadError) in }
  }

  init(length: Int) {
    content = recording(length)
    path = directory.file("set.wav", content)
    configuration.retryMaximumDelayMilliseconds = 1
    let told = told
    configuration.diagnostics = { told.lines.append($0) }
    configuration.warnings = { told.warnings.append($0) }
  }

  var retries: [Retry] { told.retries }
  var warnings: [String] { told.warnings }
  var changes: [RecordChange] { told.changes }
  /// How many connections were made.
  var connectionCount: Int { told.lines.filter { $0.hasPrefix("* connecting to ") }.count }

  func onSave(_ save: @escaping (RecordChange) throws(UploadError) -> Void) { told.save = save }

  func driver(
    to destination: Destination, _ connections: ConnectionLimit = .count(1),
    configure: (inout UploadRequest) -> Void = { _ in }
  ) throws -> UploadDriver {
    var request = UploadRequest(file: path, destination: destination)
    configure(&request)
    let file = try SourceFile.open(path, limit: .max)
    let plan = UploadPlan(
      request, size: file.size, recordID: connections == .automatic ? "0000abcd" : nil, connections: connections,
      boundary: Boundary(random: Array(0...15)))
    let shared = SharedResources(configuration: configuration, tls: TLSContextCache(configuration.tls, jobs: 1))
    let told = told
    var hooks = DriverHooks()
    hooks.onRetry = { told.retries.append($0) }
    hooks.save = { (change) throws(UploadError) in
      told.changes.append(change)
      try told.save(change)
    }
    return UploadDriver(
      try UploadMachine(.upload(plan), try shared.policy()),
      of: TransferSource(file: file, digest: request.computesSHA256 ? try FileDigest() : nil), slot: slot,
      shared: shared, composer: RequestComposer(configuration, origin: request.base.origin), hooks: hooks)
  }

  /// A driver without a file.
  /// - Parameter hasAsked: whether the machine has a request in flight that the driver does not know.
  func driverWithoutFile(to target: TargetURI, hasAsked: Bool = false) throws -> UploadDriver {
    let request = UploadRequest(file: path, destination: .multipart(target))
    let plan = UploadPlan(request, size: 300, boundary: Boundary(random: Array(0...15)))
    let shared = SharedResources(configuration: configuration, tls: TLSContextCache(configuration.tls, jobs: 1))
    var machine = try UploadMachine(.upload(plan), try shared.policy())
    if hasAsked { _ = machine.next(nowMilliseconds: 0, unixSeconds: 0) }
    return UploadDriver(
      machine, slot: slot, shared: shared, composer: RequestComposer(configuration, origin: target.origin))
  }

  /// Runs the driver as the loop does.
  func run(_ driver: UploadDriver) throws(UploadError) -> Outcome? {
    var waiting: UploadDriver? = driver
    var failure: UploadError?
    EventLoop<UploadDriver>(Cancellation()).run(1) {
      defer { waiting = nil }
      return waiting
    } ended: { _, error in
      failure = error
    }
    if let failure { throw failure }
    return driver.outcome
  }
}

struct UploadDriverTests {
  private let ok = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"

  private func tus(_ server: LoopbackServer) throws -> Destination { .tus(try TargetURI(server.url + "files/")) }

  private func isDelivered(_ outcome: Outcome?) -> Bool {
    if case .delivered = outcome { true } else { false }
  }

  // MARK: What the machine cannot get

  @Test func aDriverWithoutAFileEndsAnUploadWithAnError() throws {
    let bench = DriverBench(length: 300)
    let listener = Listener()
    let driver = try bench.driverWithoutFile(to: TargetURI("http://127.0.0.1:\(listener.port)/"))
    #expect(throws: UploadError.noFile) { try bench.run(driver) }
  }

  @Test func aResponseThatCannotComeIsNotWaitedFor() throws {
    let bench = DriverBench(length: 300)
    let driver = try bench.driverWithoutFile(to: TargetURI("http://hive/"), hasAsked: true)
    #expect(throws: UploadError.connectionLost(.awaitingAnswer, peer: "http://hive", nil)) { try bench.run(driver) }
    #expect(bench.connectionCount == 0)
  }

  // MARK: Connections

  @Test func allRequestsGoOverOneConnection() throws {
    let bench = DriverBench(length: 300)
    let server = LoopbackServer(TusStub(length: 300))
    let driver = try bench.driver(to: tus(server)) { $0.chunkLength = 100 }
    #expect(isDelivered(try bench.run(driver)))
    #expect(server.finish().count == 5 && bench.connectionCount == 1 && driver.machine.answer?.link == nil)
  }

  /// Packets that are lost decide whether an upload is left for parts.
  @Test func theCountsOfTheConnectionAreKnownWhereTheyMatter() throws {
    let bench = DriverBench(length: 300)
    let stub = TusStub(length: 300)
    let server = LoopbackServer {
      guard $0.line.hasPrefix("OPTIONS ") else { return stub.answer($0) }
      return .answer(TusScript.offerText("creation,concatenation,termination"))
    }
    let driver = try bench.driver(to: tus(server), .automatic) { $0.chunkLength = 100 }
    var segments: Int64 = 0
    // The driver owns what it saves with.
    bench.onSave { [weak driver] (change) throws(UploadError) in
      if change == .lastByteNext { segments = driver?.machine.answer?.link?.segments ?? 0 }
    }
    #expect(isDelivered(try bench.run(driver)))
    _ = server.finish()
    #expect(segments >= 4)
  }

  @Test(arguments: [true, false])
  func theConnectionOfUploadsThatOnlyWaitEndsBeforeAPause(onlyWaits: Bool) throws {
    let bench = DriverBench(length: 300)
    bench.configuration.retryMaximumDelayMilliseconds = 20
    if onlyWaits { bench.slot = UploadSlot(forWaiting: nil) }
    let (stub, refusals) = (TusStub(length: 300), Countdown(1))
    let server = LoopbackServer {
      if $0.line == "PATCH /files/1", refusals.takeOne() { return .answer(TusScript.refusal(503)) }
      return stub.answer($0)
    }
    #expect(isDelivered(try bench.run(bench.driver(to: tus(server)) { $0.chunkLength = 100 })))
    #expect(server.finish().count > 5 && bench.retries.count == 1)
    #expect(bench.connectionCount == (onlyWaits ? 2 : 1))
    #expect(bench.slot.connectingSinceMilliseconds == nil)
  }

  private final class Countdown: @unchecked Sendable {
    private let lock = NSLock()
    private var count: Int
    init(_ count: Int) { self.count = count }
    func takeOne() -> Bool {
      lock.withLock {
        count -= 1
        return count >= 0
      }
    }
  }

  /// The server closed it just before a request arrived. No failure is reported, and from then on each request has its own
  /// connection.
  @Test func aStaleConnectionIsReplacedSilentlyAndLaterOnesAreNew() throws {
    let bench = DriverBench(length: 300)
    bench.configuration.retryLimit = .failures(0)
    let server = LoopbackServer(TusStub(length: 300, resets: [1]))
    #expect(isDelivered(try bench.run(bench.driver(to: tus(server)) { $0.chunkLength = 100 })))
    let lines = server.finish().map { $0.line }
    #expect(
      lines == ["OPTIONS /files/", "POST /files/", "POST /files/"] + Array(repeating: "PATCH /files/1", count: 3))
    // OPTIONS and the POST that was lost over the first one.
    #expect(bench.retries.isEmpty && bench.connectionCount == 5)
  }

  @Test func aFreshConnectionThatBreaksIsAFailure() throws {
    let bench = DriverBench(length: 300)
    let server = LoopbackServer(TusStub(length: 300, resets: [0, 3]))
    #expect(isDelivered(try bench.run(bench.driver(to: tus(server)))))
    _ = server.finish()
    // The second one broke during a request that reused it.
    #expect(bench.retries.map { $0.failures } == [1] && bench.connectionCount == 4)
  }

  // MARK: The end where little is lost

  /// A driver over a connection that takes only so many bytes. It is to finish ten seconds from now.
  private func blocked(
    _ bench: DriverBench, to destination: Destination, after written: Int, _ stream: ScriptedStream
  ) throws -> UploadDriver {
    bench.slot.keep(
      Connection(stream: stream, peer: "hive", roundTripMilliseconds: 0), to: try TargetURI("http://hive/"),
      isPromised: true)
    stream.nextTake = { [unowned stream] in
      let room = written - stream.written.count
      return room > 0 ? .upTo(room) : .notReady
    }
    let driver = try bench.driver(to: destination)
    for now: Int64 in 0..<5 { #expect(try driver.step([.readable, .writable], nowMilliseconds: now) != nil) }
    driver.finish(nowMilliseconds: 10_000 - Limits.finishMilliseconds)
    return driver
  }

  @Test func aFormOfWhichAPartWasSentIsCompleted() throws {
    let stream = ScriptedStream()
    let driver = try blocked(
      DriverBench(length: 200), to: .multipart(try TargetURI("http://hive/")), after: 100, stream)
    let wait = try driver.step([], nowMilliseconds: 20_000)
    #expect(wait != nil)
    stream.nextTake = { .upTo(.max) }
    stream.thenAnswer(ok, afterWritten: 200)
    for now: Int64 in 0..<50 where driver.outcome == nil {
      _ = try driver.step([.readable, .writable], nowMilliseconds: 20_000 + now)
    }
    #expect(isDelivered(driver.outcome))
  }

  @Test func aRequestOverTusHasAMinute() throws {
    let stream = ScriptedStream()
    let offer = "HTTP/1.1 204 No Content\r\nTus-Version: 1.0.0\r\nTus-Extension: creation\r\n\r\n"
    stream.thenAnswer(offer, afterWritten: 40)
    let tus = Destination.tus(try TargetURI("http://hive/files/"))
    let driver = try blocked(DriverBench(length: 200), to: tus, after: 150, stream)
    let wait = try driver.step([], nowMilliseconds: 9999)
    #expect(wait?.untilMilliseconds == 10_000)
    #expect(throws: UploadError.cancelled(hasSentAll: false)) { try driver.step([], nowMilliseconds: 10_000) }
  }

  // MARK: The record

  /// Each change is on disk before the next request is sent, so that the upload is found again after a power cut.
  @Test func aChangeIsSavedBeforeTheRequestThatNeedsIt() throws {
    let bench = DriverBench(length: 200)
    let stream = ScriptedStream()
    let destination = Destination.tus(try TargetURI("http://hive/files/"))
    bench.slot.keep(
      Connection(stream: stream, peer: "hive", roundTripMilliseconds: 0), to: try TargetURI("http://hive/"),
      isPromised: true)
    // What was sent up to the end of each head, and the response to it.
    var answered = 0
    stream.onWrite = { [unowned stream] _ in
      let text = String(decoding: stream.written, as: UTF8.self)
      let heads = text.components(separatedBy: "\r\n\r\n").count - 1
      let patches = text.components(separatedBy: "PATCH ").count - 1
      guard heads > answered else { return }
      answered = heads
      switch heads {
      case 1: stream.thenAnswer("HTTP/1.1 204 No Content\r\nTus-Version: 1.0.0\r\nTus-Extension: creation\r\n\r\n")
      case 2: stream.thenAnswer("HTTP/1.1 201 Created\r\nLocation: /files/1\r\nContent-Length: 0\r\n\r\n")
      default: stream.thenAnswer(stored(patches * 100))
      }
    }
    var requestsAtSave: [Int] = []
    bench.onSave { (_) throws(UploadError) in requestsAtSave.append(answered) }
    let driver = try bench.driver(to: destination) { $0.chunkLength = 100 }
    var now: Int64 = 0
    while try driver.step([.readable, .writable], nowMilliseconds: now) != nil, now < 1000 { now += 1 }
    #expect(isDelivered(driver.outcome) && answered == 4)
    #expect(bench.changes == [.created(location: "http://hive/files/1", expires: nil), .lastByteNext])
    #expect(requestsAtSave == [2, 3])
  }

  @Test(arguments: [0, 1])
  func aRecordThatCannotBeWrittenEndsTheUpload(change: Int) throws {
    let bench = DriverBench(length: 200)
    let server = LoopbackServer(TusStub(length: 200))
    let failure = UploadError.state(.unusable("/state", SystemError(code: 28)))
    var count = 0
    bench.onSave { (_) throws(UploadError) in
      defer { count += 1 }
      if count == change { throw failure }
    }
    let driver = try bench.driver(to: tus(server)) { $0.chunkLength = 100 }
    #expect(throws: failure) { try bench.run(driver) }
    // Nothing is sent before it is recorded.
    let lines = server.finish().map { $0.line }
    #expect(lines == ["OPTIONS /files/", "POST /files/"] + Array(repeating: "PATCH /files/1", count: change))
    #expect(bench.retries.isEmpty && driver.outcome == nil)
  }

  /// A form is delivered on a full disk, too.
  @Test func aFormWhoseEndCannotBeRecordedIsDeliveredWithAWarning() throws {
    let bench = DriverBench(length: 200)
    let server = LoopbackServer { [ok] _ in .answer(ok) }
    let failure = UploadError.state(.unusable("/state", SystemError(code: 28)))
    bench.onSave { (_) throws(UploadError) in throw failure }
    #expect(isDelivered(try bench.run(bench.driver(to: .multipart(TargetURI(server.url))))))
    #expect(server.finish().map { $0.line } == ["POST /"] && bench.changes == [.mayBeStored])
    #expect(bench.warnings.count == 1 && bench.warnings[0].contains("check whether the server has this recording"))
  }

  // MARK: Total time limit

  /// A server that reads heads and then nothing, until told to continue.
  private final class SilentServer {
    private let gate = DispatchSemaphore(value: 0)
    let server: LoopbackServer

    init() {
      server = LoopbackServer { [gate] _ in
        gate.wait()
        return .reset
      }
    }

    func finish() {
      gate.signal()
      _ = server.finish()
    }
  }

  /// Steps the driver, with the clock stopped, until the current request was sent as far as possible.
  private func send(_ driver: UploadDriver, whole: Bool) throws {
    var ready: Readiness = []
    var quiet = 0
    // The loopback connection and the lookup thread take some time.
    for _ in 0..<60_000 {
      guard let wait = try driver.step(ready, nowMilliseconds: 1000) else { return }
      ready = wait.descriptor < 0 ? [] : Readiness.of(wait.descriptor, wait.readiness)
      if driver.hasSentAll == whole, ready.isEmpty { quiet += 1 } else { quiet = 0 }
      if quiet > (whole ? 0 : 300) { return }
      usleep(1000)
    }
    Issue.record("the request does not go out")
  }

  private func formOverTime(to server: SilentServer, length: Int) throws -> UploadError? {
    let bench = DriverBench(length: length)
    bench.configuration.timeouts.totalMilliseconds = 10_000
    let base = try TargetURI(server.server.url)
    let driver = try bench.driver(to: .multipart(base))
    try send(driver, whole: length < 1000)
    #expect(driver.hasSentAll == (length < 1000))
    // The driver wakes at that time, and not before.
    let wait = try #require(try driver.step([], nowMilliseconds: 10_999))
    #expect(wait.untilMilliseconds <= 11_000)
    var failure: UploadError?
    do throws(UploadError) { _ = try driver.step([], nowMilliseconds: 11_000) } catch { failure = error }
    server.finish()
    #expect(bench.retries.isEmpty)
    return failure
  }

  private func timedOut(_ server: SilentServer) -> UploadError {
    .timedOut(.delivering, peer: "http://127.0.0.1:\(server.server.port)", limitMilliseconds: 10_000)
  }

  /// A plain endpoint may have stored the recording, and nothing shows whether it has.
  @Test func aFormSentWholeToAPlainEndpointMayBeStored() throws {
    let server = SilentServer()
    #expect(try formOverTime(to: server, length: 300) == .mayBeStored(timedOut(server)))
  }

  @Test func aFormSentInPartToAPlainEndpointIsNotStored() throws {
    let server = SilentServer()
    #expect(try formOverTime(to: server, length: 30 << 20) == timedOut(server))
  }

  /// A server that does not accept connections has received nothing.
  @Test func aFormIsNotStoredWhenTheTimeIsOverBeforeAConnectionIsMade() throws {
    let bench = DriverBench(length: 300)
    bench.configuration.timeouts.totalMilliseconds = 10_000
    let listener = Listener(isFull: true)
    let driver = try bench.driver(to: .multipart(try TargetURI("http://127.0.0.1:\(listener.port)/")))
    var connections = 0
    for _ in 0..<60_000 where connections == 0 {
      _ = try driver.step([.readable], nowMilliseconds: 1000)
      connections = bench.connectionCount
      usleep(1000)
    }
    let error = UploadError.timedOut(
      .delivering, peer: "http://127.0.0.1:\(listener.port)", limitMilliseconds: 10_000)
    #expect(throws: error) { try driver.step([], nowMilliseconds: 11_000) }
    #expect(connections == 1 && !driver.hasSentAll)
  }

  @Test func theTimeForAllOfItEndsAPauseBetweenTries() throws {
    let bench = DriverBench(length: 300)
    bench.configuration.timeouts.totalMilliseconds = 10_000
    bench.configuration.retryLimit = .failures(100)
    bench.configuration.retryMaximumDelayMilliseconds = 3_600_000
    let server = LoopbackServer([[.answer(TusScript.refusal(503, "Retry-After: 3000\r\n"))]])
    let driver = try bench.driver(to: tus(server))
    for _ in 0..<60_000 where bench.retries.isEmpty {
      _ = try driver.step([.readable, .writable], nowMilliseconds: 1000)
      usleep(1000)
    }
    #expect(bench.retries.count == 1)
    #expect(try driver.step([], nowMilliseconds: 2000)?.untilMilliseconds == 11_000)
    #expect(throws: UploadError.self) { try driver.step([], nowMilliseconds: 11_000) }
    _ = server.finish()
  }
}
