import CShims
import UploadCore

/// Reads small files completely.
package enum SmallFile {
  /// - Returns: the whole content; one byte more than the limit if it is longer.
  package static func read(_ descriptor: Int32, limit: Int) throws(SystemError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: limit + 1)
    var length = 0
    while length < bytes.count {
      let count = bytes.withUnsafeMutableBytes { shim_read(descriptor, $0.baseAddress! + length, $0.count - length) }
      if count < 0 { throw SystemError(result: count) }
      if count == 0 { break }
      length += Int(count)
    }
    return Array(bytes[..<length])
  }

  /// Reads a part of the file.
  /// - Returns: fewer bytes if the file ends before.
  package static func read(_ descriptor: Int32, _ count: Int, at offset: Int64) throws(SystemError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    var length = 0
    while length < count {
      let result = bytes.withUnsafeMutableBytes {
        shim_pread(descriptor, $0.baseAddress! + length, count - length, offset + Int64(length))
      }
      if result < 0 { throw SystemError(result: result) }
      if result == 0 { break }
      length += Int(result)
    }
    if length < count { bytes.removeLast(count - length) }
    return bytes
  }
}
