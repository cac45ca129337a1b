import CShims
import UploadCore

/// The file system of the last file that an ``Uploader`` has opened, for files that it need not open.
final class FileSystemCache {
  private var last: (device: UInt64, kind: FileSystem.Kind)?

  func kind(of file: SourceFile) -> FileSystem.Kind {
    // Asked each time: another one may be mounted by now, with the same device number.
    let kind = FileSystem.kind(type: shim_file_system_type(file.descriptor))
    last = (file.device, kind)
    return kind
  }

  /// - Returns: nil if it is not known.
  func kind(device: UInt64) -> FileSystem.Kind? { last?.device == device ? last?.kind : nil }
}
