import UploadCore

/// A connection that is ready for a request.
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
}
