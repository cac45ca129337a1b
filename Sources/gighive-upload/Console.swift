import CShims

/// The standard streams. `print` would buffer and mix with what is written here.
enum Console {
  static let isErrorTerminal = shim_is_terminal(2) != 0

  static func out(_ line: String) { write(line + "\n", to: 1) }

  static func error(_ text: String) { write(text, to: 2) }

  /// A stream that nobody reads any more is no reason to stop an upload.
  private static func write(_ text: String, to descriptor: Int32) {
    let bytes = Array(text.utf8)
    _ = shim_write_all(descriptor, bytes, bytes.count)
  }
}
