import CShims
import UploadCore

/// Connects to several addresses and uses the first one that answers (Happy Eyeballs, RFC 8305, 5). Each gets a head start over
/// the next one, which does not wait for it to fail.
final class ConnectionRace {
  /// The first connected socket.
  struct Winner {
    let socket: Socket
    let address: String
    /// The duration of the TCP handshake.
    let roundTripMilliseconds: Int64
  }

  private struct Attempt {
    let socket: Socket
    let address: shim_address
    let startedAt: Int64
  }

  private let host: String
  private let congestion: CongestionControl
  private let isNarrow: Bool
  private let diagnostics: ((String) -> Void)?
  private var waiting: ArraySlice<shim_address>
  private var attempts: [Attempt] = []
  private var nextStart: Int64
  private var failure: (address: String, error: SystemError)?

  /// - Parameter isNarrow: whether only short segments may pass.
  init(
    _ addresses: [shim_address], host: String, congestion: CongestionControl = .automatic, isNarrow: Bool = false,
    now: Int64, diagnostics: ((String) -> Void)?
  ) {
    waiting = addresses[...]
    self.host = host
    self.congestion = congestion
    self.isNarrow = isNarrow
    self.diagnostics = diagnostics
    nextStart = now
  }

  /// For people: the address if there is only one, otherwise the host.
  var peer: String { attempts.count == 1 && waiting.isEmpty ? attempts[0].address.text : host }

  /// - Returns: nil while no address has connected.
  /// - Throws: if all have failed, the most informative error.
  func step(now: Int64) throws(UploadError) -> Winner? {
    if let winner = takeConnected(now) { return winner }
    while attempts.isEmpty || now >= nextStart, let address = waiting.popFirst() { try start(address, now) }
    guard attempts.isEmpty, let failure else { return nil }
    // Waiting would not help, because the process cannot open more descriptors.
    if failure.error.code == SHIM_EMFILE { throw .outOfResources("file descriptors") }
    throw .notConnected(host: host, address: failure.address, failure.error)
  }

  /// - Parameter deadline: the caller's time limit.
  func wait(until deadline: Int64) -> Wait {
    var wait = Wait(
      descriptor: attempts.first?.socket.descriptor ?? -1, readiness: .writable,
      untilMilliseconds: waiting.isEmpty ? deadline : min(deadline, nextStart))
    wait.others = attempts.dropFirst().map { $0.socket.descriptor }
    return wait
  }

  private func start(_ address: shim_address, _ now: Int64) throws(UploadError) {
    var address = address
    let descriptor = shim_socket_for(&address)
    guard descriptor >= 0 else { return keepFailure(SystemError(result: descriptor), of: address) }
    let socket = Socket(descriptor: descriptor)
    try congestion.apply(to: descriptor)
    if isNarrow { shim_set_segment_length(descriptor, Limits.narrowSegmentLength) }
    diagnostics?("* connecting to " + address.text)
    let result = shim_connect(descriptor, &address)
    guard result == 0 else { return keepFailure(SystemError(result: result), of: address) }
    attempts.append(Attempt(socket: socket, address: address, startedAt: now))
    nextStart = now + Limits.connectionAttemptDelayMilliseconds
  }

  private func takeConnected(_ now: Int64) -> Winner? {
    for index in attempts.indices.reversed() {
      let attempt = attempts[index]
      guard Readiness.of(attempt.socket.descriptor, .writable).contains(.writable) else { continue }
      let result = shim_connect_result(attempt.socket.descriptor)
      if result == 0 {
        return Winner(
          socket: attempt.socket, address: attempt.address.text, roundTripMilliseconds: now - attempt.startedAt)
      }
      attempts.remove(at: index)
      keepFailure(SystemError(result: result), of: attempt.address)
      // The next one can start at once.
      nextStart = now
    }
    return nil
  }

  /// Keeps the most informative failure. A network that does not exist on this machine says nothing about the server.
  private func keepFailure(_ error: SystemError, of address: shim_address) {
    diagnostics?("* " + address.text + ": " + error.text)
    let known = failure?.error.code
    if known == nil || known == SHIM_ENETUNREACH || known == SHIM_EADDRNOTAVAIL || error.code == SHIM_EMFILE {
      failure = (address.text, error)
    }
  }
}

extension Limits {
  /// The length of TCP segments where longer ones may not pass, in bytes: they fit into the smallest packets of IPv6, 1280 bytes.
  static let narrowSegmentLength: Int32 = 1220
  /// The head start of an address over the next one (RFC 8305, 8), in milliseconds.
  static let connectionAttemptDelayMilliseconds: Int64 = 250
}
