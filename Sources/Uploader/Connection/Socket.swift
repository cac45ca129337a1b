import CShims
import UploadCore

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

extension LinkCounts {
  init(of descriptor: Int32) {
    self.init()
    var counts = shim_tcp_counts()
    shim_read_tcp_counts(descriptor, &counts)
    func known(_ count: Int64) -> Int64? { count < 0 ? nil : count }
    segments = known(counts.segments)
    repeatedSegments = known(counts.repeated_segments)
    duplicateSegments = known(counts.duplicate_segments)
    roundTripMicroseconds = known(counts.round_trip)
    leastRoundTripMicroseconds = known(counts.least_round_trip)
    busyMicroseconds = known(counts.busy)
    windowLimitedMicroseconds = known(counts.window_limited)
  }
}

extension CongestionControl {
  /// Sets it for a socket that is not connected yet.
  func apply(to descriptor: Int32) throws(UploadError) {
    switch self {
    case .automatic:
      let available = CongestionControl.names(in: "available")
      let name = CongestionControl.automaticName(
        available: available, mayLoadModules: available == nil && shim_may_load_modules() != 0)
      // If this process must not use it, the system's default stays.
      if let name { _ = shim_set_congestion_control(descriptor, name) }
    case .named(let name):
      let result = CongestionControl.isName(name) ? shim_set_congestion_control(descriptor, name) : -SHIM_EINVAL
      if result < 0 {
        throw .congestionControlRefused(
          name: name, available: CongestionControl.text(of: "available"),
          allowed: CongestionControl.text(of: "allowed"), SystemError(result: result))
      }
    }
  }

  /// The name of the one that a socket uses; nil if the kernel does not say.
  static func inUse(by descriptor: Int32) -> String? {
    let name = String(unsafeUninitializedCapacity: Int(SHIM_CONGESTION_NAME)) {
      max(0, Int(shim_congestion_control(descriptor, $0.baseAddress, $0.count)))
    }
    return name.isEmpty ? nil : name
  }

  /// What the kernel says is "available" (loaded) or "allowed" (without CAP_NET_ADMIN); nil without /proc.
  private static func names(in list: String) -> [UInt8]? {
    let path = LocalPath("/proc/sys/net/ipv4/tcp_" + list + "_congestion_control")
    return SmallFile.contents(of: path, limit: Limits.congestionControlsLength)
  }

  /// "reno cubic"; empty if unknown.
  private static func text(of list: String) -> String {
    PrintableText.line(
      String(decoding: names(in: list) ?? [], as: UTF8.self).split { $0 == " " || $0 == "\n" }
        .joined(separator: " "))
  }
}

extension Limits {
  /// The kernel's list of congestion control algorithms, in bytes (TCP_CA_BUF_MAX in net/tcp.h).
  static let congestionControlsLength = 2048
}
