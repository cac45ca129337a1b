import CShims
import UploadCore

/// How records are written and removed, so that a power cut leaves either the previous or the new one.
extension StateDirectory {
  /// Writes the record so that it survives a power cut.
  /// - Parameters:
  ///   - intoReservedSpace: writes it into the space reserved for it (``reserveSpace(for:)``).
  ///   - wasWritten: whether this process has written the record before, last time without an error, and held its lock since.
  package func write(
    _ record: UploadRecord, intoReservedSpace: Bool = false, wasWritten: Bool = false
  ) throws(StateError) {
    if try keepsCopies() {
      return try writeTwice(record, hasReservedSpace: intoReservedSpace, wasWritten: wasWritten)
    }
    let bytes = record.encoded(crc32: { shim_crc32($0, $0.count) })
    let temporary = file(record.id + ".new")
    // A longer record could not be read again.
    guard bytes.count <= Limits.recordLength else { throw .unusable(temporary, SystemError(code: SHIM_EFBIG)) }
    let target = file(RecordName(of: record).text)
    var result: Int32 = -1
    if intoReservedSpace {
      let room = file(record.id + ".room")
      result = store(bytes, in: room)
      if result == 0 { result = rename(room.cName, target.cName) }
      if result != 0 { releaseSpace(record.id) }
    }
    if result != 0 {
      result = withBallast {
        let result = store(bytes, in: temporary, isEmptied: true)
        return result == 0 ? rename(temporary.cName, target.cName) : result
      }
    }
    if result == 0 { result = syncNames() }
    guard result == 0 else {
      _ = unlink(temporary.cName)
      throw failure(of: temporary, result)
    }
    if record.phase == .delivered { removeUndelivered(record.id) }
  }

  /// Syncs a delivered record that another process has written, and that may not survive a power cut yet.
  func syncDelivery(_ id: String) throws(StateError) {
    let file = file(id + ".delivered")
    var result = sync(file)
    if result == 0 { result = syncNames() }
    guard result == 0 else { throw failure(of: file, result) }
  }

  /// Syncs what another process, or a write that failed, may have left only in memory.
  func sync(_ file: LocalPath) -> Int32 {
    let descriptor = shim_open_for_reading(file.cName, 0)
    guard descriptor >= 0 else { return descriptor }
    defer { _ = shim_close(descriptor) }
    return shim_sync(descriptor)
  }

  /// Writes and syncs the bytes as the whole content of a file. Its name may not be on the disk yet.
  /// - Parameter isEmptied: truncates the file first; otherwise its content is overwritten, which needs no more space.
  func store(_ bytes: [UInt8], in file: LocalPath, isEmptied: Bool = false) -> Int32 {
    let descriptor = openForWriting(
      file.cName, Int32(isEmptied ? SHIM_OPEN_TRUNCATE : SHIM_OPEN_CREATE))
    guard descriptor >= 0 else { return descriptor }
    var result = shim_write_all(descriptor, bytes, bytes.count)
    if result == 0, !isEmptied { result = shim_set_length(descriptor, Int64(bytes.count)) }
    if result == 0 { result = shim_sync(descriptor) }
    // Synced: nothing is left that closing it could lose.
    _ = shim_close(descriptor)
    return result
  }

  /// Reserves space for the record's last write: a delete token is issued only once, and must not be lost if the disk is full by
  /// then. ``releaseSpace(_:)`` frees the space, or it becomes the record.
  func reserveSpace(for record: UploadRecord) throws(StateError) {
    let room = file(record.id + ".room")
    // Writes bytes, because FAT and NFS have no fallocate(2).
    var length = record.encoded(crc32: { _ in 0 }).count + Limits.recordReserveLength
    if try keepsCopies() { length = 2 * (length + Limits.recordBlockLength) }
    let bytes = [UInt8](repeating: 0, count: length)
    let result = withBallast {
      let descriptor = openForWriting(room.cName, Int32(SHIM_OPEN_TRUNCATE))
      guard descriptor >= 0 else { return descriptor }
      let result = shim_write_all(descriptor, bytes, bytes.count)
      let closed = shim_close(descriptor)
      return result == 0 ? closed : result
    }
    guard result == 0 else {
      releaseSpace(record.id)
      throw failure(of: room, result)
    }
  }

  func releaseSpace(_ id: String) { _ = unlink(file(id + ".room").cName) }

  func failure(of file: LocalPath, _ result: Int32) -> StateError {
    Int(result) == SHIM_NOT_REGULAR ? .notRegular(file) : .unusable(file, SystemError(result: result))
  }

  /// Removes what a delivered record does not need: its lock, and leftovers of a power cut. The lock must be held.
  func tidy(delivered id: String) {
    guard let record = try? read(id + ".delivered") else { return }
    if !isMissing(file(id + ".record")) {
      // The delivery may not be on the disk yet, if its writer was killed. Without a journal, the removal could be there first.
      do throws(StateError) {
        if try keepsCopies() {
          try writeTwice(record)
        } else {
          try syncDelivery(id)
          removeUndelivered(id)
        }
      } catch { return }
    }
    releaseSpace(id)
    removeLock(id)
  }

  /// Removes the record that led to a delivery.
  func removeUndelivered(_ id: String) {
    removeCopy(of: id + ".record")
    _ = unlink(file(id + ".record").cName)
  }

  /// Removes the record. Its lock must be held.
  package func remove(_ id: String) throws(StateError) {
    var names: [RecordName] = []
    for isDelivered in [false, true] {
      let name = RecordName(number: RecordName.number(ofID: id), isDelivered: isDelivered)
      let path = file(name.text)
      removeCopy(of: name.text)
      let result = unlink(path.cName)
      guard result == 0 || -result == SHIM_ENOENT else { throw .unusable(path, SystemError(result: result)) }
      if result == 0 { names.append(name) }
    }
    releaseSpace(id)
    clearRemovalDue(id)
    removeLock(id)
    _ = shim_sync_directory(self.path.cName)
    noteRemoval(of: names)
  }
}
