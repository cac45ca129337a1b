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

  private func take(from lane: Lane, to url: String) throws -> Connection? {
    lane.takeConnection(to: try TargetURI(url))
  }

  @Test func aKeptConnectionIsHandedOverOnce() throws {
    let lane = Lane(jobs: 1)
    let (connection, server) = connect()
    defer { close(server) }
    lane.keep(connection, to: try TargetURI("http://hive/files/1"))
    #expect(try take(from: lane, to: "http://hive/other")?.stream === connection.stream)
    #expect(try take(from: lane, to: "http://hive/other") == nil)
  }

  @Test(arguments: ["http://other/", "https://hive/", "http://hive:8080/"])
  func aConnectionToAnotherOriginIsOfNoUse(url: String) throws {
    let lane = Lane(jobs: 1)
    let (connection, server) = connect()
    defer { close(server) }
    lane.keep(connection, to: try TargetURI("http://hive/"))
    #expect(try take(from: lane, to: url) == nil)
  }

  /// 408 (Request Timeout) and closing are what servers do to connections that are idle.
  @Test(arguments: ["HTTP/1.1 408 Request Timeout\r\n\r\n", ""])
  func aConnectionOnWhichTheServerSpokeOrThatItClosedIsOfNoUse(text: String) throws {
    let lane = Lane(jobs: 1)
    let (connection, server) = connect()
    lane.keep(connection, to: try TargetURI("http://hive/"))
    if text.isEmpty { close(server) } else { _ = write(server, text, text.utf8.count) }
    defer { if !text.isEmpty { close(server) } }
    #expect(try take(from: lane, to: "http://hive/") == nil)
  }
}
