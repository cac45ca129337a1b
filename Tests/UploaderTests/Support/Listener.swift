import Glibc

/// A listening socket on the loopback interface.
final class Listener {
  let descriptor: Int32
  let port: UInt16
  private var fillers: [Int32] = []

  /// - Parameter isFull: fills its queue, so that it does not answer new connections.
  init(isFull: Bool = false) {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = Listener.address(port: 0)
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let (descriptor, backlog) = (descriptor, Int32(isFull ? 0 : 8))
    let isListening = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, length) == 0 && listen(descriptor, backlog) == 0
          && getsockname(descriptor, $0, &length) == 0
      }
    }
    guard isListening else { fatalError("no loopback socket") }
    port = UInt16(bigEndian: address.sin_port)
    // A queue of length 0 has room for one.
    if isFull { fillers = (0..<2).map { _ in connect(isBlocking: false) } }
  }

  deinit { for descriptor in fillers + [descriptor] { close(descriptor) } }

  private static func address(port: UInt16) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    address.sin_port = port.bigEndian
    return address
  }

  /// A port where nothing listens.
  static var closedPort: UInt16 { Listener().port }

  /// The client's end of a new connection.
  func connect(isBlocking: Bool = true) -> Int32 {
    let client = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    if !isBlocking { _ = fcntl(client, F_SETFL, O_NONBLOCK) }
    var address = Listener.address(port: port)
    withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        _ = Glibc.connect(client, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    return client
  }

  /// From now on connections are refused.
  func stop() { shutdown(descriptor, Int32(SHUT_RD)) }

  /// The server's end of the oldest connection.
  func accept() -> Int32 { Glibc.accept(descriptor, nil, nil) }
}

/// Closes a connection with a reset.
func reset(_ descriptor: Int32) {
  var linger = linger(l_onoff: 1, l_linger: 0)
  setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<linger>.size))
  close(descriptor)
}
