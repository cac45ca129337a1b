import CShims
import Uploader

/// Saves looking for a file beside each of thousands of recordings. Where recordings of a directory follow each other quickly, as those
/// that were delivered before do, one reading of its names says for some time whether any of them can have one.
final class SidecarSearch {
  private var directory: LocalPath = ""
  /// When it began with the recordings that are counted, in milliseconds.
  private var start: Int64 = 0
  private var count = 0
  /// Whether there were many in the time before.
  private var isQuick = false
  /// Whether the directory had any such file when its names were read; nil if they were not.
  private var hasSidecars: Bool?

  /// Whether to look for a file beside this one.
  func mayFind(beside file: LocalPath) -> Bool {
    let now = shim_monotonic_milliseconds()
    let parent = file.directory
    if parent != directory || now - start > Limits.sidecarSearchMilliseconds {
      isQuick = parent == directory && count > Limits.sidecarLookCount
      (directory, start, count, hasSidecars) = (parent, now, 0, nil)
    }
    count += 1
    guard isQuick || count > Limits.sidecarLookCount else { return true }
    if let hasSidecars { return hasSidecars }
    start = now
    let found = SidecarSearch.hasSidecars(parent)
    hasSidecars = found
    return found
  }

  private final class Finding { var isAny = false }

  /// Also if the directory cannot be read.
  private static func hasSidecars(_ directory: LocalPath) -> Bool {
    let finding = Finding()
    let result = shim_visit_directory(
      directory.cName,
      { name, context in
        guard let name, let context, FileSelection.isSidecar(LocalPath(cString: name).bytes) else { return }
        Unmanaged<Finding>.fromOpaque(context).takeUnretainedValue().isAny = true
      }, Unmanaged.passUnretained(finding).toOpaque())
    return withExtendedLifetime(finding) { finding.isAny || result != 0 }
  }
}
