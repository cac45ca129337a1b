import CShims
import UploadCore

/// The record of an upload that this process is working on, and its lock.
package final class LockedRecord {
  package private(set) var record: UploadRecord
  let directory: StateDirectory
  private let lock: StateLock
  /// The URL of the upload of the file's previous content, which this upload replaces; nil if there is none. Also nil if the server may have
  /// all of it, or if the file is smaller now, and may be damaged: the server then keeps what it has.
  var superseded: String?
  /// Whether this process has synced the record in its current state.
  private var isSynced = false
  /// Whether this process has written it.
  private var hasWritten = false
  /// Whether space is reserved for its last write.
  private var hasReservedSpace = false

  package init(_ record: UploadRecord, in directory: StateDirectory, lock: StateLock) {
    self.record = record
    self.directory = directory
    self.lock = lock
  }

  deinit {
    if hasReservedSpace { directory.releaseSpace(record.id) }
    directory.markIndex()
  }

  /// Whether other users cannot read it.
  var isPrivate: Bool { lock.isPrivate }

  /// Locks the record of an earlier upload.
  /// - Returns: nil if another process has locked it.
  package static func reopen(_ id: String, in directory: StateDirectory) throws(StateError) -> LockedRecord? {
    switch try directory.lockRecord(id) {
    case .locked(let lock, let record): return LockedRecord(record, in: directory, lock: lock)
    case .busy: return nil
    case .gone: throw .noSuchRecord(id)
    }
  }

  /// Changes the record and saves it.
  package func update(_ change: (inout UploadRecord) -> Void) throws(UploadError) {
    let previous = record
    change(&record)
    // A record that this process has synced is safe. One that it has only read may not survive a power cut.
    if isSynced, record == previous { return }
    isSynced = false
    record.updatedAt = shim_unix_seconds()
    try write()
    // What identifies its file changes only once it is delivered.
    guard record.phase == .delivered else { return }
    if case .open(let index) = directory.openIndex(isForSearch: false) {
      index.update(record, previous: previous)
    } else {
      directory.indexState.stamp = nil
    }
  }

  /// The same for what is known of an upload. Nothing changes once it is delivered.
  package func updateUpload(_ change: (inout UnfinishedUpload) -> Void) throws(UploadError) {
    try update {
      guard case .unfinished(var upload) = $0.state else { return }
      change(&upload)
      $0.state = .unfinished(upload)
    }
  }

  private func write() throws(UploadError) {
    let isLast = record.phase == .delivered
    let wasWritten = hasWritten
    hasWritten = false
    do throws(StateError) {
      try directory.write(record, intoReservedSpace: hasReservedSpace && isLast, wasWritten: wasWritten)
    } catch { throw .state(error) }
    hasWritten = true
    if isLast { hasReservedSpace = false }
    isSynced = true
  }

  /// Removes the record.
  package func remove() throws(UploadError) {
    do throws(StateError) { try directory.remove(record.id) } catch { throw .state(error) }
  }

  /// Reserves space for the record's last write, until this object is freed or ``releaseSpace()`` is called.
  func reserveSpace() throws(UploadError) {
    do throws(StateError) { try directory.reserveSpace(for: record) } catch { throw .state(error) }
    hasReservedSpace = true
  }

  /// Releases the reserved space, because the attempt ends but not the upload.
  func releaseSpace() {
    if hasReservedSpace { directory.releaseSpace(record.id) }
    hasReservedSpace = false
  }
}
