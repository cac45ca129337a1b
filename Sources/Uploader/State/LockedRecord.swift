import CShims
import UploadCore

/// The record of an upload that this process is working on, and its lock.
package final class LockedRecord {
  package private(set) var record: UploadRecord
  let directory: StateDirectory
  private let lock: StateLock
  /// The URL of the upload of the file's previous content, which this upload replaces; nil if there is none. Also nil if the file is smaller
  /// now: it may be damaged, and the server keeps its part.
  private(set) var superseded: String?
  /// Whether this process has synced the record in its current state.
  private var isSafe = false
  /// Whether this process has written it.
  private var hasWritten = false
  /// Whether space is reserved for its last write.
  private var hasReservedSpace = false

  private init(_ record: UploadRecord, in directory: StateDirectory, lock: StateLock) {
    self.record = record
    self.directory = directory
    self.lock = lock
  }

  deinit {
    if hasReservedSpace { directory.releaseSpace(record.id) }
    directory.settle()
  }

  /// Locks the record of an earlier upload.
  /// - Returns: nil if another process has locked it.
  package static func take(_ id: String, in directory: StateDirectory) throws(StateError) -> LockedRecord? {
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
    if isSafe, record == previous { return }
    isSafe = false
    record.updatedAt = shim_unix_seconds()
    try write()
    guard record.phase != previous.phase else { return }
    if case .open(let index) = directory.openIndex(isForSearch: false) {
      index.note(record, previous: previous)
    } else {
      directory.indexState.stamp = nil
    }
  }

  private func write() throws(UploadError) {
    let isLast = record.phase == .delivered
    do throws(StateError) {
      try directory.write(record, intoReservedSpace: hasReservedSpace && isLast, isNameSafe: hasWritten)
    } catch { throw .state(error) }
    hasWritten = true
    if isLast { hasReservedSpace = false }
    isSafe = true
  }

  /// Removes the record.
  package func remove() throws(UploadError) {
    do throws(StateError) { try directory.remove(record.id) } catch { throw .state(error) }
  }

  /// The recording was delivered.
  /// - Parameter statusTime: proves later that the file still has this content; nil if nothing does.
  /// - Parameter isAgain: whether it may have been delivered before.
  func noteDelivery(
    _ receipt: Receipt, _ sent: SentFile, _ statusTime: StatusTime?, isAgain: Bool
  ) throws(UploadError) {
    let inherited = receipt.deleteToken == nil ? sameRecording(receipt.assetID) : nil
    try update {
      $0.phase = .delivered
      $0.statusTime = statusTime
      $0.deliveredAt = shim_unix_seconds()
      $0.offset = sent.size
      $0.message = nil
      $0.fullSends = nil
      $0.nextRetry = nil
      $0.assetID = receipt.assetID ?? $0.assetID
      $0.sha256 = sent.sha256
      $0.deleteToken = receipt.deleteToken ?? inherited?.record.deleteToken
    }
    // Deliveries to other events are remembered.
    if let inherited, inherited.record.event == record.event { try inherited.remove() }
    if isAgain { removeEarlierDeliveries() }
    directory.tidy(delivered: record.id)
  }

  /// Removes the records of earlier deliveries of the same file, but those that can delete another recording.
  private func removeEarlierDeliveries() {
    let own = record
    func isEarlier(_ other: UploadRecord) -> Bool {
      other.id != own.id && other.phase == .delivered && other.deleteToken == nil && own.match(with: other) == .same
    }
    for id in candidates(.file(own), isEarlier) {
      guard let previous = try? directory.current(id), isEarlier(previous) else { continue }
      if let earlier = try? LockedRecord.take(id, in: directory) { try? earlier.remove() }
    }
  }

  /// The earlier record of the same recording. GigHive issues a delete token only once, with the first delivery. When a recording
  /// is sent again, the token is copied from its earlier record, which is then removed.
  private func sameRecording(_ assetID: Int64?) -> LockedRecord? {
    guard let assetID else { return nil }
    let endpoint = record.endpoint
    func isSame(_ other: UploadRecord) -> Bool {
      other.phase == .delivered && other.endpoint == endpoint && other.assetID == assetID && other.deleteToken != nil
    }
    for id in candidates(.asset(assetID, endpoint: endpoint), isSame) {
      guard let previous = try? directory.current(id), isSame(previous) else { continue }
      return try? LockedRecord.take(id, in: directory)
    }
    return nil
  }

  /// The IDs of delivered records that may have the key; without an index, of those that match.
  private func candidates(_ key: IndexKey, _ isMatch: @escaping (UploadRecord) -> Bool) -> [String] {
    if let index = searchableIndex(), let ids = index.ids([key]) { return ids }
    let found = Found()
    try? directory.visit(.all) { record, _ in
      if isMatch(record) { found.ids.append(record.id) }
    }
    return found.ids
  }

  /// - Returns: nil if there is no reliable index now.
  private func searchableIndex() -> OpenIndex? {
    let isVerified = directory.indexState.verified != nil
    // An index that this process has not verified may have to be rebuilt.
    var creation: StateLock?
    if !isVerified {
      creation = try? directory.lockForCreation()
      if creation == nil { return nil }
    }
    defer { withExtendedLifetime(creation) {} }
    if case .open(let index) = directory.openIndex(isForSearch: !isVerified) { return index }
    return nil
  }

  private final class Found { var ids: [String] = [] }

  /// Reserves space for the record's last write, until this object is freed or ``releaseSpace()`` is called.
  private func reserveSpace() throws(UploadError) {
    do throws(StateError) { try directory.reserveSpace(for: record) } catch { throw .state(error) }
    hasReservedSpace = true
  }

  /// Releases the reserved space, because the attempt ends but not the upload.
  func releaseSpace() {
    if hasReservedSpace { directory.releaseSpace(record.id) }
    hasReservedSpace = false
  }

  // MARK: Opening

  /// Finds or creates the record of an upload of this file to this endpoint, and locks it.
  /// - Parameters:
  ///   - identity: the current identity of the file.
  ///   - event: the event that is a part of the destination.
  ///   - isAgain: whether it is sent even if it has been delivered.
  ///   - upload: the ID of a required record; nil for any.
  ///   - uploadedAs: the media type and file name for the server.
  /// - Returns: nil if another process has locked the directory or its index for the moment.
  /// - Throws: `.conflict` if another process has locked the record, `.changed` if the required upload started with other content,
  ///   `.delivered` if the recording, or the required upload, has been delivered.
  static func open(
    for file: SourceFile, _ identity: FileIdentity, endpoint: String, event: String, note: String, upload: String?,
    uploadedAs: String, isAgain: Bool, in directory: StateDirectory
  ) throws(UploadError) -> LockedRecord? {
    var own = UploadRecord(
      id: try newID(), path: (file.path.absolute ?? file.path).bytes, identity: identity, endpoint: endpoint,
      event: event)
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
      switch directory.openIndex(isForSearch: upload == nil) {
      case .busy: return nil
      case .open(let open): index = open
      case .none: break
      }
      let previous = upload == nil ? try LockedRecord.previous(of: own, index, isAgain: isAgain, in: directory) : nil
      if let previous, previous.phase == .delivered { delivered = previous }
      candidate = upload ?? previous?.id
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
      if let current, upload != nil || !isAgain && own.match(with: current) != nil {
        throw .delivered(PreviousDelivery(current))
      }
      if upload != nil { throw .state(.noSuchRecord(candidate)) }
      return try begin(own, &index, in: directory)
    }
    // One that failed needs a change first, which can be one of the file, unless the server has a part of it that is still used.
    let wasBegun = !previous.mayBeStored && (previous.uploadURL != nil || previous.phase == .pending)
    if previous.mayBeStored {
      // Only a person can find out whether it is stored.
      guard upload != nil else { throw .uncertain(upload: previous.id) }
      previous.forgetUpload()
    }
    // A server that was given another name or type would keep it.
    if previous.uploadURL != nil, previous.uploadedAs != uploadedAs { previous.forgetUpload() }
    if wasBegun, let change = identity.change(since: previous.identity) {
      let changed = UploadError.changed(file.path, change, upload: previous.id)
      guard upload == nil else { throw changed }
      superseded = supersede(&previous, identity, changed, in: directory)
    }
    let kept = LockedRecord(previous, in: directory, lock: lock)
    kept.superseded = superseded
    let renewed = previous.renewed(by: own)
    if renewed.indexKeys != previous.indexKeys {
      if let index { index.note(renewed, previous: previous) } else { directory.noteUnindexed() }
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
    let isSmaller = identity.size < previous.identity.size
    let superseded = isSmaller ? nil : previous.uploadURL
    var warning = changed.problem + " It is sent again from the start."
    if previous.uploadURL != nil {
      warning +=
        isSmaller
        ? " The file is smaller now, so the server keeps the part of the old one until it expires."
        : " The part of the old one is deleted on the server, if the server allows it."
    }
    directory.warn(warning)
    previous.forgetUpload()
    return superseded
  }

  /// The record of an upload that ``open(for:_:endpoint:event:note:upload:uploadedAs:isAgain:in:)`` would resume. Nothing is
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
    if let open = index { open.note(record, previous: nil) } else { directory.noteUnindexed() }
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
}
