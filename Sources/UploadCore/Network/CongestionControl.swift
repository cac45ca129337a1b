/// The algorithm that paces a connection and reacts to lost packets (TCP_CONGESTION, tcp(7)).
public enum CongestionControl: Equatable, Sendable {
  /// BBR where the kernel has it loaded and allows it to this process; otherwise the system's default.
  case automatic
  /// This one, such as "cubic". If the kernel refuses it, uploads end with
  /// ``UploadError/congestionControlRefused(name:available:allowed:_:)`` before they connect.
  case named(String)

  /// Whether this can be the name of one: tcp(7) has 15 bytes for it, and the kernel separates names by spaces.
  package static func isName(_ text: String) -> Bool {
    (1...15).contains(text.utf8.count) && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
  }

  /// The algorithm that ``automatic`` sets; nil for the system's default.
  /// - Parameters:
  ///   - available: those that are loaded, separated by spaces; nil if that is unknown.
  ///   - mayLoadModules: whether the kernel would load a missing one for this process. The machine must not be changed.
  package static func automaticName(available: [UInt8]?, mayLoadModules: Bool) -> String? {
    guard let available else { return mayLoadModules ? nil : preferred }
    let names = available.split { $0 == ASCII.space || $0 == ASCII.lineFeed }
    return names.contains { $0.elementsEqual(preferred.utf8) } ? preferred : nil
  }

  private static let preferred = "bbr"
}
