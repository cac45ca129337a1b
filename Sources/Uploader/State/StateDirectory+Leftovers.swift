import CShims
import UploadCore

/// What a process leaves behind that is killed while it creates a record: `ID.lock`, `ID.new` and `ID.room` without a record.
extension StateDirectory {
  /// Removes what is left of records that were never written. The directory must be locked (``lockForCreation()``), so that no process is
  /// creating a record before it has locked it. Another change than those of this program has come first, so this is rare.
  func tidyLeftovers() {
    for id in leftovers() {
      do throws(StateError) {
        guard let lock = try lock(id) else { continue }
        defer { withExtendedLifetime(lock) {} }
        let names = [id + ".record", id + ".delivered"]
        guard names.allSatisfy({ isMissing(file($0)) && isMissing(file(copyName($0))) }) else { continue }
        _ = unlink(file(id + ".new").cName)
        releaseSpace(id)
        removeLock(id)
      } catch { continue }
    }
  }

  private final class Leftovers { var ids: [String] = [] }

  /// The IDs that seem to have no record, some at a time.
  private func leftovers() -> [String] {
    let found = Leftovers()
    // What cannot be seen now is left for the next time.
    try? visitFiles { [self] name in
      guard let id = name.leftoverID, found.ids.count < Limits.leftoverCount, !found.ids.contains(id) else { return }
      if isMissing(file(id + ".record")), isMissing(file(id + ".delivered")) { found.ids.append(id) }
    }
    return found.ids
  }
}

extension UnsafeRawBufferPointer {
  /// The ID in the name of a file that belongs to a record.
  fileprivate var leftoverID: String? {
    guard let dot = firstIndex(of: UInt8(ascii: ".")) else { return nil }
    let id = String(decoding: self[..<dot], as: UTF8.self)
    let isLeftover = [".lock", ".new", ".room"].contains { self[dot...].elementsEqual($0.utf8) }
    return isLeftover && UploadRecord.isID(id) ? id : nil
  }
}
