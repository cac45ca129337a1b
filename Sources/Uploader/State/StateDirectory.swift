import CShims
import UploadCore

/// The directory with one record per upload: `ID.record`, and `ID.delivered` once it is delivered. A record is written in full
/// under another name, synced and renamed, so that a power cut leaves either the previous or the new one; on FAT, it is written
/// twice instead. `ID.lock` is locked by the process that is working on the upload, `ID.room` reserves space for the last write, and
/// `ID.remove` says that the file is to be removed. `ID.spare` and `spares` are for small forms. `removals` is the journal of
/// removals; `spare.lock` and `ballast.0` to `ballast.7` are kept for them. `index` maps files to records, so that not all records
/// must be read.
package final class StateDirectory {
  let path: LocalPath
  let warn: (String) -> Void
  var indexState = IndexState()
  /// Ends a walk through all records.
  var cancellation: Cancellation?
  /// The ballast in a directory of recordings, without the numbers of its files; nil for none.
  var hiddenBallast: LocalPath?
  private var knownToKeepCopies: Bool?
  /// See ``recoverNames()``.
  var hasRecoveredNames = false

  /// Whether each record has a copy, because its file system does not rename at once.
  /// - Throws: if that is unknown, for example because too many files are open. Without its copy, a power cut could take a record
  ///   on FAT; elsewhere, a copy would be out of date after the next change.
  func keepsCopies() throws(StateError) -> Bool {
    if let knownToKeepCopies { return knownToKeepCopies }
    let keepsCopies = try !hasAtomicRename()
    knownToKeepCopies = keepsCopies
    return keepsCopies
  }

  /// - Parameters:
  ///   - creates: whether to create the directory if it is missing. Otherwise it has no records until one is written.
  ///   - keepsCopies: whether each record has a copy; nil if the file system decides.
  ///   - warn: called for invalid records.
  package init(
    _ path: LocalPath, creates: Bool = true, keepsCopies: Bool? = nil, warn: @escaping (String) -> Void
  ) throws(StateError) {
    self.path = path
    self.warn = warn
    knownToKeepCopies = keepsCopies
    if creates { try makeDirectories() }
  }

  /// The directory if it is there; nothing is created.
  package init?(existing path: LocalPath, warn: @escaping (String) -> Void) throws(StateError) {
    if case .failure(let error) = path.status {
      if error.code == SHIM_ENOENT { return nil }
      throw .unusable(path, error)
    }
    self.path = path
    self.warn = warn
  }

  private func makeDirectories() throws(StateError) {
    // A parent may exist and be unwritable. If it does not exist, that is the error.
    var failure: StateError?
    let ends = path.bytes.indices.filter { $0 > 0 && path.bytes[$0] == ASCII.slash } + [path.bytes.count]
    var parent: LocalPath = path.bytes.first == ASCII.slash ? "/" : "."
    for end in ends {
      let path = LocalPath(bytes: Array(path.bytes[..<end]))
      guard let name = path.cString else { throw .unusable(path, SystemError(code: SHIM_EINVAL)) }
      let result = shim_make_directory(name)
      // Its name must survive a power cut.
      if result == 0 { _ = shim_sync_directory(parent.cName) }
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
      guard case .unusable(_, let cause) = error, [SHIM_EIO, SHIM_EINVAL].contains(cause.code) else { throw error }
      if let copy = try copy(of: name) { return copy }
      throw error
    }
    switch found {
    // A power cut came before the record of a delivery had its name, but not before its copy had one. Of other records, nothing that
    // counts is written before both are on the disk.
    case .missing: return name.hasSuffix(".delivered") ? try copy(of: name) : nil
    case .whole(let record): return record
    case .damaged:
      if let copy = try copy(of: name) { return copy }
      let id = String(decoding: name.utf8.prefix { $0 != UInt8(ascii: ".") }, as: UTF8.self)
      if name == id + ".record", isDelivered(id) { removeUndelivered(id) } else { setAside(file(name)) }
      return nil
    }
  }

  /// Whether there is a whole record of its delivery. A power cut can leave a part of the record that led to it.
  private func isDelivered(_ id: String) -> Bool {
    let name = id + ".delivered"
    if case .whole? = try? recordFile(name, of: name) { return true }
    return (try? copy(of: name)) ?? nil != nil
  }

  func isFree(_ id: String) -> Bool { !exists(id + ".record") && !exists(id + ".delivered") }

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
    let descriptor = shim_open_for_reading(path.cName, 0)
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
    let status = try shim_file_status.of(descriptor)
    guard status.isRegular else { throw SystemError(code: SHIM_EINVAL) }
    return try SmallFile.read(descriptor, limit: Int(min(status.size, Int64(Limits.recordLength))))
  }

  private func setAside(_ path: LocalPath) {
    let other = LocalPath(bytes: path.bytes + Array(".damaged".utf8))
    let result = shim_rename(path.cName, other.cName)
    warn(
      PrintableText.line(path.text) + " is damaged and "
        + (result == 0
          ? "was renamed to " + PrintableText.line(other.lastComponent)
          : "could not be renamed (" + SystemError(result: result).text + ")")
        + "; its upload starts over.")
  }

  func exists(_ name: String) -> Bool { shim_file_status(at: file(name)) != nil }

  /// Whether it is certain that there is no such file.
  func isMissing(_ file: LocalPath) -> Bool {
    if case .failure(let error) = file.status { error.code == SHIM_ENOENT } else { false }
  }

  func file(_ name: String) -> LocalPath { path.appendingName(Array(name.utf8)) }
}

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

/// How records are written and removed, so that a power cut leaves either the previous or the new one.
extension StateDirectory {
  /// What is on the disk when a record has been written.
  package enum Durability {
    /// Perhaps nothing: a power cut may take it, or tear it.
    case unsynced
    /// The record. It replaces a file of the spare that it has (``takeSpare()``), whose name was there before.
    case underSpareName
    case underOwnName
  }

  /// Writes the record. Unless it is unsynced, it survives a power cut.
  /// - Parameters:
  ///   - intoReservedSpace: writes it into the space reserved for it (``reserveSpace(for:)``).
  ///   - wasWritten: whether this process has written the record before, last time without an error, and held its lock since.
  package func write(
    _ record: UploadRecord, _ durability: Durability = .underOwnName, intoReservedSpace: Bool = false,
    wasWritten: Bool = false
  ) throws(StateError) {
    if try keepsCopies() {
      return try writeTwice(record, hasReservedSpace: intoReservedSpace, wasWritten: wasWritten)
    }
    let bytes = record.encoded(crc32: { shim_crc32($0, $0.count) })
    let temporary = file(record.id + ".new")
    // A longer record could not be read again.
    guard bytes.count <= Limits.recordLength else { throw .unusable(temporary, SystemError(code: SHIM_EFBIG)) }
    let target = file(RecordName(of: record).text)
    var (result, syncsNames): (Int32, Bool) = (-1, durability == .underOwnName)
    if intoReservedSpace || durability == .underSpareName {
      let ready = file(record.id + (intoReservedSpace ? ".room" : ".spare"))
      // A new file would not have its name on the disk.
      result = store(bytes, in: ready, durability == .underSpareName ? SHIM_OPEN_EXISTING : SHIM_OPEN_CREATE)
      if result == 0 { result = shim_rename(ready.cName, target.cName) }
      if result != 0 {
        _ = shim_unlink(ready.cName)
        syncsNames = true
      }
    }
    if result != 0 {
      result = withBallast {
        let result = store(bytes, in: temporary, SHIM_OPEN_TRUNCATE, isSynced: durability != .unsynced)
        return result == 0 ? shim_rename(temporary.cName, target.cName) : result
      }
    }
    if result == 0, syncsNames { result = syncNames() }
    guard result == 0 else {
      _ = shim_unlink(temporary.cName)
      throw failure(of: temporary, result)
    }
    if record.phase == .delivered { removeUndelivered(record.id) }
  }

  /// Syncs a delivered record that another process has written, and that may not survive a power cut yet.
  func syncDelivery(_ id: String) throws(StateError) {
    let name = id + ".delivered"
    // If the record is torn, its copy is what counts.
    if try keepsCopies() { try secure(copyName(name)) }
    let file = file(name)
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

  /// Writes the bytes as the whole content of a file. Its name may not be on the disk yet.
  /// - Parameter how: unless it truncates the file first, its content is overwritten, which needs no more space.
  func store(_ bytes: [UInt8], in file: LocalPath, _ how: Int = SHIM_OPEN_CREATE, isSynced: Bool = true) -> Int32 {
    let descriptor = shim_open_for_writing(file.cName, Int32(how))
    guard descriptor >= 0 else { return descriptor }
    var result = shim_write_all(descriptor, bytes, bytes.count)
    if result == 0, how != SHIM_OPEN_TRUNCATE { result = shim_set_length(descriptor, Int64(bytes.count)) }
    if result == 0, isSynced { result = shim_sync(descriptor) }
    let closed = shim_close(descriptor)
    // Synced: nothing is left that closing it could lose.
    return result == 0 && !isSynced ? closed : result
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
      let descriptor = shim_open_for_writing(room.cName, Int32(SHIM_OPEN_TRUNCATE))
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

  /// Also what is left of its spare.
  func releaseSpace(_ id: String) {
    for ending in [".room", ".spare"] { _ = shim_unlink(file(id + ending).cName) }
  }

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
  private func removeUndelivered(_ id: String) {
    removeCopy(of: id + ".record")
    _ = shim_unlink(file(id + ".record").cName)
  }

  /// Removes the record. Its lock must be held.
  package func remove(_ id: String) throws(StateError) {
    var names: [RecordName] = []
    for isDelivered in [false, true] {
      let name = RecordName(number: RecordName.number(ofID: id), isDelivered: isDelivered)
      let path = file(name.text)
      removeCopy(of: name.text)
      let result = shim_unlink(path.cName)
      guard result == 0 || -result == SHIM_ENOENT else { throw .unusable(path, SystemError(result: result)) }
      if result == 0 { names.append(name) }
    }
    releaseSpace(id)
    clearRemovalDue(id)
    clearReplaced(id)
    removeLock(id)
    _ = shim_sync_directory(self.path.cName)
    noteRemoval(of: names)
  }
}

/// Locks between processes: one for each upload, and one for the directory, while a record is looked for and created. They are held
/// by flock(2), so the kernel releases them when a process ends.
extension StateDirectory {
  /// Locks an upload against other processes.
  /// - Returns: nil if another process has locked it.
  package func lock(_ id: String) throws(StateError) -> StateLock? {
    try lock(file: file(id + ".lock"), mayTakeSpare: true)
  }

  /// Locks an upload and reads its record again: another process may have changed it since it was found.
  package func lockRecord(_ id: String) throws(StateError) -> RecordLocking {
    guard let lock = try lock(id) else { return .busy }
    guard let record = try current(id) else {
      removeLock(id)
      return .gone
    }
    return .locked(lock, record)
  }

  /// Whether another process is working on the upload. It may begin to at any time.
  package func isLocked(_ id: String) -> Bool {
    // Held, so that a process that is about to resume the upload waits for a moment instead of finding it locked.
    guard let creation = try? lockForCreation() else { return false }
    defer { withExtendedLifetime(creation) {} }
    do throws(StateError) { return try lock(file: file(id + ".lock"), mustExist: true) == nil } catch { return false }
  }

  /// Locks the directory, in order to look for a record and create one.
  /// - Returns: nil if another process has locked it for the moment.
  func lockForCreation() throws(StateError) -> StateLock? {
    let file = file("directory.lock")
    do throws(StateError) { return try lock(file: file) } catch {
      // The directory has been removed in the meantime.
      guard case .unusable(_, let cause) = error, cause.code == SHIM_ENOENT else { throw error }
      try makeDirectories()
      return try lock(file: file)
    }
  }

  /// - Parameters:
  ///   - mustExist: does not create the file.
  ///   - mayTakeSpare: whether the spare lock gets this name if the disk is full.
  func lock(file: LocalPath, mustExist: Bool = false, mayTakeSpare: Bool = false) throws(StateError) -> StateLock? {
    // The index is also locked like this, and keeps its content.
    let how = mustExist ? SHIM_OPEN_EXISTING : SHIM_OPEN_CREATE
    let name = file.cName
    for _ in 0..<Limits.removedLockCount {
      let descriptor = withBallast {
        let result = shim_open_for_writing(name, Int32(how))
        guard result < 0, mayTakeSpare, SystemError(result: result).isLackOfSpace, takeSpareLock(as: file) else {
          return result
        }
        return shim_open_for_writing(name, Int32(SHIM_OPEN_EXISTING))
      }
      guard descriptor >= 0 else { throw failure(of: file, descriptor) }
      let lock = StateLock(descriptor: descriptor)
      let result = shim_lock(descriptor)
      if result == 0 { return lock }
      if -result == SHIM_EAGAIN { return nil }
      // Another process has removed it since it was opened. The next one of this name counts.
      guard -result == SHIM_ENOENT else { throw .unusable(file, SystemError(result: result)) }
    }
    return nil
  }

  /// Removes the lock file. The record must not exist, or not yet.
  package func removeLock(_ id: String) { _ = shim_unlink(file(id + ".lock").cName) }
}

/// A lock, held while this object exists. The kernel releases it when the process ends in any way.
package final class StateLock {
  let descriptor: Int32

  init(descriptor: Int32) { self.descriptor = descriptor }

  deinit {
    // Another thread's child has a copy of the descriptor until it calls execve(2).
    shim_unlock(descriptor)
    _ = shim_close(descriptor)
  }

  /// Whether other users cannot read its file, nor then the records beside it. On FAT, that depends on how it is mounted.
  var isPrivate: Bool { shim_file_status(of: descriptor).map { $0.mode & 0o077 == 0 } ?? false }
}

package enum RecordLocking {
  case locked(StateLock, UploadRecord)
  /// Another process has locked it.
  case busy
  /// There is no such record, or no longer.
  case gone
}

/// What a process leaves behind that is killed while it creates a record: `ID.lock`, `ID.new`, `ID.room` and `ID.spare` without a record. Spares that
/// nobody has taken look alike, and go, too.
extension StateDirectory {
  /// Removes what is left of records that were never written. The directory must be locked (``lockForCreation()``), so that no process is
  /// creating a record before it has locked it. Another change than those of this program has come first, so this is rare.
  func tidyLeftovers() {
    do throws(StateError) { try recoverNames() } catch { return }
    forgetSpares()
    for id in leftovers() {
      do throws(StateError) {
        guard let lock = try lock(id) else { continue }
        defer { withExtendedLifetime(lock) {} }
        let names = [id + ".record", id + ".delivered"]
        guard names.allSatisfy({ isMissing(file($0)) && isMissing(file(copyName($0))) }) else { continue }
        _ = shim_unlink(file(id + ".new").cName)
        releaseSpace(id)
        removeLock(id)
      } catch { continue }
    }
  }

  /// The IDs that seem to have no record, some at a time.
  private func leftovers() -> [String] {
    var ids: [String] = []
    // What cannot be seen now is left for the next time.
    try? visitFiles { name in
      guard let id = name.recordID(before: [".lock", ".new", ".room", ".spare"]), ids.count < Limits.leftoverCount,
        !ids.contains(id)
      else { return }
      if isMissing(file(id + ".record")), isMissing(file(id + ".delivered")) { ids.append(id) }
    }
    return ids
  }
}

extension UnsafeRawBufferPointer {
  /// The ID in the name of a file that belongs to a record; nil if it has none of these endings.
  func recordID(before endings: [String]) -> String? {
    guard count > UploadRecord.idLength else { return nil }
    let (id, ending) = (String(decoding: self[..<UploadRecord.idLength], as: UTF8.self), self[UploadRecord.idLength...])
    return endings.contains { ending.elementsEqual($0.utf8) } && UploadRecord.isID(id) ? id : nil
  }
}

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

  private func removeCopy(of name: String) {
    if (try? keepsCopies()) ?? true { _ = shim_unlink(file(copyName(name)).cName) }
  }

  /// Writes the record so that it survives a power cut.
  /// - Parameters:
  ///   - hasReservedSpace: whether space was reserved for it (``reserveSpace(for:)``), which is then released.
  ///   - wasWritten: whether the record and its copy are on the disk for certain, with their names.
  private func writeTwice(
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
        _ = shim_unlink(file(name).cName)
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

  private func copyName(_ name: String) -> String { name + "~" }
}

extension Limits {
  /// On FAT, the length of a record is a multiple of this, in bytes: with a URL and a message, most stay in the first block.
  static let recordBlockLength = 4096
  /// The space reserved for a record's last write, beyond its size when the upload starts, in bytes: a delete token with every
  /// byte escaped, and a checksum.
  static let recordReserveLength = 8 << 10
  /// Records that were never written and whose leftovers are removed at a time.
  static let leftoverCount = 64
  /// How many times in a row another process may remove a lock file before it is locked.
  static let removedLockCount = 8
}
