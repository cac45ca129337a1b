import CShims
import UploadCore

extension LocalPath {
  /// The absolute path; nil if there is no working directory.
  package var absolute: LocalPath? {
    if bytes.first == ASCII.slash { return self }
    var directory = [CChar](repeating: 0, count: Limits.pathLength)
    guard shim_working_directory(&directory, directory.count) == 0 else { return nil }
    return LocalPath(bytes: LocalPath(cString: directory).bytes + [ASCII.slash] + bytes)
  }
}
