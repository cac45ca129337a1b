/// The result of a read from a stream.
enum StreamRead: Equatable {
  /// Bytes were read, at least one.
  case bytes(Int)
  /// No data yet.
  case notReady
  /// The peer has closed the stream cleanly.
  case end
}
