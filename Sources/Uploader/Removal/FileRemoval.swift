import CShims
import UploadCore

/// Removes one delivered recording from this machine, if all checks pass.
///
/// The recording is renamed before it is removed. So the removed file is certainly the open one that was checked, and a program that
/// opens the path afterwards finds nothing, or a new recording.
struct FileRemoval {
  private let file: SourceFile
  private let path: LocalPath
  private let locked: LockedRecord
  private let record: UploadRecord
  /// That of the file. It is still the same one if its path leads elsewhere by now.
  private let parent: OpenDirectory
  private let entry: RemovalEntry
  private let removal: AfterDelivery.Removal
  private let trustsSettle: Bool
  private let directory: StateDirectory
  private let mayRemove: ((LocalPath) -> Bool)?

  /// - Parameters:
  ///   - file: open since before its content was compared with what was delivered.
  ///   - locked: its delivery, synced.
  ///   - path: where it is, as people know it.
  ///   - parent: the file's directory.
  ///   - trustsSettle: see ``AfterDelivery/trustsSettle``.
  ///   - mayRemove: see ``Configuration/mayRemove``.
  init(
    _ file: SourceFile, _ locked: LockedRecord, _ removal: AfterDelivery.Removal, at path: LocalPath,
    from parent: OpenDirectory, trustsSettle: Bool, mayRemove: ((LocalPath) -> Bool)?
  ) {
    self.file = file
    self.locked = locked
    var record = locked.record
    record.file.path = path.absolute ?? path
    self.record = record
    self.path = record.file.path
    self.parent = parent
    self.removal = removal
    self.trustsSettle = trustsSettle
    directory = locked.directory
    self.mayRemove = mayRemove
    entry = RemovalEntry(
      id: record.id, path: self.path, fileSystem: FileSystem(device: file.device, id: file.fileSystemID))
  }

  /// Opens the directory of a file that is to be removed.
  /// - Parameter root: see ``OpenDirectory/init(_:below:)``.
  static func parent(of file: LocalPath, below root: LocalPath?) throws(KeptReason) -> OpenDirectory {
    do throws(SystemError) { return try OpenDirectory(file.directory, below: root) } catch {
      // Nobody has found it outside of the root.
      throw error.code == SHIM_ELOOP ? .otherFile : error.code == SHIM_EXDEV ? .gone : KeptReason(refusal: error)
    }
  }

  /// Everything that can be checked before the server is asked.
  func check() throws(KeptReason) {
    try checkFile()
    if case .move(let target) = removal { _ = try open(target) }
    try checkOtherUploads()
  }

  /// Whether a program uses the file now, so that the server need not be asked.
  func checkUnused() throws(KeptReason) {
    if try beginLease() { shim_end_lease(file.descriptor) }
  }

  /// Removes or moves the file, and its sidecar file (`FILE.upload`).
  /// - Parameter given: the path by which others know it.
  /// - Returns: where it is now; nil if it is gone.
  func run(askedAs given: LocalPath) throws(KeptReason) -> LocalPath? {
    // They may begin an upload of it now, which is found below.
    if let mayRemove, !mayRemove(given) { throw .perhapsNeeded }
    let (journal, hasLease) = try begin()
    defer { if hasLease { shim_end_lease(file.descriptor) } }
    let hidden = entry.privatePath
    let result = directory.withBallast { parent.hide(path.name, as: hidden.name) }
    // What has the private name is not the recording.
    guard -result != SHIM_EEXIST else {
      journal.end()
      throw .refused(SystemError(result: result))
    }
    do throws(KeptReason) {
      guard result == 0 else {
        throw -result == SHIM_EOPNOTSUPP ? .cannotRename : KeptReason(refusal: SystemError(result: result))
      }
      // Again: now that it has its private name, no process can begin another upload of it.
      try checkOtherUploads()
      try checkHidden(hasLease: hasLease)
      let (moved, isOnDisk) = try finish(hidden.name)
      if isOnDisk { journal.end() }
      directory.clearRemovalDue(entry.id)
      return moved
    } catch {
      switch HiddenRecording.restore(entry, of: locked, in: parent, open: file.descriptor) {
      case .failed(let cause): throw .leftBehind(hidden, cause)
      // The next start restores it.
      case .waiting: throw error
      case .restored(let other) where other != path:
        directory.warn(
          PrintableText.line(path.text) + " is now " + PrintableText.line(other.text)
            + ", because another file has taken its name.")
      case .nothing, .restored: break
      }
      if parent.sync() { journal.end() }
      throw error
    }
  }

  /// Takes the lease, if there are leases, only when the journal is on the disk: whoever opens the file waits for the lease to end.
  private func begin() throws(KeptReason) -> (RemovalJournal, hasLease: Bool) {
    try check()
    try checkUnused()
    let journal = try beginJournal()
    do throws(KeptReason) {
      let hasLease = try beginLease()
      do throws(KeptReason) { try checkFile() } catch {
        if hasLease { shim_end_lease(file.descriptor) }
        throw error
      }
      return (journal, hasLease)
    } catch {
      journal.end()
      throw error
    }
  }

  private func beginJournal() throws(KeptReason) -> RemovalJournal {
    // Another process is renaming and removing a file.
    let journal = try whenUnlocked { () throws(StateError) in try RemovalJournal.open(in: directory) }
    guard let journal else { throw .busy }
    do throws(StateError) { try journal.begin(entry) } catch { throw .state(error) }
    return journal
  }

  /// Waits for another process, which only its disk can delay.
  /// - Parameter attempt: returns nil if the other process still has the lock.
  /// - Returns: nil if it does not release it.
  private func whenUnlocked<Value>(_ attempt: () throws(StateError) -> Value?) throws(KeptReason) -> Value? {
    let until = shim_monotonic_milliseconds() + Limits.removalLockMilliseconds
    repeat {
      do throws(StateError) { if let value = try attempt() { return value } } catch { throw .state(error) }
      _ = shim_poll(nil, 0, Limits.stateLockPauseMilliseconds)
    } while shim_monotonic_milliseconds() < until
    return nil
  }

  // MARK: Checks

  private func checkFile() throws(KeptReason) {
    guard try openStatus().links <= 1 else { throw .otherNames }
    let status: shim_file_status
    do throws(SystemError) { status = try parent.examine(path.name).get() } catch { throw KeptReason(refusal: error) }
    guard status.isRegular, status.isSameFile(as: try openStatus()) else { throw .otherFile }
    let isStatusChanged: Bool
    do throws(FileError) { isStatusChanged = try file.verifyUnchanged() } catch {
      throw error.isChange ? .changed : .unreadable(error)
    }
    if isStatusChanged { throw .statusChanged }
  }

  /// Whatever its destination, an unfinished upload of the file still needs it. Without its object, the file is all there is.
  private func checkOtherUploads() throws(KeptReason) {
    let search = try whenUnlocked { () throws(StateError) in try RecordSearch.locked(directory, usesIndex: true) }
    guard let search else { throw .state(.locked(directory.path)) }
    let other: UploadRecord?
    do throws(StateError) { other = try search.unfinished(needing: record) } catch { throw .state(error) }
    if search.isCancelled { throw .interrupted }
    if let other { throw KeptReason(neededBy: other, record) }
    if directory.replacement(of: record.id) != .none { throw .replaced }
  }

  /// Opens the target directory. It must exist, because an empty mount point is no place for recordings.
  private func open(_ target: LocalPath) throws(KeptReason) -> OpenDirectory {
    let directory: OpenDirectory
    do throws(SystemError) { directory = try OpenDirectory(target) } catch { throw .unusableDirectory(target, error) }
    // Of directories, because files on overlayfs have another device. A mount of the same file system has the same one. The kernel compares
    // the mounts before it refuses the names.
    guard directory.device == parent.device, -parent.rename(".", to: directory, ".") != SHIM_EXDEV else {
      throw .otherFileSystem(target)
    }
    return directory
  }

  private func beginLease() throws(KeptReason) -> Bool {
    let result = shim_begin_lease(file.descriptor)
    if result == 0 { return true }
    if -result == SHIM_EAGAIN { throw .open }
    guard trustsSettle else { throw .writersUnknown(SystemError(result: result)) }
    return false
  }

  /// Renaming has changed the status time, but nothing else may have changed.
  private func checkHidden(hasLease: Bool) throws(KeptReason) {
    let status = try openStatus()
    guard let named = parent.status(of: entry.privatePath.name), named.isSameFile(as: status) else {
      throw .otherFile
    }
    guard status.links <= 1 else { throw .otherNames }
    do throws(FileError) { _ = try file.verifyUnchanged() } catch {
      throw error.isChange ? .changed : .unreadable(error)
    }
    // Last: a program that found the file by its path before it was renamed, and opens it now, breaks the lease.
    if hasLease, shim_holds_lease(file.descriptor) == 0 { throw .open }
  }

  private func openStatus() throws(KeptReason) -> shim_file_status {
    do throws(SystemError) { return try .of(file.descriptor) } catch { throw .noStatus(error) }
  }

  // MARK: The end

  /// - Returns: where it is now, nil if it is gone; and whether that survives a power cut.
  private func finish(_ hidden: LocalPath) throws(KeptReason) -> (LocalPath?, isOnDisk: Bool) {
    var moved: LocalPath?
    var isOnDisk = true
    switch removal {
    case .delete:
      let result = parent.unlink(hidden)
      guard result == 0 else { throw KeptReason(refusal: SystemError(result: result)) }
      finishSidecar(nil)
    case .move(let target):
      let place = try open(target)
      let number: Int
      do throws(SystemError) {
        number = try HiddenRecording.number(free: path.name, in: place) { number in
          directory.withBallast { parent.rename(hidden, to: place, path.name.numbered(number)) }
        }
      } catch { throw error.code == SHIM_EEXIST ? .noFreeName(target) : KeptReason(refusal: error) }
      // See `OpenDirectory.sync(_:)`. Opening it would break the lease.
      isOnDisk = shim_sync(file.descriptor) == 0
      let name = path.name.numbered(number)
      finishSidecar((place, name.sidecar))
      isOnDisk = place.sync() && isOnDisk
      moved = target.appendingName(name.bytes)
    }
    return (moved, parent.sync() && isOnDisk)
  }

  /// The sidecar file that described the recording goes with it, unless a new recording already has its name. Another one, or one that was
  /// changed since it was read, may be for the next recording.
  private func finishSidecar(_ target: (directory: OpenDirectory, name: LocalPath)?) {
    let name = path.name.sidecar
    guard let status = parent.status(of: name), status.isRegular, parent.status(of: path.name) == nil else { return }
    guard record.file.sidecar?.isSame(as: FileSighting(status)) ?? false else {
      return directory.warn(
        PrintableText.line(path.sidecar.text) + " stays: it is not the file that described the recording when it was"
          + " sent. Remove it, unless it is for the next recording of that name.")
    }
    let result = target.map { parent.rename(name, to: $0.directory, $0.name) } ?? parent.unlink(name)
    if result == 0 {
      if let target { target.directory.sync(target.name) }
    } else {
      directory.warn(
        PrintableText.line(path.sidecar.text) + " could not be removed along with its recording: "
          + SystemError(result: result).text + ".")
    }
  }
}

extension KeptReason {
  fileprivate init(refusal error: SystemError) {
    self =
      error.code == SHIM_ENOENT
      ? .gone : error.isLackOfSpace || error.code == SHIM_EROFS ? .refusedNow(error) : .refused(error)
  }
}

/// A recording under its private name, during its removal.
enum HiddenRecording {
  enum Restoration: Equatable {
    /// There is no such file: it was never renamed, or is gone for good.
    case nothing
    /// It has this name now: its own, or one with a number if there is another file of that name.
    case restored(LocalPath)
    /// Its drive is not mounted.
    case waiting
    case failed(SystemError)
  }

  /// Gives a recording its name back, without replacing another file.
  /// - Parameters:
  ///   - delivery: that of the recording; nil if its record cannot be locked. It has the new name before the recording has.
  ///   - directory: that of the recording, which must be synced afterwards; nil if it cannot be opened.
  ///   - descriptor: of the recording, if it is open, perhaps with a lease; -1 if not.
  static func restore(
    _ entry: RemovalEntry, of delivery: LockedRecord?, in directory: OpenDirectory?, open descriptor: Int32 = -1
  ) -> Restoration {
    let hidden = entry.privatePath.name
    guard let directory, let status = directory.status(of: hidden) else { return absence(entry) }
    // It can have both names for a moment, where a file system cannot rename without replacing.
    if let other = directory.status(of: entry.path.name), other.isSameFile(as: status) {
      let result = directory.unlink(hidden)
      return result == 0 ? .restored(entry.path) : .failed(SystemError(result: result))
    }
    do throws(SystemError) {
      let number = try number(free: entry.path.name, in: directory) {
        delivery?.follow(to: entry.path.numbered($0))
        return directory.rename(hidden, to: directory, entry.path.name.numbered($0))
      }
      let restored = entry.path.numbered(number)
      if descriptor < 0 { directory.sync(restored.name) } else { _ = shim_sync(descriptor) }
      return .restored(restored)
    } catch { return .failed(error) }
  }

  /// There is no file of the private name, or it cannot be examined.
  private static func absence(_ entry: RemovalEntry) -> Restoration {
    switch entry.privatePath.presence(on: entry.fileSystem) {
    case .gone: .nothing
    case .waitingForMedium, .present: .waiting
    case .unknown(let error): .failed(error)
    }
  }

  /// Renames a file to the first name that is free: its own, or one with a number.
  /// - Parameter renaming: makes the call with that number.
  /// - Returns: the number; 0 for none.
  /// - Throws: `EEXIST` if there is none.
  static func number(
    free name: LocalPath, in target: OpenDirectory, renaming: (Int) -> Int32
  ) throws(SystemError) -> Int {
    for number in 0...Limits.numberedNameCount where target.status(of: name.numbered(number)) == nil {
      let result = renaming(number)
      if result == 0 { return number }
      // With a number it is longer.
      if number > 0, -result == SHIM_ENAMETOOLONG { break }
      if -result != SHIM_EEXIST { throw SystemError(result: result) }
    }
    throw SystemError(code: SHIM_EEXIST)
  }
}

extension LockedRecord {
  /// The recording gets another name. Its deliveries to all destinations follow, or it would be sent again where inodes are not stable.
  ///
  /// This record comes last, so that the next start finds the others if this process is killed.
  fileprivate func follow(to path: LocalPath) {
    guard record.phase == .delivered, record.file.path != path else { return }
    for delivery in ((try? otherDeliveries()) ?? []) + [self] {
      do throws(UploadError) { try delivery.update { $0.file.path = path } } catch {
        directory.warn(PrintableText.line(path.text) + " may be sent again: " + error.problem)
      }
      if delivery !== self { directory.removeLock(delivery.record.id) }
    }
  }

  /// Those of the same recording that no other process has locked.
  private func otherDeliveries() throws(StateError) -> [LockedRecord] {
    var ids: [String] = []
    try directory.visit(.delivered) { other, _ in
      let isOther = other.id != record.id && other.file.path == record.file.path
      if isOther, record.file.identity.change(since: other.file.identity) == nil { ids.append(other.id) }
    }
    return ids.compactMap { try? LockedRecord.reopen($0, in: directory) }
  }
}

/// Removing recordings from this machine that were delivered earlier.
extension Uploader {
  /// Removes the file of a delivered recording from this machine, if it is certainly the file that was delivered, the server still has
  /// it, and nobody uses it.
  /// - Parameters:
  ///   - delivery: its record.
  ///   - name: where it is, as people know it.
  ///   - path: the same, by which it is opened.
  ///   - root: the directory in which it was found, below which no link is followed; nil if it was named.
  ///   - given: the path by which others know it.
  ///   - after: its `trustsServer` and `trustsSettle` apply.
  ///   - isForGigHive: whether it was delivered to a GigHive.
  ///   - isDryRun: checks everything, and removes nothing.
  /// - Returns: where the file is now; nil if it is gone, or would be.
  package func removeFile(
    of delivery: LockedRecord, _ removal: AfterDelivery.Removal, _ after: AfterDelivery, isForGigHive: Bool,
    isDryRun: Bool, named name: LocalPath, at path: LocalPath, below root: LocalPath?, askedAs given: LocalPath,
    cancellation: Cancellation
  ) throws(KeptReason) -> LocalPath? {
    let record = delivery.record
    do throws(StateError) { try delivery.directory.syncDelivery(record.id) } catch { throw .state(error) }
    let parent = try FileRemoval.parent(of: path, below: root)
    let file: SourceFile
    // Not through a link: only the recording itself may be removed.
    do throws(FileError) {
      file = try SourceFile.open(path, limit: Limits.fileSize, in: parent)
    } catch { throw error == .missing ? .gone : .unreadable(error) }
    let removal = FileRemoval(
      file, delivery, removal, at: name, from: parent, trustsSettle: after.trustsSettle,
      mayRemove: shared.configuration.mayRemove)
    try removal.check()
    try removal.checkUnused()
    let stored = try after.requirement(for: record, isForGigHive: isForGigHive)
    try proveContent(of: file, record, cancellation)
    if let stored { try examine(stored, after, cancellation) }
    return isDryRun ? nil : try removal.run(askedAs: given)
  }

  private func examine(
    _ stored: StoredRecording, _ after: AfterDelivery, _ cancellation: Cancellation
  ) throws(KeptReason) {
    let absence: Absence?
    do throws(CancelDeleteError) { absence = try examine(stored, cancellation: cancellation) } catch {
      throw cancellation.isCancelled ? .interrupted : .unanswered(error.error)
    }
    if let reason = after.keptReason(for: absence) { throw reason }
  }

  /// Proves that the file has the content that was delivered: by its status time, or else by its SHA-256.
  private func proveContent(
    of file: SourceFile, _ record: UploadRecord, _ cancellation: Cancellation
  ) throws(KeptReason) {
    if record.delivery?.statusTime == nil, record.delivery?.sha256 == nil { throw .unprovable }
    let space = slots.spare.buffers
    space.clear()
    let kind = shared.fileSystems.kind(of: file)
    var isOther = false
    do throws(UploadError) {
      let identity = try file.identity(using: space.ring.writableRun, on: kind)
      isOther =
        identity.hasStableInode && record.file.identity.hasStableInode && identity.inode != record.file.identity.inode
      guard identity.change(since: record.file.identity) == nil else { throw .file(file.path, .rewritten) }
      let isUntouched = record.delivery?.statusTime.map { $0 == file.statusTimeAtOpen } ?? false
      if isUntouched, identity.isSameFile(as: record.file.identity) { return }
      // A tag editor can restore the modification time. Without a known SHA-256, nothing proves that it did not.
      guard let sha256 = record.delivery?.sha256 else { throw .file(file.path, .rewritten) }
      let digest = try Digest(.sha256)
      var offset: Int64 = 0
      while offset < file.size {
        if cancellation.isCancelled { throw .cancelled(hasSentAll: false) }
        let run = UnsafeMutableRawBufferPointer(rebasing: space.ring.writableRun.prefix(space.runLength))
        let count: Int
        do throws(FileError) { count = try file.read(into: run, at: offset) } catch { throw .file(file.path, error) }
        digest.update(UnsafeRawBufferPointer(rebasing: run[..<count]))
        offset += Int64(count)
      }
      guard try digest.finishInHex() == sha256 else { throw .file(file.path, .rewritten) }
    } catch {
      let reason = KeptReason(reading: error)
      // What was delivered may have another name now, and is found under that.
      throw reason == .changed && isOther ? .otherFile : reason
    }
  }
}

extension KeptReason {
  fileprivate init(reading error: UploadError) {
    if case .file(_, let error) = error {
      self = error.isChange ? .changed : .unreadable(error)
    } else if case .cancelled = error {
      self = .interrupted
    } else {
      self = .notComparable(error)
    }
  }
}

extension Limits {
  /// How long a removal waits for that of another process, in milliseconds: a few syncs of a slow card.
  static let removalLockMilliseconds: Int64 = 500
  /// Numbers that are tried for the name of a recording if there is another file of that name.
  static let numberedNameCount = 999
}
