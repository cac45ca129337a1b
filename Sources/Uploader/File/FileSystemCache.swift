import CShims
import UploadCore

/// The file system of the last file of an ``Uploader``, cached.
final class FileSystemCache {
  private var last: (device: UInt64, hasStableInodes: Bool)?

  func hasStableInodes(_ file: SourceFile) -> Bool {
    if let known = hasStableInodes(device: file.device) { return known }
    let isStable = FileSystem.hasStableInodes(type: shim_file_system_type(file.descriptor))
    last = (file.device, isStable)
    return isStable
  }

  /// - Returns: nil if it is not known.
  func hasStableInodes(device: UInt64) -> Bool? { last?.device == device ? last?.hasStableInodes : nil }
}
