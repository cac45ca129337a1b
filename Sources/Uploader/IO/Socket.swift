import CShims

/// A connected, non-blocking TCP socket.
final class Socket: ByteStream {
  let descriptor: Int32

  /// Takes over the descriptor and closes it in the end.
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

  func send(_ file: SourceFile, at offset: Int64, count: Int) throws(DirectError) -> Int? {
    let sent = shim_send_file(descriptor, file.descriptor, offset, count)
    if sent > 0 { return Int(sent) }
    if sent == 0 { throw .file(.shrank(size: file.size, offset: offset)) }
    switch Int32(-sent) {
    case SHIM_EAGAIN: return 0
    case SHIM_EINVAL: return nil
    case SHIM_EIO: throw .file(.readFailed(offset: offset, SystemError(result: sent)))
    default: throw .stream(.system(SystemError(result: sent)))
    }
  }

  func flush() throws(StreamError) -> Bool { true }

  var unacknowledgedLength: Int { Int(shim_unacknowledged(descriptor)) }

  func closeNotify() {}
}
