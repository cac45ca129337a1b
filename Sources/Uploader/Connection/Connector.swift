import CShims
import UploadCore

/// Establishes a connection: resolves the name, connects to the first address that answers, asks the proxy to connect, and
/// performs the TLS handshake.
final class Connector: Steppable {
  private enum State {
    case asking(MulticastLookup)
    /// The lookup is slow from this time on.
    case resolving(NameLookup, Question, slowFrom: Int64)
    case racing(ConnectionRace)
    case tunnelling(ProxyTunnel, ConnectionRace.Winner)
    case handshaking(TLSStream, ConnectionRace.Winner)
    case connected(Connection)
  }

  /// What the system's resolver is asked for. Some name servers drop questions for IPv6 addresses, and it waits for both answers.
  private enum Question {
    case all
    /// After a while, IPv4 addresses alone.
    case ipv4
    /// The name has none.
    case allAgain
  }

  private let target: TargetURI
  private let proxy: Proxy?
  private let configuration: Configuration
  private let tls: TLSContext?
  private let routes: Routes?
  private let sendsFile: Bool
  private let isNarrow: Bool
  private var state: State?
  private var deadline: Int64 = 0
  /// Whether this connection is the second attempt, without X25519MLKEM768.
  private var hasDroppedHybrid = false
  /// The interfaces without a response for a name below `.local`; nil if none was asked.
  private var silentInterfaces: [String]?
  /// The addresses of the host, once it was resolved.
  private(set) var addresses: [String] = []

  /// - Parameters:
  ///   - tls: without it, connecting to an https target fails.
  ///   - routes: what earlier connections have shown; nil if each address gets the same chance.
  ///   - sendsFile: whether a file will be sent. Otherwise the connection takes little memory.
  ///   - isNarrow: whether it has short segments, whatever `routes` say.
  init(
    to target: TargetURI, configuration: Configuration, tls: TLSContext?, routes: Routes? = nil,
    sendsFile: Bool = true, isNarrow: Bool = false
  ) {
    self.target = target
    self.configuration = configuration
    self.tls = tls
    self.routes = routes
    self.sendsFile = sendsFile
    self.isNarrow = isNarrow
    proxy = configuration.proxies.proxy(for: target)
  }

  /// The result, once ``step(_:nowMilliseconds:)`` has returned nil.
  var connection: Connection? {
    if case .connected(let connection) = state { connection } else { nil }
  }

  private var timeouts: Timeouts { configuration.timeouts }
  /// The host to connect to: the proxy or the server.
  private var host: String { proxy?.lookupName ?? target.lookupName }
  private var port: UInt16 { proxy?.port ?? target.port }

  func step(_ ready: Readiness, nowMilliseconds now: Int64) throws(UploadError) -> Wait? {
    switch state {
    case nil:
      if let source = configuration.proxies.unusable(for: target) { throw .proxyUnusable(source: source) }
      deadline = now + timeouts.resolveMilliseconds
      // The other half of the time is the system's resolver's.
      let limit = min(Limits.multicastDNSMilliseconds, timeouts.resolveMilliseconds / 2)
      guard
        let lookup = try MulticastLookup(
          host, port: port, configuration.addressFamily, now: now, limitMilliseconds: limit,
          diagnostics: configuration.diagnostics)
      else { return try resolve(.all, now) }
      state = .asking(lookup)
      return try stepQuestion(lookup, now)
    case .asking(let lookup):
      return try stepQuestion(lookup, now)
    case .resolving(let lookup, let question, let slowFrom):
      return try stepLookup(lookup, question, slowFrom, isDone: ready.contains(.readable), now)
    case .racing(let race):
      return try stepRace(race, now)
    case .tunnelling(let tunnel, let winner):
      return try stepTunnel(tunnel, winner, now)
    case .handshaking(let stream, let winner):
      return try stepHandshake(stream, winner, now)
    case .connected:
      return nil
    }
  }

  func extendDeadlines(by milliseconds: Int64) { deadline += milliseconds }

  private func wait(
    _ phase: UploadPhase, _ limit: Int64, on descriptor: Int32, _ readiness: Readiness, _ now: Int64, peer: String
  ) throws(UploadError) -> Wait {
    guard now < deadline else { throw .timedOut(phase, peer: peer, limitMilliseconds: limit) }
    return Wait(descriptor: descriptor, readiness: readiness, untilMilliseconds: deadline)
  }

  // MARK: The name

  private func stepQuestion(_ lookup: MulticastLookup, _ now: Int64) throws(UploadError) -> Wait? {
    if let wait = lookup.step(now: now) { return wait }
    let addresses = lookup.addresses()
    if !addresses.isEmpty { return try race(addresses, now) }
    silentInterfaces = lookup.asked
    return try resolve(.all, now)
  }

  private func resolve(_ question: Question, _ now: Int64) throws(UploadError) -> Wait? {
    let kept = routes?.keptAddresses(of: host, port) ?? []
    if !kept.isEmpty { return try race(kept, now) }
    let lookup = try NameLookup(host, port: port, configuration.addressFamily)
    let slowFrom = now + min(Limits.slowLookupMilliseconds, timeouts.resolveMilliseconds / 3)
    return try begin(lookup, question, slowFrom, now)
  }

  private func begin(
    _ lookup: NameLookup, _ question: Question, _ slowFrom: Int64, _ now: Int64
  ) throws(UploadError) -> Wait? {
    state = .resolving(lookup, question, slowFrom: slowFrom)
    return try stepLookup(lookup, question, slowFrom, isDone: false, now)
  }

  private func stepLookup(
    _ lookup: NameLookup, _ question: Question, _ slowFrom: Int64, isDone: Bool, _ now: Int64
  ) throws(UploadError) -> Wait? {
    guard isDone else {
      // Another lookup needs another stack, which many connections that wait for the server have no room for.
      let mayNarrow = question == .all && configuration.addressFamily == .any && sendsFile
      if mayNarrow, now >= slowFrom {
        let other = try? NameLookup(host, port: port, .ipv4)
        // Without memory for another one, this one goes on.
        return try begin(other ?? lookup, other == nil ? .allAgain : .ipv4, slowFrom, now)
      }
      var wait = try wait(
        .resolving, timeouts.resolveMilliseconds, on: lookup.descriptor, .readable, now, peer: host)
      if mayNarrow { wait.untilMilliseconds = min(wait.untilMilliseconds, slowFrom) }
      return wait
    }
    let found: [shim_address]
    do throws(UploadError) { found = try addresses(from: lookup) } catch {
      if question == .ipv4 { return try resolve(.allAgain, now) }
      throw error
    }
    if question != .all || now >= slowFrom { routes?.keep(found, of: host, port) }
    return try race(found, now)
  }

  private func addresses(from lookup: NameLookup) throws(UploadError) -> [shim_address] {
    do throws(NameLookup.Failure) { return try lookup.addresses() } catch {
      switch error {
      case .noMemory: throw .outOfResources("memory")
      case .noSuchName, .noResolver:
        if let silentInterfaces { throw .noLocalName(host: host, interfaces: silentInterfaces) }
        throw error == .noSuchName ? configuration.addressFamily.problem(ofUnknown: host) : .noResolver(host: host)
      }
    }
  }

  // MARK: TCP

  private func race(_ addresses: [shim_address], _ now: Int64) throws(UploadError) -> Wait? {
    deadline = now + timeouts.connectMilliseconds
    self.addresses = addresses.map { $0.text }
    let order = routes?.memory.order(self.addresses) ?? Array(addresses.indices)
    let race = ConnectionRace(
      order.map { addresses[$0] }, host: host, congestion: configuration.congestionControl,
      isNarrow: isNarrow || routes?.memory.isNarrow(host) ?? false, now: now,
      diagnostics: configuration.diagnostics)
    state = .racing(race)
    return try stepRace(race, now)
  }

  private func stepRace(_ race: ConnectionRace, _ now: Int64) throws(UploadError) -> Wait? {
    let winner: ConnectionRace.Winner
    do throws(UploadError) {
      if let first = try race.step(now: now) {
        winner = first
      } else if now < deadline {
        return race.wait(until: deadline)
      } else {
        throw .timedOut(.connecting, peer: race.peer, limitMilliseconds: timeouts.connectMilliseconds)
      }
    } catch {
      routes?.forget(host, port)
      throw error
    }
    if let diagnostics = configuration.diagnostics,
      let name = CongestionControl.inUse(by: winner.socket.descriptor)
    {
      diagnostics("* congestion control: " + name)
    }
    shim_set_unsent_low_water(winner.socket.descriptor, Limits.unsentLowWater)
    shim_set_user_timeout(
      winner.socket.descriptor, timeouts.stallMilliseconds + Limits.userTimeoutMarginMilliseconds)
    guard target.scheme == .https else { return finish(winner.socket, winner) }
    deadline = now + timeouts.handshakeMilliseconds
    guard let proxy else { return try startHandshake(winner, now) }
    let tunnel = try ProxyTunnel(
      to: target, through: proxy, over: winner.socket, userAgent: configuration.userAgent)
    state = .tunnelling(tunnel, winner)
    return try stepTunnel(tunnel, winner, now)
  }

  // MARK: Proxy and TLS

  private func stepTunnel(
    _ tunnel: ProxyTunnel, _ winner: ConnectionRace.Winner, _ now: Int64
  ) throws(UploadError) -> Wait? {
    guard let readiness = try tunnel.step() else {
      configuration.diagnostics?("* connected through the proxy " + tunnel.name)
      return try startHandshake(winner, now)
    }
    return try wait(
      .tunnelling, timeouts.handshakeMilliseconds, on: winner.socket.descriptor, readiness, now,
      peer: winner.address)
  }

  private func startHandshake(_ winner: ConnectionRace.Winner, _ now: Int64) throws(UploadError) -> Wait? {
    guard let tls else { throw .tls(.handshake(reason: "no TLS settings"), host: target.host) }
    deadline = now + timeouts.handshakeMilliseconds
    let stream: TLSStream
    do throws(TLSError) {
      stream = try TLSStream(
        over: winner.socket, context: tls, host: target.host, offersHybrid: tls.offersHybrid && !hasDroppedHybrid,
        sendsFile: sendsFile)
    } catch {
      throw .tls(error, host: target.host)
    }
    state = .handshaking(stream, winner)
    return try stepHandshake(stream, winner, now)
  }

  private func stepHandshake(
    _ stream: TLSStream, _ winner: ConnectionRace.Winner, _ now: Int64
  ) throws(UploadError) -> Wait? {
    let progress: TLSStream.Handshake
    do throws(StreamError) {
      progress = try stream.handshake()
    } catch {
      if stream.isHybridUnanswered { return try reconnectWithoutHybrid(now) }
      throw error.lost(.handshaking, peer: winner.address, host: target.host)
    }
    switch progress {
    case .wantsRead, .wantsWrite:
      let readiness: Readiness = progress == .wantsRead ? .readable : .writable
      if stream.isHybridUnanswered {
        let limit = deadline - timeouts.handshakeMilliseconds / 3 * 2
        guard now < limit else { return try reconnectWithoutHybrid(now) }
        return Wait(descriptor: stream.descriptor, readiness: readiness, untilMilliseconds: limit)
      }
      if now >= deadline { routes?.memory.noteSilence(of: winner.address, host: host, hasArrived: false) }
      return try wait(
        .handshaking, timeouts.handshakeMilliseconds, on: stream.descriptor, readiness, now, peer: winner.address)
    case .done:
      if hasDroppedHybrid { tls?.offersHybrid = false }
      configuration.diagnostics?("* " + stream.summary)
      return finish(stream, winner)
    }
  }

  /// The server closed the connection or kept silent: perhaps something on the path drops a ClientHello of more than one segment.
  /// If the handshake succeeds without X25519MLKEM768, later connections do without it, too.
  private func reconnectWithoutHybrid(_ now: Int64) throws(UploadError) -> Wait? {
    configuration.diagnostics?("* no answer to a ClientHello with X25519MLKEM768; connecting without it")
    hasDroppedHybrid = true
    state = nil
    return try step([], nowMilliseconds: now)
  }

  private func finish(_ stream: any ByteStream, _ winner: ConnectionRace.Winner) -> Wait? {
    let peer = proxy.map { target.authority + " (through the proxy " + $0.text + ")" } ?? winner.address
    state = .connected(
      Connection(
        stream: stream, peer: peer, route: Route(host: host, address: winner.address),
        roundTripMilliseconds: winner.roundTripMilliseconds, host: target.host))
    return nil
  }
}

extension Limits {
  /// `TCP_NOTSENT_LOWAT`: how much unsent content the kernel may hold, in bytes. Measured over loopback: 128 KiB takes 1.4
  /// times as long, 1 MiB costs nothing.
  static let unsentLowWater: Int32 = 1 << 20
  /// A name lookup that takes longer, in milliseconds, is repeated for IPv4 alone: some name servers drop questions for IPv6.
  static let slowLookupMilliseconds: Int64 = 2000
  /// How long after the stall limit the kernel drops a connection, in milliseconds, so that the program's own error comes
  /// first.
  static let userTimeoutMarginMilliseconds: Int64 = 1000
}
