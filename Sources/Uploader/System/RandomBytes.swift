import CShims
import UploadCore

/// Unpredictable bytes from the kernel (getrandom(2)).
package enum RandomBytes {
  package static func bytes(_ count: Int) throws(UploadError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    guard shim_random(&bytes, count) == 0 else { throw .outOfResources("randomness") }
    return bytes
  }

  static func number() throws(UploadError) -> UInt64 {
    try bytes(8).reversed().reduce(0) { $0 << 8 | UInt64($1) }
  }
}
