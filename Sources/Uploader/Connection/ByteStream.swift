/// What a read from a stream came to.
enum StreamRead: Equatable {
  /// Bytes were read, at least one.
  case bytes(Int)
  /// Nothing there yet.
  case notReady
  /// The peer has ended the stream in an orderly way.
  case end
}

/// A connection's bytes in both directions, never waiting: plain over a socket, or TLS over one.
protocol ByteStream: AnyObject {
  /// For poll(2).
  var descriptor: Int32 { get }
  func read(into space: UnsafeMutableRawBufferPointer) throws(StreamError) -> StreamRead
  /// - Returns: how many bytes of the front were taken; 0 when the stream is not ready. The next call must offer the
  ///   bytes that were not taken again.
  func write(_ bytes: UnsafeRawBufferPointer) throws(StreamError) -> Int
  /// Passes bytes of a file on without this process reading them, where the stream can (sendfile(2)).
  /// - Returns: how many; 0 when the stream is not ready; nil if it cannot, or the file cannot.
  func send(_ file: SourceFile, at offset: Int64, count: Int) throws(SendfileError) -> Int?
  /// Passes on what ``write(_:)`` has taken and the socket has not.
  /// - Returns: true if nothing is held back any more.
  func flush() throws(StreamError) -> Bool
  /// Does ``flush()`` have something to pass on? Also behind a ``read(into:)``, which can have to answer for the stream itself.
  var holdsBytes: Bool { get }
  /// Bytes that were written and that the peer's kernel has not acknowledged, as far as this side's kernel knows.
  var unacknowledgedLength: Int { get }
  /// Says that no more will be written, if the protocol has words for it. Does not wait.
  func closeNotify()
}

extension ByteStream {
  var holdsBytes: Bool { false }
}
