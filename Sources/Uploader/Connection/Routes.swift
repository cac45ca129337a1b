import UploadCore

/// What the connections of one run have shown about the addresses of their hosts.
final class Routes {
  var memory = AddressMemory()
}

/// Where a connection leads.
struct Route {
  /// The name that was looked up, of the server or its proxy.
  let host: String
  /// "192.0.2.1:443"
  let address: String
}
