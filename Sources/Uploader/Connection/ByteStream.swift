import UploadCore

/// A non-blocking stream in both directions: a plain socket, or TLS over one.
protocol ByteStream: AnyObject {
  /// For poll(2).
  var descriptor: Int32 { get }
  func read(into space: UnsafeMutableRawBufferPointer) throws(StreamError) -> StreamRead
  /// - Returns: how many bytes were accepted; 0 if the stream is not ready. The next call must start with the bytes that were
  ///   not accepted.
  func write(_ bytes: UnsafeRawBufferPointer) throws(StreamError) -> Int
  /// Sends file content without reading it into this process, if the stream supports it (sendfile(2)).
  /// - Returns: the number of bytes; 0 if the stream is not ready; nil if the stream or the file does not support it.
  func send(_ file: SourceFile, at offset: Int64, count: Int) throws(SendfileError) -> Int?
  /// Sends bytes that ``write(_:)`` has accepted but the socket has not.
  /// - Returns: true if no bytes are left.
  func flush() throws(StreamError) -> Bool
  /// Whether ``flush()`` has bytes to send. This can also be after a ``read(into:)``, because TLS may have to reply.
  var holdsBytes: Bool { get }
  /// The number of bytes written that the peer has not acknowledged.
  var unacknowledgedLength: Int { get }
  /// What the server has shown of itself; nil without TLS.
  var tlsFacts: TLSFacts? { get }
  /// Announces the end of writing, if the protocol supports it. Does not wait.
  func closeNotify()
}

extension ByteStream {
  var holdsBytes: Bool { false }
  var tlsFacts: TLSFacts? { nil }
}

enum StreamRead: Equatable {
  /// Bytes were read, at least one.
  case bytes(Int)
  case notReady
  /// The peer has closed the stream cleanly.
  case end
}

enum StreamError: Error, Equatable {
  case system(SystemError)
  case tls(TLSError)

  /// The connection is lost in this phase.
  /// - Parameter host: for which the certificate must be.
  func lost(_ phase: UploadPhase, peer: String, host: String) -> UploadError {
    switch self {
    case .system(let error): .connectionLost(phase, peer: peer, error)
    case .tls(let error): .tls(error, host: host)
    }
  }
}

/// Why sendfile(2) failed: either end can fail.
enum SendfileError: Error, Equatable {
  case stream(StreamError)
  case file(FileError)
}
