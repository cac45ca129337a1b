import CShims
import UploadCore

struct Connection {
  let stream: any ByteStream
  /// "192.0.2.1:443", for people.
  let peer: String
  /// Where it leads; nil if it is not connected to an address.
  var route: Route?
  /// The duration of the TCP handshake: one round trip.
  let roundTripMilliseconds: Int64
  /// The server's name for people; nil if there is only ``peer``.
  var host: String?
  /// Whether it carried a request before, so that the server may have closed it.
  var isReused = false
}

/// Where a connection leads.
struct Route {
  /// The name that was looked up, of the server or its proxy.
  let host: String
  /// "192.0.2.1:443"
  let address: String
}

/// What the connections of one run have shown about the addresses of their hosts.
final class Routes {
  var memory = AddressMemory()
  /// The addresses of names whose lookup was slow.
  private var slow: [(host: String, port: UInt16, addresses: [shim_address])] = []

  /// The addresses from a slow lookup, so that it is not repeated for each connection; empty if there was none.
  func keptAddresses(of host: String, _ port: UInt16) -> [shim_address] {
    slow.first { $0.host == host && $0.port == port }?.addresses ?? []
  }

  func keep(_ addresses: [shim_address], of host: String, _ port: UInt16) {
    forget(host, port)
    if slow.count == Limits.slowNameCount { slow.removeFirst() }
    slow.append((host, port, addresses))
  }

  /// None of the addresses could be connected to.
  func forget(_ host: String, _ port: UInt16) { slow.removeAll { $0.host == host && $0.port == port } }
}

extension Limits {
  /// The names whose addresses are kept because their lookup was slow.
  static let slowNameCount = 8
}
