import CShims
import UploadCore

/// The directory with one record per upload: `ID.record`, and `ID.delivered` once it is delivered. A record is written in full
/// under another name, synced and renamed, so that a power cut leaves either the previous or the new one; on FAT, it is written
/// twice instead (`StateDirectory+Copies.swift`). `ID.lock` is locked by
/// the process that is working on the upload, `ID.room` reserves space for the last write, and `ID.remove` says that the file is to be
/// removed (`StateDirectory+DueRemovals.swift`). `index` maps files to records,
/// so that not all records must be read.
package final class StateDirectory {
  let path: LocalPath
  let warn: (String) -> Void
  var indexState = IndexState()
  /// Ends the building of the index.
  var cancellation: Cancellation?
  /// Whether each record has a copy, because its file system does not rename at once. Found out when first needed.
  private(set) lazy var keepsCopies = !hasAtomicRename()

  /// - Parameters:
  ///   - creates: whether to create the directory if it is missing. Otherwise it has no records until one is written.
  ///   - keepsCopies: whether each record has a copy; nil if the file system decides.
  ///   - warn: called for invalid records.
  package init(
    _ path: LocalPath, creates: Bool = true, keepsCopies: Bool? = nil, warn: @escaping (String) -> Void
  ) throws(StateError) {
    self.path = path
    self.warn = warn
    if let keepsCopies { self.keepsCopies = keepsCopies }
    if creates { try makeDirectories() }
  }

  /// The directory if it is there; nothing is created.
  package init?(existing path: LocalPath, warn: @escaping (String) -> Void) throws(StateError) {
    var status = shim_file_status()
    let result = shim_stat(path.cString ?? [0], &status)
    if -result == SHIM_ENOENT { return nil }
    guard result == 0 else { throw .unusable(path, SystemError(result: result)) }
    self.path = path
    self.warn = warn
  }

  func makeDirectories() throws(StateError) {
    // A parent may exist and be unwritable. If it does not exist, that is the error.
    var failure: StateError?
    let ends = path.bytes.indices.filter { $0 > 0 && path.bytes[$0] == ASCII.slash } + [path.bytes.count]
    var parent: LocalPath = path.bytes.first == ASCII.slash ? "/" : "."
    for end in ends {
      let path = LocalPath(bytes: Array(path.bytes[..<end]))
      guard let name = path.cString else { throw .unusable(path, SystemError(code: SHIM_EINVAL)) }
      let result = shim_make_directory(name)
      // Its name must survive a power cut.
      if result == 0 { _ = shim_sync_directory(parent.cString ?? [0]) }
      let isThere = result == 0 || -result == SHIM_EEXIST
      if !isThere, -result != SHIM_ENOENT || failure == nil { failure = .unusable(path, SystemError(result: result)) }
      if end == ends.last, !isThere, let failure { throw failure }
      parent = path
    }
  }

  // MARK: Reading

  /// The current record; nil if it is gone or invalid. Its lock must be held.
  /// - Throws: if it exists but cannot be read.
  package func current(_ id: String) throws(StateError) -> UploadRecord? {
    if let record = try read(id + ".delivered") { return record }
    return try read(id + ".record")
  }

  /// - Returns: nil if it is gone, or was damaged and has been renamed.
  func read(_ name: String) throws(StateError) -> UploadRecord? {
    let found: RecordFile
    do throws(StateError) { found = try recordFile(name, of: name) } catch {
      // Its blocks cannot be read, or something else is in its place. That this process may open no more files says nothing about it.
      if case .unusable(_, let cause) = error, [SHIM_EIO, SHIM_EINVAL].contains(cause.code), let copy = copy(of: name) {
        return copy
      }
      throw error
    }
    switch found {
    case .missing: return nil
    case .whole(let record): return record
    case .damaged:
      if let copy = copy(of: name) { return copy }
      let id = String(decoding: name.utf8.prefix { $0 != UInt8(ascii: ".") }, as: UTF8.self)
      if name == id + ".record", isDelivered(id) { removeUndelivered(id) } else { setAside(file(name)) }
      return nil
    }
  }

  /// Whether there is a whole record of its delivery. A power cut can leave a part of the record that led to it.
  private func isDelivered(_ id: String) -> Bool {
    let name = id + ".delivered"
    guard case .whole? = try? recordFile(name, of: name) else { return false }
    return true
  }

  enum RecordFile {
    case missing
    case whole(UploadRecord)
    case damaged
  }

  /// - Parameters:
  ///   - fileName: the file to read.
  ///   - name: the name of its record.
  func recordFile(_ fileName: String, of name: String) throws(StateError) -> RecordFile {
    let path = file(fileName)
    let descriptor = shim_open_for_reading(path.cString ?? [0], 0)
    // Another process has just removed it.
    if -descriptor == SHIM_ENOENT { return .missing }
    guard descriptor >= 0 else { throw .unusable(path, SystemError(result: descriptor)) }
    defer { _ = shim_close(descriptor) }
    let bytes: [UInt8]
    do throws(SystemError) { bytes = try contents(of: descriptor) } catch { throw .unusable(path, error) }
    do throws(RecordError) {
      let record = try UploadRecord(decoding: bytes, crc32: { shim_crc32($0, $0.count) })
      // On FAT, a new file can have the content of one that was removed.
      let isPossible = record.phase == .delivered || !name.hasSuffix(".delivered")
      if name.hasPrefix(record.id + "."), isPossible { return .whole(record) }
    } catch {
      if error == .unsupportedVersion { throw .unsupportedVersion(path) }
    }
    return .damaged
  }

  private func contents(of descriptor: Int32) throws(SystemError) -> [UInt8] {
    var status = shim_file_status()
    let result = shim_fstat(descriptor, &status)
    guard result == 0 else { throw SystemError(result: result) }
    guard Int(status.kind) == SHIM_KIND_REGULAR else { throw SystemError(code: SHIM_EINVAL) }
    return try SmallFile.read(descriptor, limit: Int(min(status.size, Int64(Limits.recordLength))))
  }

  private func setAside(_ path: LocalPath) {
    let other = LocalPath(bytes: path.bytes + Array(".damaged".utf8))
    let result = rename(path.cString ?? [0], other.cString ?? [0])
    warn(
      PrintableText.line(path.text) + " is damaged and "
        + (result == 0
          ? "was renamed to " + PrintableText.line(other.lastComponent)
          : "could not be renamed (" + SystemError(result: result).text + ")")
        + "; its upload starts over.")
  }

  // MARK: Writing

  /// Writes the record so that it survives a power cut.
  /// - Parameters:
  ///   - intoReservedSpace: writes it into the space reserved for it (``reserveSpace(for:)``).
  ///   - isNameSafe: whether this process has written the record before, and held its lock since.
  package func write(
    _ record: UploadRecord, intoReservedSpace: Bool = false, isNameSafe: Bool = false
  ) throws(StateError) {
    if keepsCopies {
      return try writeTwice(record, hasReservedSpace: intoReservedSpace, isNameSafe: isNameSafe)
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
      if result == 0 { result = rename(room.cString ?? [0], target.cString ?? [0]) }
      if result != 0 { releaseSpace(record.id) }
    }
    if result != 0 {
      result = store(bytes, in: temporary, isEmptied: true)
      if result == 0 { result = rename(temporary.cString ?? [0], target.cString ?? [0]) }
    }
    if result == 0 { result = shim_sync_directory(path.cString ?? [0]) }
    guard result == 0 else {
      _ = unlink(temporary.cString ?? [0])
      throw failure(of: temporary, result)
    }
    if record.phase == .delivered { removeUndelivered(record.id) }
  }

  /// Syncs a delivered record that another process has written, and that may not survive a power cut yet.
  func syncDelivery(_ id: String) throws(StateError) {
    let file = file(id + ".delivered")
    let descriptor = shim_open_for_reading(file.cString ?? [0], 0)
    guard descriptor >= 0 else { throw failure(of: file, descriptor) }
    defer { _ = shim_close(descriptor) }
    var result = shim_sync(descriptor)
    if result == 0 { result = shim_sync_directory(path.cString ?? [0]) }
    guard result == 0 else { throw failure(of: file, result) }
  }

  /// Writes and syncs the bytes as the whole content of a file. Its name may not be on the disk yet.
  /// - Parameter isEmptied: truncates the file first; otherwise its content is overwritten, which needs no more space.
  func store(_ bytes: [UInt8], in file: LocalPath, isEmptied: Bool = false) -> Int32 {
    let descriptor = openForWriting(
      file.cString ?? [0], Int32(isEmptied ? SHIM_OPEN_TRUNCATE : SHIM_OPEN_CREATE))
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
    if keepsCopies { length = 2 * (length + Limits.recordBlockLength) }
    let bytes = [UInt8](repeating: 0, count: length)
    let descriptor = openForWriting(room.cString ?? [0], Int32(SHIM_OPEN_TRUNCATE))
    guard descriptor >= 0 else { throw failure(of: room, descriptor) }
    var result = shim_write_all(descriptor, bytes, bytes.count)
    let closed = shim_close(descriptor)
    if result == 0 { result = closed }
    guard result == 0 else {
      releaseSpace(record.id)
      throw failure(of: room, result)
    }
  }

  func releaseSpace(_ id: String) { _ = unlink(file(id + ".room").cString ?? [0]) }

  func failure(of file: LocalPath, _ result: Int32) -> StateError {
    Int(result) == SHIM_NOT_REGULAR ? .notRegular(file) : .unusable(file, SystemError(result: result))
  }

  /// Removes what a delivered record does not need: its lock, and leftovers of a power cut. The lock must be held.
  func tidy(delivered id: String) {
    guard let record = try? read(id + ".delivered") else { return }
    if !isMissing(file(id + ".record")) {
      // The delivery may not be on the disk yet, if its writer was killed. Without a journal, the removal could be there first.
      do throws(StateError) {
        if keepsCopies {
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
    _ = unlink(file(id + ".record").cString ?? [0])
  }

  /// Removes the record. Its lock must be held.
  package func remove(_ id: String) throws(StateError) {
    var names: [RecordName] = []
    for isDelivered in [false, true] {
      let name = RecordName(number: RecordName.number(ofID: id), isDelivered: isDelivered)
      let path = file(name.text)
      removeCopy(of: name.text)
      let result = unlink(path.cString ?? [0])
      guard result == 0 || -result == SHIM_ENOENT else { throw .unusable(path, SystemError(result: result)) }
      if result == 0 { names.append(name) }
    }
    releaseSpace(id)
    clearRemovalDue(id)
    removeLock(id)
    _ = shim_sync_directory(self.path.cString ?? [0])
    noteRemoval(of: names)
  }

  func exists(_ name: String) -> Bool {
    var status = shim_file_status()
    return shim_stat(file(name).cString ?? [0], &status) == 0
  }

  /// Whether it is certain that there is no such file.
  func isMissing(_ file: LocalPath) -> Bool {
    var status = shim_file_status()
    return -shim_stat(file.cString ?? [0], &status) == SHIM_ENOENT
  }

  // MARK: Name changes

  func unlink(_ name: [CChar]) -> Int32 { changing { shim_unlink(name) } }

  private func rename(_ name: [CChar], _ other: [CChar]) -> Int32 { changing { shim_rename(name, other) } }

  func openForWriting(_ name: [CChar], _ how: Int32) -> Int32 { changing { shim_open_for_writing(name, how) } }

  func file(_ name: String) -> LocalPath {
    LocalPath(bytes: path.bytes + [ASCII.slash] + Array(name.utf8))
  }
}
