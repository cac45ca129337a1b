import CShims
import UploadCore

extension FreeSpace {
  /// - Returns: nil if the file system does not say.
  package init?(at path: LocalPath) {
    let (bytes, files) = (shim_free_space(path.cName), shim_free_files(path.cName))
    guard bytes >= 0, files >= 0 else { return nil }
    self.init(bytes: bytes, files: files)
  }
}
