import CShims
import UploadCore

/// The file `index` of a state directory, open for reading without its lock: another process may be writing to it.
final class UnlockedIndex: IndexSource {
  private let descriptor: Int32

  /// - Returns: nil if it cannot be opened.
  static func open(_ path: LocalPath) -> UnlockedIndex? {
    let descriptor = shim_open_for_reading(path.cName, 0)
    return descriptor < 0 ? nil : UnlockedIndex(descriptor)
  }

  private init(_ descriptor: Int32) { self.descriptor = descriptor }

  deinit { _ = shim_close(descriptor) }

  func read(_ count: Int, at offset: Int64) throws(SystemError) -> [UInt8] {
    try SmallFile.read(descriptor, count, at: offset)
  }
}
