import CShims
import UploadCore

/// Files of delivered recordings that are still to be removed from this machine: an empty file `ID.remove` beside the record says so. It
/// is created before the delivery is recorded, and exists until the file is removed, or kept permanently. So a kill, a power cut, or a
/// server that does not answer only postpones the removal.
extension StateDirectory {
  /// Notes that the file of this upload is to be removed after its delivery. The next write, of the record, also syncs this. If it fails,
  /// the removal is tried only once.
  func markRemovalDue(_ id: String) {
    _ = withBallast { createEmpty(removalMark(id)) }
  }

  /// Notes that the file is removed, or kept permanently. A power cut may undo this: then the removal is tried once more.
  package func clearRemovalDue(_ id: String) { _ = shim_unlink(removalMark(id).cName) }

  package func isRemovalDue(_ id: String) -> Bool { exists(id + ".remove") }

  /// How many files of delivered recordings are still to be removed. Of two that were deliveries of the same one, the other remains marked.
  package func removalDueCount() throws(StateError) -> Int {
    var count = 0
    try visitFiles { name in
      // Without its record, it is one that a kill has left behind.
      if let id = name.recordID(before: [".remove"]), let record = try? current(id), record.phase == .delivered,
        record.mayHaveFile
      {
        count += 1
      }
    }
    return count
  }

  private func removalMark(_ id: String) -> LocalPath { file(id + ".remove") }

  /// Creates a file, unless it is there.
  /// - Returns: 0, or an error number below 0.
  func createEmpty(_ path: LocalPath) -> Int32 {
    let descriptor = shim_open_for_writing(path.cName, Int32(SHIM_OPEN_CREATE))
    guard descriptor >= 0 else { return descriptor }
    _ = shim_close(descriptor)
    return 0
  }
}

/// What another upload may have replaced on a server: a file `ID.replaced` beside the record says so, also when the record of that upload is
/// gone. It needs no lock of the record, and no clock.
extension StateDirectory {
  enum Replacement {
    case none
    /// The other upload has begun. The file is empty.
    case possible
    /// The other upload was delivered. The file has a byte.
    case certain
  }

  func replacement(of id: String) -> Replacement {
    shim_file_status(at: file(id + ".replaced")).map { $0.size > 0 ? .certain : .possible } ?? .none
  }

  /// The next write, of the other upload's record, also syncs this.
  func markReplaced(_ id: String, isCertain: Bool) throws(StateError) {
    let path = file(id + ".replaced")
    let descriptor = withBallast { shim_open_for_writing(path.cName, Int32(SHIM_OPEN_CREATE)) }
    guard descriptor >= 0 else { throw .unusable(path, SystemError(result: descriptor)) }
    if isCertain { _ = shim_set_length(descriptor, 1) }
    _ = shim_close(descriptor)
  }

  /// Its record is removed, or it is sent again.
  func clearReplaced(_ id: String) { _ = shim_unlink(file(id + ".replaced").cName) }
}
