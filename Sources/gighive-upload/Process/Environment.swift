import CShims
import Uploader

/// An environment variable; nil if it is unset or empty.
func environment(_ name: String) -> String? { environmentBytes(name).map { String(decoding: $0, as: UTF8.self) } }

/// The same as bytes, because a password need not be UTF-8.
func environmentBytes(_ name: String) -> [UInt8]? { environmentPath(name)?.bytes }

/// An environment variable that holds a path; nil if it is unset or empty.
func environmentPath(_ name: String) -> LocalPath? {
  guard let value = shim_environment(name), value.pointee != 0 else { return nil }
  return LocalPath(cString: value)
}

extension LocalPath {
  func appending(_ text: String) -> LocalPath { LocalPath(bytes: bytes + Array(text.utf8)) }
}

/// A copy that lives as long as the process.
func permanentCString(_ text: String) -> UnsafePointer<CChar> {
  let bytes = Array(text.utf8) + [0]
  let copy = UnsafeMutablePointer<CChar>.allocate(capacity: bytes.count)
  for (index, byte) in bytes.enumerated() { copy[index] = CChar(bitPattern: byte) }
  return UnsafePointer(copy)
}
