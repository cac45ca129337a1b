import CShims
import Uploader

/// The file beside another one that shows that a downloader has not finished it.
enum UnfinishedMark {
  /// - Returns: its path; nil if there is none.
  static func beside(_ file: LocalPath) -> LocalPath? {
    var status = shim_file_status()
    return FileSelection.unfinishedEndings.lazy.map { file.appending($0) }
      .first { $0.cString.map { shim_lstat($0, &status) == 0 } ?? false }
  }
}
