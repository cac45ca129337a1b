import CShims
import UploadCore

/// Names that are on the disk before a record needs them. A spare is two empty files, `ID.spare` and `ID.room`. What is written to them and synced is
/// safe, so that a small form costs two syncs: before its last byte, `ID.spare` becomes `ID.record`, and after its delivery, `ID.room` becomes
/// `ID.delivered`. A power cut may undo the renaming; ``recoverNames()`` repeats it. One sync of the directory makes many spares.
///
/// The file `spares` has the boot of the machine in 8 bytes, then the IDs that nobody has taken. Only its name is synced, and it is never removed: it says
/// that there can be names to recover.
extension StateDirectory {
  /// Takes the ID of a spare for a new record. The directory must be locked.
  /// - Returns: nil if there is none.
  func takeSpare() -> String? {
    guard boot != 0 else { return nil }
    let list = shim_open_for_writing(file("spares").cName, Int32(SHIM_OPEN_EXISTING))
    guard list >= 0 else { return nil }
    defer { _ = shim_close(list) }
    let limit = bootBytes.count + Limits.spareCount * UploadRecord.idLength
    while let bytes = try? SmallFile.read(list, limit, at: 0), bytes.starts(with: bootBytes),
      bytes.count >= bootBytes.count + UploadRecord.idLength
    {
      let rest = bytes.count - UploadRecord.idLength
      guard shim_set_length(list, Int64(rest)) == 0 else { return nil }
      let id = String(decoding: bytes[rest...], as: UTF8.self)
      if UploadRecord.isID(id), exists(id + ".spare"), exists(id + ".room"), isFree(id) { return id }
    }
    return nil
  }

  /// Makes spares, of which the first is taken. The directory must be locked, and the index must not: they are synced.
  /// - Parameter id: that of the first.
  /// - Returns: false if there can be none.
  func makeSpares(for id: String) -> Bool {
    guard boot != 0, (try? keepsCopies()) == false else { return false }
    let list = shim_open_for_writing(file("spares").cName, Int32(SHIM_OPEN_CREATE))
    guard list >= 0 else { return false }
    defer { _ = shim_close(list) }
    var ids: [String] = []
    var areCreated = true
    while areCreated, ids.count < Limits.spareCount,
      let id = ids.isEmpty ? id : try? LockedRecord.freeID(in: self)
    {
      ids.append(id)
      areCreated = [".spare", ".room"].allSatisfy { createEmpty(file(id + $0)) == 0 }
    }
    let bytes = ids[1...].reduce(bootBytes) { $0 + Array($1.utf8) }
    // What was renamed since the last ones were made is on the disk then, too, and so is the name of the list.
    let isMade =
      areCreated && ids.count == Limits.spareCount && shim_sync_directory(path.cName) == 0
      && shim_write_at(list, bytes, bytes.count, 0) == 0 && shim_set_length(list, Int64(bytes.count)) == 0
    if !isMade { for id in ids { releaseSpace(id) } }
    return isMade
  }

  /// Nobody takes one of those that were made.
  func forgetSpares() {
    let list = shim_open_for_writing(file("spares").cName, Int32(SHIM_OPEN_EXISTING))
    guard list >= 0 else { return }
    _ = shim_set_length(list, 0)
    _ = shim_close(list)
  }

  /// Gives records that are under the names of spares their own, once, if the machine has been started since spares were made.
  /// - Throws: if one may be missed that could be read later.
  func recoverNames() throws(StateError) {
    guard !hasRecoveredNames else { return }
    if !areNamesCurrent() {
      var missed: StateError?
      try visitFiles { name in
        guard let id = name.recordID(before: [".spare", ".room"]) else { return }
        do throws(StateError) { try recover(id, from: String(decoding: name, as: UTF8.self)) } catch {
          if error.isTemporary { missed = error }
        }
      }
      if let missed { throw missed }
    }
    hasRecoveredNames = true
  }

  private func areNamesCurrent() -> Bool {
    let list = shim_open_for_reading(file("spares").cName, 0)
    guard list >= 0 else { return -list == SHIM_ENOENT }
    defer { _ = shim_close(list) }
    return boot != 0 && (try? SmallFile.read(list, bootBytes.count, at: 0)) == bootBytes
  }

  private func recover(_ id: String, from name: String) throws(StateError) {
    // While it is locked, a process that has begun since is about to rename it.
    guard try recordInSpare(name, id) != nil, let lock = try lock(id) else { return }
    defer { withExtendedLifetime(lock) { removeLock(id) } }
    guard let record = try recordInSpare(name, id) else { return }
    let result = shim_rename(file(name).cName, file(RecordName(of: record).text).cName)
    guard result == 0 else { throw failure(of: file(name), result) }
  }

  private func recordInSpare(_ name: String, _ id: String) throws(StateError) -> UploadRecord? {
    if case .whole(let record) = try recordFile(name, of: id + ".record") { record } else { nil }
  }

  private var bootBytes: [UInt8] { (0..<8).map { UInt8(truncatingIfNeeded: boot >> (8 * $0)) } }
}

extension Limits {
  /// Spares that are made with one sync.
  static let spareCount = 32
}
