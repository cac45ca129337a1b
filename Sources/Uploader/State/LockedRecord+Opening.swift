import CShims
import UploadCore

/// The record for an upload: that of an earlier attempt, or a new one.
extension LockedRecord {
  /// Finds or creates the record of an upload, and locks it.
  /// - Parameters:
  ///   - identity: the current identity of the file.
  ///   - request: which record is wanted: the one it names, or that of the same file and destination.
  /// - Returns: nil if another process has locked the directory or its index for the moment, or after a cancellation.
  /// - Throws: `.conflict` if another process has locked the record, `.changed` if the named upload started with other content,
  ///   `.delivered` if the recording, or the named upload, has been delivered, `.uncertain` if it may be stored.
  static func open(
    for file: SourceFile, _ identity: FileIdentity, of request: UploadRequest, in directory: StateDirectory
  ) throws(UploadError) -> LockedRecord? {
    let own = UploadRecord(id: try freeID(in: directory), of: request, for: file, identity)
    let search: RecordSearch
    let found: UploadRecord?
    do throws(StateError) {
      guard let locked = try RecordSearch.locked(directory, usesIndex: request.upload == nil) else { return nil }
      search = locked
      found = request.upload == nil ? try search.previous(of: own, changed: file.statusTimeAtOpen, request) : nil
    } catch { throw .state(error) }
    defer { withExtendedLifetime(search) {} }
    if search.isCancelled { return nil }
    if let found, found.phase == .delivered {
      throw .delivered(PreviousDelivery(found, of: own, changed: file.statusTimeAtOpen))
    }
    for former in search.formers { _ = try lock(former, in: directory) }
    guard let id = request.upload ?? found?.id else { return try begin(own, search) }
    let lock = try lock(id, in: directory)
    guard let previous = try unfinished(id, own, changed: file.statusTimeAtOpen, request, in: directory) else {
      return try begin(own, search)
    }
    return try resume(previous, lock, own, changed: file.statusTimeAtOpen, request, search)
  }

  /// Reads the record that was locked: it may have been delivered before that, and the file may have changed since that delivery.
  /// - Returns: nil if the upload begins with a new record.
  private static func unfinished(
    _ id: String, _ own: UploadRecord, changed: StatusTime, _ request: UploadRequest, in directory: StateDirectory
  ) throws(UploadError) -> UploadRecord? {
    let current: UploadRecord?
    do throws(StateError) { current = try directory.current(id) } catch { throw .state(error) }
    if let current, current.phase != .delivered { return current }
    directory.tidy(delivered: id)
    if current == nil { directory.removeLock(id) }
    if request.upload != nil { throw current.map { .delivered(PreviousDelivery($0)) } ?? .state(.noSuchRecord(id)) }
    if let current, request.respects(current), own.match(with: current) != nil {
      throw .delivered(PreviousDelivery(current, of: own, changed: changed))
    }
    return nil
  }

  private static func resume(
    _ previous: UploadRecord, _ lock: StateLock, _ own: UploadRecord, changed statusTime: StatusTime,
    _ request: UploadRequest, _ search: RecordSearch
  ) throws(UploadError) -> LockedRecord {
    var previous = previous
    // One that failed needs a change first, which can be one of the file, unless the server has a part of it that is still used.
    let wasBegun = previous.remote != nil || previous.phase == .pending
    let change = own.file.identity.change(since: previous.file.identity)
    let changed = change.map { UploadError.changed(request.file, $0, upload: previous.id) }
    if previous.mayBeStored {
      // Only a person can find out whether it is stored. A changed file is another recording, which may have an upload of its own.
      guard request.upload != nil, request.isChosen else { throw .uncertain(upload: previous.id) }
      if let changed { throw changed }
      previous.unfinished?.forget()
    }
    // A server that was given another name or type would keep it. If it may have everything, that is what counts.
    let isRenamed = previous.destination.uploadedAs != request.uploadedAs
    if previous.remote != nil, isRenamed, !previous.lastByteMayBeSent {
      previous.unfinished?.forget()
    }
    var superseded = previous.unfinished?.formerURL
    if wasBegun, let changed {
      guard request.upload == nil else { throw changed }
      superseded = supersede(&previous, own.file.identity, changed, in: search.directory) ?? superseded
    }
    let kept = LockedRecord(previous, in: search.directory, lock: lock)
    kept.superseded = superseded
    let renewed = previous.renewed(by: own, changed: statusTime)
    search.endIndexing(with: renewed, previous: previous)
    try kept.update { $0 = renewed }
    do throws(UploadError) { try kept.reserveSpace() } catch {
      // A power cut can leave a name that cannot be opened (F2FS). The record itself has just been written.
      guard case .state(.unusable(_, let cause)) = error, cause.code == SHIM_EIO else { throw error }
    }
    return kept
  }

  /// The file of an unfinished upload has changed, and is sent again from the start.
  /// - Returns: the URL of the old upload if it is to be deleted on the server.
  private static func supersede(
    _ previous: inout UploadRecord, _ identity: FileIdentity, _ changed: UploadError, in directory: StateDirectory
  ) -> String? {
    var superseded = previous.remote?.url
    var warning = changed.problem + " It is sent again from the start."
    if superseded != nil {
      if previous.unfinished?.mayBeWhole ?? false {
        superseded = nil
        warning += " The server may have the whole old upload, and keeps it until it expires."
      } else if identity.size < previous.file.identity.size {
        superseded = nil
        warning += " The file is smaller now, so the server keeps the old partial upload until it expires."
      } else {
        warning += " The old partial upload is deleted on the server, if the server allows it."
      }
    }
    directory.warn(warning)
    previous.unfinished?.forget()
    return superseded
  }

  private static func begin(_ record: UploadRecord, _ search: RecordSearch) throws(UploadError) -> LockedRecord {
    let directory = search.directory
    search.endIndexing(with: record, previous: nil)
    do throws(UploadError) {
      let kept = LockedRecord(record, in: directory, lock: try lock(record.id, in: directory))
      try kept.update { $0.createdAt = shim_unix_seconds() }
      do throws(UploadError) { try kept.reserveSpace() } catch {
        try? kept.remove()
        throw error
      }
      return kept
    } catch {
      // The ID is new, so no other process uses it.
      directory.removeLock(record.id)
      throw error
    }
  }

  private static func lock(_ id: String, in directory: StateDirectory) throws(UploadError) -> StateLock {
    let lock: StateLock?
    do throws(StateError) { lock = try directory.lock(id) } catch { throw .state(error) }
    guard let lock else { throw .conflict(upload: id) }
    return lock
  }

  private static func newID() throws(UploadError) -> String { ASCII.hex(try RandomBytes.bytes(4)) }

  /// An ID without a record. With 20,000 records, random IDs would collide in about one directory of twenty.
  /// - Parameter draw: draws an ID.
  static func freeID(
    in directory: StateDirectory, draw: () throws(UploadError) -> String = newID
  ) throws(UploadError) -> String {
    while true {
      let id = try draw()
      if !directory.exists(id + ".record"), !directory.exists(id + ".delivered") { return id }
    }
  }
}
