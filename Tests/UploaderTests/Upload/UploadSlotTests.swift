import Glibc
import Testing

@testable import Uploader

/// The memory of concurrent uploads, and the connection left by the last upload.
struct UploadSlotTests {
  @Test(arguments: 1...16)
  func allSlotsTogetherHaveTheMemoryOfOne(jobs: Int) {
    let slots = (0..<jobs).map { _ in UploadSlot(jobs: jobs) }
    let capacities = slots.map { $0.buffers.ring.capacity }
    #expect(capacities.reduce(0, +) <= 4 << 20)
    // Only a few bytes are lost to rounding, and each holds several TLS records.
    #expect(capacities.allSatisfy { $0 == (4 << 20) / jobs && $0 >= 256 << 10 })
  }

  /// Many can wait at a time.
  @Test(arguments: [true, false])
  func uploadsThatOnlyWaitNeedLittleMemoryAndNoConnectionBetweenRequests(onlyWaits: Bool) throws {
    let slot = onlyWaits ? UploadSlot(forWaiting: nil) : UploadSlot(jobs: 16)
    #expect((slot.buffers.ring.capacity + slot.buffers.received.count < 16 << 10) == onlyWaits)
    let (connection, server) = connect()
    defer { close(server) }
    slot.keep(connection, to: try TargetURI("http://hive/"), isPromised: false)
    slot.rest()
    #expect(slot.hasConnection == !onlyWaits)
  }

  // MARK: Kept connections

  /// A connected pair of sockets; the client's end is a connection.
  private func connect() -> (connection: Connection, server: Int32) {
    var ends: [Int32] = [0, 0]
    guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0 else { fatalError("socketpair failed") }
    let connection = Connection(stream: Socket(descriptor: ends[0]), peer: "peer", roundTripMilliseconds: 0)
    return (connection, ends[1])
  }

  private func take(from slot: UploadSlot, to url: String, _ choice: ConnectionChoice = .reused) throws -> Connection? {
    slot.takeConnection(to: try TargetURI(url), choice)
  }

  @Test func aKeptConnectionIsTakenOnce() throws {
    let slot = UploadSlot(jobs: 1)
    let (connection, server) = connect()
    defer { close(server) }
    slot.keep(connection, to: try TargetURI("http://hive/files/1"), isPromised: false)
    let taken = try #require(try take(from: slot, to: "http://hive/other"))
    #expect(taken.stream === connection.stream && taken.isReused && !connection.isReused)
    #expect(try take(from: slot, to: "http://hive/other") == nil)
  }

  @Test(arguments: ["http://other/", "https://hive/", "http://hive:8080/"])
  func aConnectionToAnotherOriginIsOfNoUse(url: String) throws {
    let slot = UploadSlot(jobs: 1)
    let (connection, server) = connect()
    defer { close(server) }
    slot.keep(connection, to: try TargetURI("http://hive/"), isPromised: false)
    #expect(try take(from: slot, to: url) == nil)
  }

  /// Servers send 408 (Request Timeout) on idle connections, or close them.
  @Test(arguments: ["HTTP/1.1 408 Request Timeout\r\n\r\n", ""])
  func aConnectionOnWhichTheServerSpokeOrThatItClosedIsOfNoUse(text: String) throws {
    let slot = UploadSlot(jobs: 1)
    let (connection, server) = connect()
    slot.keep(connection, to: try TargetURI("http://hive/"), isPromised: false)
    if text.isEmpty { close(server) } else { _ = write(server, text, text.utf8.count) }
    defer { if !text.isEmpty { close(server) } }
    #expect(try take(from: slot, to: "http://hive/") == nil)
  }

  /// A request that must not be sent twice goes over a connection that its server has promised to keep, or over a new one.
  @Test(arguments: [true, false])
  func onlyAPromisedConnectionIsGoodForARequestThatMustNotBeRepeated(isPromised: Bool) throws {
    let slot = UploadSlot(jobs: 1)
    let (connection, server) = connect()
    defer { close(server) }
    slot.keep(connection, to: try TargetURI("http://hive/"), isPromised: isPromised)
    #expect(try (take(from: slot, to: "http://hive/", .reusedIfPromised) != nil) == isPromised)
    // It was taken, or closed.
    #expect(try take(from: slot, to: "http://hive/") == nil)
  }

  /// Keeps a connection to the origin, and returns whether it can be taken.
  private func keeps(_ slot: UploadSlot, _ url: String, isPromised: Bool = false) throws -> Bool {
    let (connection, server) = connect()
    defer { close(server) }
    slot.keep(connection, to: try TargetURI(url), isPromised: isPromised)
    return try take(from: slot, to: url) != nil
  }

  @Test func anOriginWhoseServerClosesConnectionsSilentlyGetsNewOnes() throws {
    let slot = UploadSlot(jobs: 1)
    #expect(try keeps(slot, "http://hive/"))
    let (connection, server) = connect()
    defer { close(server) }
    slot.keep(connection, to: try TargetURI("http://hive/"), isPromised: true)
    #expect(try take(from: slot, to: "http://hive/files/1", .fresh) == nil)
    // From now on, even if it promises to stay open, and for any path.
    #expect(try !keeps(slot, "http://hive/") && !keeps(slot, "http://hive/files/", isPromised: true))
    #expect(try keeps(slot, "http://hive:8080/") && keeps(slot, "http://other/"))
  }

  @Test func theOldestOriginIsForgottenWhenThereAreTooMany() throws {
    let slot = UploadSlot(jobs: 1)
    let count = Limits.avoidedOriginCount
    // Twice: a known origin takes no second place.
    for _ in 0..<2 {
      for index in 0..<count { #expect(try take(from: slot, to: "http://hive\(index)/", .fresh) == nil) }
    }
    for index in 0..<count { #expect(try !keeps(slot, "http://hive\(index)/")) }
    #expect(try take(from: slot, to: "http://another/", .fresh) == nil)
    #expect(try keeps(slot, "http://hive0/") && !keeps(slot, "http://hive1/") && !keeps(slot, "http://another/"))
  }
}
