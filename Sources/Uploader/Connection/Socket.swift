import CShims

/// A connected, non-blocking TCP socket.
final class Socket: ByteStream {
  let descriptor: Int32

  /// Takes ownership of the descriptor, and closes it in deinit.
  init(descriptor: Int32) { self.descriptor = descriptor }

  deinit { _ = shim_close(descriptor) }

  func read(into space: UnsafeMutableRawBufferPointer) throws(StreamError) -> StreamRead {
    let count = shim_receive(descriptor, space.baseAddress, space.count)
    if count > 0 { return .bytes(Int(count)) }
    if count == 0 { return .end }
    if -count == SHIM_EAGAIN { return .notReady }
    throw .system(SystemError(result: count))
  }

  func write(_ bytes: UnsafeRawBufferPointer) throws(StreamError) -> Int {
    let count = shim_send(descriptor, bytes.baseAddress, bytes.count)
    if count >= 0 { return Int(count) }
    if -count == SHIM_EAGAIN { return 0 }
    throw .system(SystemError(result: count))
  }

  func send(_ file: SourceFile, at offset: Int64, count: Int) throws(SendfileError) -> Int? {
    let sent = shim_send_file(descriptor, file.descriptor, offset, count)
    if sent > 0 { return Int(sent) }
    let error = Int32(-sent)
    if error == SHIM_EAGAIN { return 0 }
    if error == SHIM_EINVAL { return nil }
    // The error can come from either end, and a premature end can mean that sendfile cannot read the file. Check both.
    var problem: FileError?
    do throws(FileError) { try file.verifyReadable(at: offset) } catch { problem = error }
    switch SendfileFailure(file: problem, isConnected: isConnected) {
    case .file(let error): throw .file(error)
    case .connection: throw .stream(.system(SystemError(result: sent)))
    case .direct: return nil
    }
  }

  /// Whether the socket accepts more bytes, now or later. If not, sending zero bytes fails.
  private var isConnected: Bool {
    var none: UInt8 = 0
    let result = shim_send(descriptor, &none, 0)
    return result >= 0 || -result == SHIM_EAGAIN
  }

  func flush() throws(StreamError) -> Bool { true }

  var unacknowledgedLength: Int { Int(shim_unacknowledged(descriptor)) }

  func closeNotify() {}
}
