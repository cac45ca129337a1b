import UploadCore

/// The state directory of an ``Uploader``, opened when first needed.
final class StateDirectoryCache {
  private var directory: StateDirectory?
  /// That of the uploads in progress.
  var cancellation: Cancellation? { didSet { directory?.cancellation = cancellation } }

  func open(_ path: LocalPath, warn: @escaping (String) -> Void) throws(StateError) -> StateDirectory {
    if let directory { return directory }
    let opened = try StateDirectory(path, warn: warn)
    opened.cancellation = cancellation
    directory = opened
    return opened
  }
}
