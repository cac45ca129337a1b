import CShims
import UploadCore

/// The file system of the last file that an ``Uploader`` has opened, for files that it need not open.
final class FileSystemCache {
  private var last: (device: UInt64, hasStableInodes: Bool)?

  func hasStableInodes(_ file: SourceFile) -> Bool {
    // Asked each time: another one may be mounted by now, with the same device number.
    let isStable = FileSystem.hasStableInodes(type: shim_file_system_type(file.descriptor))
    last = (file.device, isStable)
    return isStable
  }

  /// - Returns: nil if it is not known.
  func hasStableInodes(device: UInt64) -> Bool? { last?.device == device ? last?.hasStableInodes : nil }
}
