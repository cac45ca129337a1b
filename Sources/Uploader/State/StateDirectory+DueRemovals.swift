import CShims
import UploadCore

/// Files of delivered recordings that are still to be removed from this machine: an empty file `ID.remove` beside the record says so. It
/// is created before the delivery is recorded, and exists until the file is removed, or kept permanently. So a kill, a power cut, or a
/// server that does not answer only postpones the removal.
extension StateDirectory {
  /// Notes that the file of this upload is to be removed after its delivery. The next write, of the record, also syncs this. If it fails,
  /// the removal is tried only once.
  func markRemovalDue(_ id: String) {
    let descriptor = withBallast { openForWriting(file(removalMark(id)).cName, Int32(SHIM_OPEN_CREATE)) }
    if descriptor >= 0 { _ = shim_close(descriptor) }
  }

  /// Notes that the file is removed, or kept permanently. A power cut may undo this: then the removal is tried once more.
  package func clearRemovalDue(_ id: String) { _ = unlink(file(removalMark(id)).cName) }

  package func isRemovalDue(_ id: String) -> Bool { exists(removalMark(id)) }

  private func removalMark(_ id: String) -> String { id + ".remove" }
}
