import UploadCore

/// The state directory of an ``Uploader``, opened when first needed.
final class StateDirectoryCache {
  private var directory: StateDirectory?

  func open(_ path: LocalPath, warn: @escaping (String) -> Void) throws(StateError) -> StateDirectory {
    if let directory { return directory }
    let opened = try StateDirectory(path, warn: warn)
    directory = opened
    return opened
  }
}
