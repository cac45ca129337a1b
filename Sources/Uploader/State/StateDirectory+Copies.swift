import CShims
import UploadCore

/// Records on FAT. There a rename is several writes, and a power cut between them can take both files; space that a removed file
/// frees may be used again before the removal is on the disk. So nothing is renamed or freed: a record is overwritten where it is,
/// after the same bytes were synced in its copy, `ID.record~`. If a power cut tears one file, the other is whole. The record
/// takes precedence while it is whole, so an outdated copy by another version of the program does no harm. Both are
/// padded, so that they hardly ever need more space.
extension StateDirectory {
  func hasAtomicRename() throws(StateError) -> Bool {
    let descriptor = shim_open_for_reading(path.cName, 0)
    guard descriptor >= 0 else { throw .unusable(path, SystemError(result: descriptor)) }
    defer { _ = shim_close(descriptor) }
    return FileSystem.hasAtomicRename(type: shim_file_system_type(descriptor))
  }

  /// The copy of a record that is damaged or missing; nil if there is none that is whole.
  func copy(of name: String) throws(StateError) -> UploadRecord? {
    guard case .whole(let record)? = try? recordFile(copyName(name), of: name), try keepsCopies() else { return nil }
    return record
  }

  func removeCopy(of name: String) {
    if (try? keepsCopies()) ?? true { _ = unlink(file(copyName(name)).cName) }
  }

  /// Writes the record so that it survives a power cut.
  /// - Parameters:
  ///   - hasReservedSpace: whether space was reserved for it (``reserveSpace(for:)``), which is then released.
  ///   - wasWritten: whether the record and its copy are on the disk for certain, with their names.
  func writeTwice(
    _ record: UploadRecord, hasReservedSpace: Bool = false, wasWritten: Bool = false
  ) throws(StateError) {
    let name = RecordName(of: record).text
    let bytes = record.encoded(paddedTo: Limits.recordBlockLength, crc32: { shim_crc32($0, $0.count) })
    // A longer record could not be read again.
    guard bytes.count <= Limits.recordLength else { throw .unusable(file(name), SystemError(code: SHIM_EFBIG)) }
    let isNew = isMissing(file(name))
    let wasWritten = wasWritten && !isNew
    var hasReservedSpace = hasReservedSpace
    let order = try order(of: name)
    if !isNew, !wasWritten { try secure(order[1]) }
    var result: Int32 = 0
    // A second attempt leaves alone what is whole by then.
    for name in order where result == 0 {
      // The space that is reserved for it comes first.
      guard hasReservedSpace else {
        result = withBallast { overwrite(name, with: bytes, isNameSafe: wasWritten) }
        continue
      }
      result = overwrite(name, with: bytes, isNameSafe: wasWritten)
      guard result != 0 else { continue }
      releaseSpace(record.id)
      hasReservedSpace = false
      // Before the space is used again.
      _ = shim_sync_directory(path.cName)
      result = withBallast { overwrite(name, with: bytes, isNameSafe: wasWritten) }
    }
    guard result == 0 else {
      if isNew {
        _ = unlink(file(name).cName)
        removeCopy(of: name)
      }
      throw failure(of: file(name), result)
    }
    if hasReservedSpace { releaseSpace(record.id) }
    if record.phase == .delivered { removeUndelivered(record.id) }
  }

  /// What stays while the other file is overwritten must be on the disk. It may be whole in memory alone, because the last write failed
  /// or its process was killed.
  private func secure(_ name: String) throws(StateError) {
    let result = sync(file(name))
    guard result == 0 || -result == SHIM_ENOENT else { throw failure(of: file(name), result) }
  }

  private func overwrite(_ name: String, with bytes: [UInt8], isNameSafe: Bool) -> Int32 {
    let result = store(bytes, in: file(name))
    return result == 0 && !isNameSafe ? shim_sync_directory(path.cName) : result
  }

  /// The copy comes first, unless it is all that there is. Nothing is written while neither can be read: the other one may be torn.
  private func order(of name: String) throws(StateError) -> [String] {
    let names = [copyName(name), name]
    do throws(StateError) {
      if case .damaged = try recordFile(name, of: name) { return names.reversed() }
    } catch {
      // It may be whole all the same, and its copy may not.
      guard case .whole? = try? recordFile(copyName(name), of: name) else { throw error }
      return names.reversed()
    }
    return names
  }

  func copyName(_ name: String) -> String { name + "~" }
}
