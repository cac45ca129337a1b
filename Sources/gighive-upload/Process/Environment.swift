import CShims
import Uploader

/// A variable of the environment, if it is set and not empty.
func environment(_ name: String) -> String? { environmentBytes(name).map { String(decoding: $0, as: UTF8.self) } }

/// The same as the bytes that it is: a password need not be UTF-8.
func environmentBytes(_ name: String) -> [UInt8]? { environmentPath(name)?.bytes }

/// A variable of the environment that is a path, if it is set and not empty.
func environmentPath(_ name: String) -> LocalPath? {
  guard let value = shim_environment(name), value.pointee != 0 else { return nil }
  return LocalPath(cString: value)
}

extension LocalPath {
  /// The path with more text behind it.
  func appending(_ text: String) -> LocalPath { LocalPath(bytes: bytes + Array(text.utf8)) }
}
