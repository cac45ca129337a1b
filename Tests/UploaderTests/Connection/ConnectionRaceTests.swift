import CShims
import Testing

@testable import Uploader

/// Several addresses of one host (RFC 8305, 5), in virtual time. For their order see `AddressOrderTests`.
struct ConnectionRaceTests {
  private final class Told { var lines: [String] = [] }
  private let told = Told()

  /// A race between these addresses, without a lookup.
  private func race(_ addresses: [(host: String, port: UInt16)]) throws -> ConnectionRace {
    let told = told
    return ConnectionRace(
      try addresses.map { try #require(try NameLookup($0.host, port: $0.port, .any).addresses().first) }, host: "hive",
      now: 1000, diagnostics: { told.lines.append($0) })
  }

  private func race(_ ports: [UInt16]) throws -> ConnectionRace { try race(ports.map { ("127.0.0.1", $0) }) }

  private var begunCount: Int { told.lines.filter { $0.hasPrefix("* connecting to ") }.count }

  /// Steps without advancing the clock. Over the loopback interface a response arrives soon.
  private func finish(_ race: ConnectionRace, at now: Int64 = 1000) throws -> ConnectionRace.Winner {
    for _ in 0..<1000 {
      if let winner = try race.step(now: now) { return winner }
      var entry = shim_poll_entry(descriptor: race.wait(until: now).descriptor, events: 2, ready: 0)
      _ = shim_poll(&entry, 1, 10)
    }
    throw UploadError.outOfResources("patience")
  }

  @Test func eachAddressHasAHeadStartAndTheFirstToAnswerWins() throws {
    let silent = [Listener(isFull: true), Listener(isFull: true)]
    let open = Listener()
    let race = try race((silent + [open]).map { $0.port })
    let start = Limits.connectionAttemptDelayMilliseconds
    for (now, begun) in [
      (1000, 1), (1000 + start - 1, 1), (1000 + start, 2), (1000 + 2 * start - 1, 2), (1000 + 2 * start, 3),
    ] {
      #expect(try race.step(now: now) == nil)
      #expect(begunCount == begun && race.peer == "hive")
      let wait = race.wait(until: 9000)
      #expect(wait.readiness == .writable && wait.others.count == begun - 1)
      #expect(wait.untilMilliseconds == (begun < 3 ? 1000 + Int64(begun) * start : 9000))
    }
    let winner = try finish(race, at: 1007 + 2 * start)
    #expect(winner.address == "127.0.0.1:\(open.port)" && winner.roundTripMilliseconds == 7)
    withExtendedLifetime(silent) {}
  }

  @Test func anAddressThatRefusesLetsTheNextBeginAtOnce() throws {
    let open = Listener()
    let winner = try finish(race([Listener.closedPort, open.port]))
    #expect(winner.address == "127.0.0.1:\(open.port)" && begunCount == 2)
  }

  @Test func aSilentAddressDoesNotKeepARefusalFromStartingTheNext() throws {
    let (silent, open) = (Listener(isFull: true), Listener())
    let race = try race([silent.port, Listener.closedPort, open.port])
    #expect(try race.step(now: 1000) == nil)
    let winner = try finish(race, at: 1000 + Limits.connectionAttemptDelayMilliseconds)
    #expect(winner.address == "127.0.0.1:\(open.port)")
  }

  /// A network that cannot be reached says nothing about the server: TCP to a multicast address never can.
  @Test func ifAllAddressesFailTheFirstThatWasReachedGivesTheReason() throws {
    let (first, second) = (Listener.closedPort, Listener.closedPort)
    let (refused, unreachable) = (SystemError(code: 111), SystemError(code: 101))
    let rows: [([(host: String, port: UInt16)], String, SystemError)] = [
      ([("127.0.0.1", first), ("127.0.0.1", second)], "127.0.0.1:\(first)", refused),
      ([("224.0.0.1", 9), ("127.0.0.1", second), ("127.0.0.1", first)], "127.0.0.1:\(second)", refused),
      ([("127.0.0.1", first), ("224.0.0.1", 9)], "127.0.0.1:\(first)", refused),
      ([("224.0.0.1", 9)], "224.0.0.1:9", unreachable),
    ]
    for (addresses, address, error) in rows {
      #expect(throws: UploadError.notConnected(host: "hive", address: address, error)) {
        _ = try finish(race(addresses))
      }
    }
  }

  @Test func theOnlyAddressIsNamedToPeople() throws {
    let silent = Listener(isFull: true)
    let race = try race([silent.port])
    #expect(try race.step(now: 1000) == nil)
    #expect(race.peer == "127.0.0.1:\(silent.port)")
  }
}
