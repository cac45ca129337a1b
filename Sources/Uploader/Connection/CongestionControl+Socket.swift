import CShims
import UploadCore

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
    let descriptor = shim_open_for_reading("/proc/sys/net/ipv4/tcp_" + list + "_congestion_control", 0)
    guard descriptor >= 0 else { return nil }
    defer { _ = shim_close(descriptor) }
    return try? SmallFile.read(descriptor, limit: Limits.congestionControlsLength)
  }

  /// "reno cubic"; empty if unknown.
  private static func text(of list: String) -> String {
    PrintableText.line(
      String(decoding: names(in: list) ?? [], as: UTF8.self).split { $0 == " " || $0 == "\n" }
        .joined(separator: " "))
  }
}
