/// A connection that is ready for a request.
struct Connection {
  let stream: any ByteStream
  /// "192.0.2.1:443", for people.
  let peer: String
  /// What the TCP handshake took: one round trip.
  let roundTripMilliseconds: Int64
  /// The server's name, for people; nil if it has none but ``peer``.
  var host: String?
  /// Did it carry a request before, so that the server may have closed it meanwhile?
  var isReused = false
}
