import Glibc
import Testing

@testable import Uploader

/// The memory of several uploads at once, and the connection that the last upload left.
struct LaneTests {
  @Test(arguments: 1...16)
  func allLanesTogetherHaveTheMemoryOfOne(jobs: Int) {
    let lanes = (0..<jobs).map { _ in Lane(jobs: jobs) }
    let capacities = lanes.map { $0.buffers.ring.capacity }
    #expect(capacities.reduce(0, +) <= 4 << 20)
    // None is lost to rounding but a few bytes, and each holds some TLS records.
    #expect(capacities.allSatisfy { $0 == (4 << 20) / jobs && $0 >= 256 << 10 })
  }

  // MARK: Kept connections

  /// A connected pair of sockets; the client's end is a connection.
  private func connect() -> (connection: Connection, server: Int32) {
    var ends: [Int32] = [0, 0]
    guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0 else { fatalError("socketpair failed") }
    let connection = Connection(stream: Socket(descriptor: ends[0]), peer: "peer", roundTripMilliseconds: 0)
    return (connection, ends[1])
  }

  private func take(from lane: Lane, to url: String, _ choice: ConnectionChoice = .kept) throws -> Connection? {
    lane.takeConnection(to: try TargetURI(url), choice)
  }

  @Test func aKeptConnectionIsHandedOverOnce() throws {
    let lane = Lane(jobs: 1)
    let (connection, server) = connect()
    defer { close(server) }
    lane.keep(connection, to: try TargetURI("http://hive/files/1"), isPromised: false)
    #expect(try take(from: lane, to: "http://hive/other")?.stream === connection.stream)
    #expect(try take(from: lane, to: "http://hive/other") == nil)
  }

  @Test(arguments: ["http://other/", "https://hive/", "http://hive:8080/"])
  func aConnectionToAnotherOriginIsOfNoUse(url: String) throws {
    let lane = Lane(jobs: 1)
    let (connection, server) = connect()
    defer { close(server) }
    lane.keep(connection, to: try TargetURI("http://hive/"), isPromised: false)
    #expect(try take(from: lane, to: url) == nil)
  }

  /// 408 (Request Timeout) and closing are what servers do to connections that are idle.
  @Test(arguments: ["HTTP/1.1 408 Request Timeout\r\n\r\n", ""])
  func aConnectionOnWhichTheServerSpokeOrThatItClosedIsOfNoUse(text: String) throws {
    let lane = Lane(jobs: 1)
    let (connection, server) = connect()
    lane.keep(connection, to: try TargetURI("http://hive/"), isPromised: false)
    if text.isEmpty { close(server) } else { _ = write(server, text, text.utf8.count) }
    defer { if !text.isEmpty { close(server) } }
    #expect(try take(from: lane, to: "http://hive/") == nil)
  }

  @Test func aConnectionThatWasUsedSaysSo() throws {
    let lane = Lane(jobs: 1)
    let (connection, server) = connect()
    defer { close(server) }
    #expect(!connection.isReused)
    lane.keep(connection, to: try TargetURI("http://hive/"), isPromised: false)
    #expect(try take(from: lane, to: "http://hive/")?.isReused == true)
  }

  /// A request that must not be sent twice goes over a connection that its server has promised to keep, or over a new one.
  @Test(arguments: [true, false])
  func onlyAPromisedConnectionIsGoodForARequestThatMustNotBeRepeated(isPromised: Bool) throws {
    let lane = Lane(jobs: 1)
    let (connection, server) = connect()
    defer { close(server) }
    lane.keep(connection, to: try TargetURI("http://hive/"), isPromised: isPromised)
    #expect(try (take(from: lane, to: "http://hive/", .keptIfPromised) != nil) == isPromised)
    // It was handed over, or closed.
    #expect(try take(from: lane, to: "http://hive/") == nil)
  }

  /// Keeps a connection to the origin and tells whether it is handed over.
  private func keeps(_ lane: Lane, _ url: String, isPromised: Bool = false) throws -> Bool {
    let (connection, server) = connect()
    defer { close(server) }
    lane.keep(connection, to: try TargetURI(url), isPromised: isPromised)
    return try take(from: lane, to: url) != nil
  }

  @Test func anOriginWhoseServerClosesConnectionsSilentlyGetsNewOnes() throws {
    let lane = Lane(jobs: 1)
    #expect(try keeps(lane, "http://hive/"))
    let (connection, server) = connect()
    defer { close(server) }
    lane.keep(connection, to: try TargetURI("http://hive/"), isPromised: true)
    #expect(try take(from: lane, to: "http://hive/files/1", .fresh) == nil)
    // From here on, also if it promises something, and wherever there.
    #expect(try !keeps(lane, "http://hive/") && !keeps(lane, "http://hive/files/", isPromised: true))
    #expect(try keeps(lane, "http://hive:8080/") && keeps(lane, "http://other/"))
  }

  @Test func soManyOriginsAreRememberedAndTheOldestIsForgotten() throws {
    let lane = Lane(jobs: 1)
    let count = Limits.avoidedOriginCount
    // Twice: one that is known takes no second place.
    for _ in 0..<2 {
      for index in 0..<count { #expect(try take(from: lane, to: "http://hive\(index)/", .fresh) == nil) }
    }
    for index in 0..<count { #expect(try !keeps(lane, "http://hive\(index)/")) }
    #expect(try take(from: lane, to: "http://another/", .fresh) == nil)
    #expect(try keeps(lane, "http://hive0/") && !keeps(lane, "http://hive1/") && !keeps(lane, "http://another/"))
  }
}
