import CShims
import UploadCore

/// A connection that is ready for a request.
struct Connection {
  let stream: any ByteStream
  /// "192.0.2.1:443", for people.
  let peer: String
  /// What the TCP handshake took: one round trip.
  let roundTripMilliseconds: Int64
}

/// Makes a connection: looks the name up, connects to its addresses in turn, does the TLS handshake.
final class Connector: Machine {
  private enum State {
    case resolving(Lookup)
    case connecting(Socket, index: Int, sinceMilliseconds: Int64)
    case handshaking(TLSStream, roundTripMilliseconds: Int64)
    case connected(Connection)
  }

  private let target: TargetURI
  private let configuration: Configuration
  private let tls: TLSContext?
  private var addresses: [shim_address] = []
  private var state: State?
  private var deadline: Int64 = 0

  /// - Parameter tls: needed for https targets.
  init(to target: TargetURI, configuration: Configuration, tls: TLSContext?) {
    self.target = target
    self.configuration = configuration
    self.tls = tls
  }

  /// The result, once ``step(_:nowMilliseconds:)`` has returned nil.
  var connection: Connection? {
    if case .connected(let connection) = state { connection } else { nil }
  }

  private var limit: Int64 { configuration.timeouts.connectMilliseconds }

  func step(_ ready: Readiness, nowMilliseconds now: Int64) throws(UploadError) -> Wait? {
    switch state {
    case nil:
      deadline = now + limit
      let lookup = try Lookup(target, configuration.addressFamily)
      state = .resolving(lookup)
      return Wait(descriptor: lookup.descriptor, readiness: .readable, untilMilliseconds: deadline)
    case .resolving(let lookup):
      guard ready.contains(.readable) else {
        return try wait(.resolving, on: lookup.descriptor, for: .readable, now: now, peer: target.host)
      }
      addresses = try lookup.addresses()
      return try connect(to: 0, now: now)
    case .connecting(let socket, let index, let since):
      return try stepConnecting(socket, index, since, ready, now)
    case .handshaking(let stream, let roundTrip):
      return try stepHandshake(stream, roundTrip, now)
    case .connected:
      return nil
    }
  }

  private func wait(
    _ phase: UploadPhase, on descriptor: Int32, for readiness: Readiness, now: Int64, peer: String
  ) throws(UploadError) -> Wait {
    guard now < deadline else { throw .timedOut(phase, peer: peer, limitMilliseconds: limit) }
    return Wait(descriptor: descriptor, readiness: readiness, untilMilliseconds: deadline)
  }

  // MARK: TCP

  private func connect(to index: Int, now: Int64) throws(UploadError) -> Wait? {
    configuration.diagnostics?("* connecting to " + text(of: addresses[index]))
    let descriptor = shim_connect(&addresses[index])
    guard descriptor >= 0 else { return try connectNext(after: index, SystemError(result: descriptor), now: now) }
    state = .connecting(Socket(descriptor: descriptor), index: index, sinceMilliseconds: now)
    // The time is divided between the addresses, so that a dead one does not use it up.
    deadline = now + limit / Int64(addresses.count)
    return Wait(descriptor: descriptor, readiness: .writable, untilMilliseconds: deadline)
  }

  private func connectNext(after index: Int, _ error: SystemError?, now: Int64) throws(UploadError) -> Wait? {
    if index + 1 < addresses.count { return try connect(to: index + 1, now: now) }
    let address = text(of: addresses[index])
    guard let error else { throw .timedOut(.connecting, peer: address, limitMilliseconds: limit) }
    throw .notConnected(host: target.host, address: address, error)
  }

  private func stepConnecting(
    _ socket: Socket, _ index: Int, _ since: Int64, _ ready: Readiness, _ now: Int64
  ) throws(UploadError) -> Wait? {
    guard ready.contains(.writable) else {
      if now >= deadline { return try connectNext(after: index, nil, now: now) }
      return Wait(descriptor: socket.descriptor, readiness: .writable, untilMilliseconds: deadline)
    }
    let result = shim_connect_result(socket.descriptor)
    guard result == 0 else { return try connectNext(after: index, SystemError(result: result), now: now) }
    shim_set_unsent_low_water(socket.descriptor, Limits.unsentLowWater)
    // Only the address in use is needed from here on, for people.
    addresses = [addresses[index]]
    guard target.scheme == .https else { return finish(socket, roundTrip: now - since) }
    return try startHandshake(over: socket, roundTrip: now - since, now: now)
  }

  // MARK: TLS

  private func startHandshake(over socket: Socket, roundTrip: Int64, now: Int64) throws(UploadError) -> Wait? {
    guard let tls else { preconditionFailure("an https target without a TLS context") }
    deadline = now + limit
    let stream: TLSStream
    do throws(TLSError) { stream = try TLSStream(over: socket, context: tls, host: target.host) } catch {
      throw .tls(error, host: target.host)
    }
    state = .handshaking(stream, roundTripMilliseconds: roundTrip)
    return try stepHandshake(stream, roundTrip, now)
  }

  private func stepHandshake(_ stream: TLSStream, _ roundTrip: Int64, _ now: Int64) throws(UploadError) -> Wait? {
    let peer = text(of: addresses[0])
    let progress: TLSStream.Handshake
    do throws(StreamError) {
      progress = try stream.handshake()
    } catch {
      switch error {
      case .tls(let error): throw .tls(error, host: target.host)
      case .system(let error): throw .connectionLost(.handshaking, peer: peer, error)
      }
    }
    switch progress {
    case .wantsRead: return try wait(.handshaking, on: stream.descriptor, for: .readable, now: now, peer: peer)
    case .wantsWrite: return try wait(.handshaking, on: stream.descriptor, for: .writable, now: now, peer: peer)
    case .done:
      configuration.diagnostics?("* " + stream.summary)
      return finish(stream, roundTrip: roundTrip)
    }
  }

  private func finish(_ stream: any ByteStream, roundTrip: Int64) -> Wait? {
    let peer = text(of: addresses[0])
    state = .connected(Connection(stream: stream, peer: peer, roundTripMilliseconds: roundTrip))
    return nil
  }

  private func text(of address: shim_address) -> String {
    var address = address
    return String(unsafeUninitializedCapacity: 64) { Int(shim_address_text(&address, $0.baseAddress, $0.count)) }
  }
}

/// A name lookup under way.
private final class Lookup {
  private let pointer: OpaquePointer
  private let host: String

  init(_ target: TargetURI, _ family: AddressFamily) throws(UploadError) {
    let wanted =
      switch family {
      case .any: SHIM_FAMILY_ANY
      case .ipv4: SHIM_FAMILY_IPV4
      case .ipv6: SHIM_FAMILY_IPV6
      }
    guard let pointer = shim_lookup_start(target.host, target.port, Int32(wanted)) else {
      throw .outOfResources("threads")
    }
    self.pointer = pointer
    host = target.host
  }

  deinit { shim_lookup_release(pointer) }

  var descriptor: Int32 { shim_lookup_descriptor(pointer) }

  func addresses() throws(UploadError) -> [shim_address] {
    var addresses = [shim_address](repeating: shim_address(), count: Limits.addressCount)
    var count: Int32 = 0
    switch Int(shim_lookup_result(pointer, &addresses, Int32(addresses.count), &count)) {
    case SHIM_RESOLVED: return Array(addresses.prefix(Int(count)))
    case SHIM_NO_SUCH_NAME: throw .noSuchName(host: host)
    case SHIM_RESOLVER_NO_MEMORY: throw .outOfResources("memory")
    default: throw .noResolver(host: host)
    }
  }
}
