import CShims
import UploadCore

/// The record for an upload: that of an earlier attempt, or a new one.
extension LockedRecord {
  /// Finds or creates the record of an upload of this file to this endpoint, and locks it.
  /// - Parameters:
  ///   - identity: the current identity of the file.
  ///   - event: the event that is a part of the destination.
  ///   - isAgain: whether it is sent even if it has been delivered.
  ///   - requiredID: the ID of a required record; nil for any.
  ///   - uploadedAs: the media type and file name for the server.
  /// - Returns: nil if another process has locked the directory or its index for the moment.
  /// - Throws: `.conflict` if another process has locked the record, `.changed` if the required upload started with other content,
  ///   `.delivered` if the recording, or the required upload, has been delivered.
  static func open(
    for file: SourceFile, _ identity: FileIdentity, endpoint: String, event: String, note: String, requiredID: String?,
    uploadedAs: String, isAgain: Bool, in directory: StateDirectory
  ) throws(UploadError) -> LockedRecord? {
    var own = UploadRecord(
      id: try freeID(in: directory), path: (file.path.absolute ?? file.path).bytes, identity: identity,
      endpoint: endpoint, event: event)
    own.uploadedAs = uploadedAs
    own.note = note
    let creation: StateLock
    var index: OpenIndex?
    let candidate: String?
    var delivered: UploadRecord?
    do throws(StateError) {
      // Held until this function ends, so that another process that looks for the same upload finds it locked.
      guard let lock = try directory.lockForCreation() else { return nil }
      creation = lock
      switch directory.openIndex(isForSearch: requiredID == nil) {
      case .busy: return nil
      case .open(let open): index = open
      case .none: break
      }
      let previous =
        requiredID == nil ? try LockedRecord.previous(of: own, index, isAgain: isAgain, in: directory) : nil
      if let previous, previous.phase == .delivered { delivered = previous }
      candidate = requiredID ?? previous?.id
    } catch { throw .state(error) }
    if let delivered { throw .delivered(PreviousDelivery(delivered)) }
    defer { withExtendedLifetime(creation) {} }
    own.fileSystemID = file.fileSystemID
    guard let candidate else { return try begin(own, &index, in: directory) }
    var superseded: String?
    let lock = try LockedRecord.lock(candidate, in: directory)
    // It may have been delivered before the lock was acquired, and the file may have changed since that delivery.
    let current: UploadRecord?
    do throws(StateError) { current = try directory.current(candidate) } catch { throw .state(error) }
    guard var previous = current, previous.phase != .delivered else {
      directory.tidy(delivered: candidate)
      if current == nil { directory.removeLock(candidate) }
      if let current, requiredID != nil || !isAgain && own.match(with: current) != nil {
        throw .delivered(PreviousDelivery(current))
      }
      if requiredID != nil { throw .state(.noSuchRecord(candidate)) }
      return try begin(own, &index, in: directory)
    }
    // One that failed needs a change first, which can be one of the file, unless the server has a part of it that is still used.
    let wasBegun = previous.uploadURL != nil || previous.phase == .pending
    if previous.mayBeStored {
      // Only a person can find out whether it is stored. A changed file is another recording, which may have an upload of its own.
      guard requiredID != nil else { throw .uncertain(upload: previous.id) }
      if let change = identity.change(since: previous.identity) {
        throw .changed(file.path, change, upload: previous.id)
      }
      previous.forgetUpload()
    }
    // A server that was given another name or type would keep it. If it may have everything, that is what counts.
    if previous.uploadURL != nil, previous.uploadedAs != uploadedAs, !previous.lastByteMayBeSent {
      previous.forgetUpload()
    }
    if wasBegun, let change = identity.change(since: previous.identity) {
      let changed = UploadError.changed(file.path, change, upload: previous.id)
      guard requiredID == nil else { throw changed }
      superseded = supersede(&previous, identity, changed, in: directory)
    }
    let kept = LockedRecord(previous, in: directory, lock: lock)
    kept.superseded = superseded
    let renewed = previous.renewed(by: own)
    if renewed.indexKeys != previous.indexKeys {
      if let index { index.update(renewed, previous: previous) } else { directory.noteUnindexed() }
    }
    // Nothing is synced while the index is locked.
    index = nil
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
    var superseded = previous.uploadURL
    var warning = changed.problem + " It is sent again from the start."
    if superseded != nil {
      if previous.mayBeWhole {
        superseded = nil
        warning += " The server may have the whole old upload, and keeps it until it expires."
      } else if identity.size < previous.identity.size {
        superseded = nil
        warning += " The file is smaller now, so the server keeps the old partial upload until it expires."
      } else {
        warning += " The old partial upload is deleted on the server, if the server allows it."
      }
    }
    directory.warn(warning)
    previous.forgetUpload()
    return superseded
  }

  /// The record of an upload that ``open(for:_:endpoint:event:note:requiredID:uploadedAs:isAgain:in:)`` would resume. Nothing is
  /// changed but the index, if it has to be rebuilt.
  /// - Throws: `.delivered` and `.uncertain` as that function does.
  static func find(
    for file: SourceFile, _ identity: FileIdentity, endpoint: String, event: String, isAgain: Bool,
    in directory: StateDirectory
  ) throws(UploadError) -> UploadRecord? {
    let own = UploadRecord(
      id: try newID(), path: (file.path.absolute ?? file.path).bytes, identity: identity, endpoint: endpoint,
      event: event)
    let found: UploadRecord?
    do throws(StateError) {
      let creation = try directory.lockForCreation()
      defer { withExtendedLifetime(creation) {} }
      var index: OpenIndex?
      if creation != nil, case .open(let open) = directory.openIndex(isForSearch: true) { index = open }
      found = try previous(of: own, index, isAgain: isAgain, in: directory)
    } catch { throw .state(error) }
    guard let found else { return nil }
    if found.phase == .delivered { throw .delivered(PreviousDelivery(found)) }
    if found.mayBeStored { throw .uncertain(upload: found.id) }
    return found
  }

  private static func begin(
    _ record: UploadRecord, _ index: inout OpenIndex?, in directory: StateDirectory
  ) throws(UploadError) -> LockedRecord {
    // Before the record exists, because a record that is not in the index could not be found.
    if let open = index { open.update(record, previous: nil) } else { directory.noteUnindexed() }
    index = nil
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

  private final class BestMatch {
    let own: UploadRecord
    private let isAgain: Bool
    private(set) var record: UploadRecord?

    init(_ own: UploadRecord, isAgain: Bool) {
      self.own = own
      self.isAgain = isAgain
    }

    func consider(_ previous: UploadRecord) {
      if isAgain, previous.phase == .delivered { return }
      // That the server may have an earlier recording of this name says nothing about this one.
      if previous.mayBeStored, own.identity.change(since: previous.identity) != nil { return }
      guard let match = own.match(with: previous) else { return }
      if match == .moved, !SourceFile.isMissing(LocalPath(bytes: previous.path)) { return }
      if record.map({ previous.rank >= $0.rank }) ?? true { record = previous }
    }
  }

  /// The record of the same upload, or of an earlier delivery, by path, file or content.
  /// - Parameter isAgain: leaves out deliveries.
  private static func previous(
    of own: UploadRecord, _ index: OpenIndex?, isAgain: Bool, in directory: StateDirectory
  ) throws(StateError) -> UploadRecord? {
    let match = BestMatch(own, isAgain: isAgain)
    for key in own.searchKeys {
      guard let ids = index?.ids([key]) else {
        try directory.visit(.all) { record, _ in
          // After a power cut, the record before a delivery can still be there; only the delivery counts.
          let isCurrent = record.phase == .delivered
          match.consider(isCurrent ? record : (try? directory.current(record.id)) ?? record)
        }
        return match.record
      }
      var stale: [String] = []
      for id in ids {
        do throws(StateError) {
          let record = try directory.current(id)
          if let record { match.consider(record) }
          if !(record?.indexKeys.contains(key) ?? false) {
            stale.append(id)
            if record?.phase == .delivered { try tidy(id, in: directory) }
          }
        } catch {
          directory.warnOfUnreadable(RecordName(number: RecordName.number(ofID: id), isDelivered: false), error)
        }
      }
      if !stale.isEmpty { index?.drop(key, ids: stale) }
    }
    return match.record
  }

  /// Removes leftovers of a delivery that a power cut interrupted.
  private static func tidy(_ id: String, in directory: StateDirectory) throws(StateError) {
    guard let lock = try directory.lock(id) else { return }
    directory.tidy(delivered: id)
    withExtendedLifetime(lock) {}
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
