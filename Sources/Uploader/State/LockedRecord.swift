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
  private var spare = Spare.none

  /// What of a spare it has not used (``StateDirectory/takeSpare()``).
  private enum Spare {
    case none
    /// Both files, and nothing of the record is written yet.
    case taken
    /// Both files. The record is written, and not synced: a power cut may take it, because nothing of the form could be stored yet.
    case begun
    /// The room for its last write.
    case room
  }

  package init(_ record: UploadRecord, in directory: StateDirectory, lock: StateLock) {
    self.record = record
    self.directory = directory
    self.lock = lock
  }

  deinit {
    if hasReservedSpace { directory.releaseSpace(record.id) }
  }

  /// Whether other users cannot read it.
  var isPrivate: Bool { lock.isPrivate }

  /// Locks the record of an earlier upload.
  /// - Returns: nil if another process has locked it.
  static func reopen(_ id: String, in directory: StateDirectory) throws(StateError) -> LockedRecord? {
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
    if case .open(let index) = directory.openIndex(isForSearch: false) { index.update(record, previous: previous) }
  }

  /// The same for what is known of an upload. Nothing changes once it is delivered.
  func updateUpload(_ change: (inout UnfinishedUpload) -> Void) throws(UploadError) {
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
    let durability: StateDirectory.Durability
    switch spare {
    case .taken where !isLast: (durability, spare) = (.unsynced, .begun)
    case .begun where !isLast: (durability, spare) = (.underSpareName, .room)
    case .none: durability = .underOwnName
    case .taken, .begun, .room: durability = isLast && hasReservedSpace ? .underSpareName : .underOwnName
    }
    do throws(StateError) {
      try directory.write(
        record, durability, intoReservedSpace: hasReservedSpace && isLast, wasWritten: wasWritten)
    } catch { throw .state(error) }
    hasWritten = true
    if isLast { hasReservedSpace = false }
    isSynced = durability != .unsynced
  }

  /// Brings it to the disk, if it is not there yet.
  func sync() throws(UploadError) { try update { _ in } }

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
    (hasReservedSpace, spare) = (false, .none)
  }
}

enum OpenedRecord {
  case open(LockedRecord)
  /// Another process has locked the directory or its index for the moment, or the search was cancelled.
  case busy
  /// The recording, or the named upload, has been delivered.
  case delivered(PreviousDelivery)
}

/// The record for an upload: that of an earlier attempt, or a new one.
extension LockedRecord {
  /// Finds or creates the record of an upload, and locks it.
  /// - Parameters:
  ///   - identity: the current identity of the file.
  ///   - request: which record is wanted: the one it names, or that of the same file and destination.
  /// - Throws: `.conflict` if another process has locked the record, `.changed` if the named upload started with other content,
  ///   `.uncertain` if it may be stored.
  static func open(
    for file: SourceFile, _ identity: FileIdentity, of request: UploadRequest, in directory: StateDirectory
  ) throws(UploadError) -> OpenedRecord {
    let own = UploadRecord(id: try freeID(in: directory), of: request, for: file, identity)
    let search: RecordSearch
    let found: UploadRecord?
    do throws(StateError) {
      let usesIndex = request.upload == nil || request.destination.isObject
      guard let locked = try RecordSearch.locked(directory, usesIndex: usesIndex) else { return .busy }
      search = locked
      found = request.upload == nil ? try search.previous(of: own, changed: file.statusTimeAtOpen, request) : nil
    } catch { throw .state(error) }
    defer { withExtendedLifetime(search) {} }
    if search.isCancelled { return .busy }
    if let found, found.phase == .delivered {
      return .delivered(PreviousDelivery(found, of: own, changed: file.statusTimeAtOpen))
    }
    let other: UploadRecord?
    do throws(StateError) {
      let resumed = request.upload ?? found?.id
      other = request.replacesUnasked ? try search.reservation(against: own, resumed: resumed) : nil
      if request.mayReplace { try search.noteReplacing(by: own, resumed: resumed) }
    } catch { throw .state(error) }
    if search.isCancelled { return .busy }
    if let other { throw .objectRecorded(upload: other.id) }
    for former in search.formers { _ = try lock(former, in: directory) }
    guard let id = request.upload ?? found?.id else { return .open(try begin(own, request, search)) }
    let lock = try lock(id, in: directory)
    let current: UploadRecord?
    do throws(StateError) { current = try directory.current(id) } catch { throw .state(error) }
    if let current, current.phase != .delivered {
      return .open(try resume(current, lock, own, changed: file.statusTimeAtOpen, request, search))
    }
    // It was delivered before it was locked, and the file may have changed since that delivery.
    directory.tidy(delivered: id)
    if current == nil { directory.removeLock(id) }
    if request.upload != nil {
      guard let current else { throw .state(.noSuchRecord(id)) }
      return .delivered(PreviousDelivery(current))
    }
    if let current, request.respects(current), own.match(with: current) != nil {
      return .delivered(PreviousDelivery(current, of: own, changed: file.statusTimeAtOpen))
    }
    return .open(try begin(own, request, search))
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
      // What was to be joined on a tus server can be joined again.
      if !(previous.unfinished?.isGrowing ?? false && request.isForTus) { previous.unfinished?.forget() }
    }
    let temporary =
      request.isForWebDAV || request.isForS3 ? previous.remote?.url ?? previous.unfinished?.formerURL : nil
    // A server that was given another name or type would keep it. If it may have everything, that is what counts.
    let isRenamed = previous.destination.uploadedAs != request.uploadedAs
    if previous.remote != nil, isRenamed, !previous.lastByteMayBeSent {
      previous.unfinished?.forget()
    }
    var superseded = previous.unfinished?.formerURL
    let isLive = request.live != nil
    // Of a recording that is sent while it is made, each part is compared, and before the first part there is nothing to lose.
    let mayHaveGrown = previous.unfinished?.isGrowing ?? false || isLive && previous.remote == nil
    if wasBegun, let changed, !mayHaveGrown {
      guard request.upload == nil || isLive else { throw changed }
      superseded =
        supersede(
          &previous, own.file.identity, changed, request, isUsable: temporary == nil, in: search.directory)
        ?? superseded
    }
    // What is under a temporary name, and parts that nobody joins, are always removed.
    if let temporary, previous.remote == nil {
      previous.unfinished?.formerURL = temporary
      superseded = temporary
    }
    if request.mayReplace { search.directory.clearReplaced(previous.id) }
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
  /// - Parameter isUsable: whether what the server has of it is of use to somebody.
  /// - Returns: the URL of the old upload if it is to be deleted on the server.
  private static func supersede(
    _ previous: inout UploadRecord, _ identity: FileIdentity, _ changed: UploadError, _ request: UploadRequest,
    isUsable: Bool, in directory: StateDirectory
  ) -> String? {
    var superseded = previous.remote?.url
    var warning = changed.problem
    if !request.isCreated { warning += " It is sent again from the start." }
    if superseded != nil, !request.isCreated {
      if isUsable, previous.unfinished?.mayBeWhole ?? false {
        superseded = nil
        warning += " The server may have the whole old upload, and keeps it until it expires."
      } else if isUsable, identity.size < previous.file.identity.size {
        superseded = nil
        warning += " The file is smaller now, so the server keeps the old partial upload until it expires."
      } else {
        warning += " The old partial upload is deleted on the server, if the server allows it."
      }
    }
    directory.warn(warning)
    previous.unfinished?.forget()
    // Until the server says that it has nothing of it.
    if request.isCreated { previous.unfinished?.formerURL = superseded }
    return superseded
  }

  private static func begin(
    _ record: UploadRecord, _ request: UploadRequest, _ search: RecordSearch
  ) throws(UploadError) -> LockedRecord {
    let directory = search.directory
    let isSmallForm = request.isSmallForm(size: record.file.identity.size)
    let spare = isSmallForm ? directory.takeSpare() : nil
    let record = spare.map { record.renamed($0) } ?? record
    search.endIndexing(with: record, previous: nil)
    do throws(UploadError) {
      let kept = LockedRecord(record, in: directory, lock: try lock(record.id, in: directory))
      if isSmallForm, spare != nil || directory.makeSpares(for: record.id) { kept.spare = .taken }
      // The server may have some of the file's former content in the same upload.
      let former = request.isCreated && !search.formers.isEmpty ? record.destination.endpoint : nil
      kept.superseded = former
      try kept.update {
        $0.createdAt = shim_unix_seconds()
        $0.unfinished?.formerURL = former
      }
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
      if directory.isFree(id) { return id }
    }
  }
}

/// What a delivery does to the records of earlier ones.
extension LockedRecord {
  /// The recording was delivered.
  /// - Parameters:
  ///   - path: the file's, which can have got another name while it was sent.
  ///   - statusTime: proves later that the file at this path still has this content; nil if nothing does.
  ///   - isAgain: whether it may have been delivered before.
  func noteDelivery(
    _ receipt: Receipt, _ sent: SentFile, at path: LocalPath, _ statusTime: StatusTime?, isAgain: Bool
  ) throws(UploadError) {
    let inherited = receipt.deleteToken == nil ? sameRecording(receipt.assetID) : nil
    if record.destination.isObject { noteReplaced() }
    try update {
      $0.file.path = path.absolute ?? path
      var delivery = RecordedDelivery(of: $0)
      delivery.statusTime = statusTime
      delivery.deliveredAt = shim_unix_seconds()
      delivery.assetID = receipt.assetID ?? delivery.assetID
      delivery.sha256 = sent.sha256
      delivery.isUnprovedPage = receipt.isUnprovedPage
      delivery.deleteToken = receipt.deleteToken ?? inherited?.record.delivery?.deleteToken
      $0.state = .delivered(delivery)
    }
    if let inherited {
      // It is recorded already.
      do throws(UploadError) { try removeEarlierRecord(inherited) } catch {
        directory.warn("the earlier record " + inherited.record.id + " could not be removed: " + error.message)
      }
    }
    if isAgain { removeEarlierDeliveries() }
    directory.tidy(delivered: record.id)
  }

  /// This recording has the URL now, and no other one that the records name.
  private func noteReplaced() {
    let own = record
    var replaced: [String] = []
    for id in candidates(own.objectKey, { $0.sharesURL(with: own) }) where directory.replacement(of: id) != .certain {
      guard let other = try? directory.current(id), other.phase == .delivered, other.sharesURL(with: own) else {
        continue
      }
      try? directory.markReplaced(id, isCertain: true)
      replaced.append(id)
    }
    if !replaced.isEmpty { searchableIndex()?.drop([own.objectKey], ids: replaced) }
  }

  /// The file was found to have the content that was delivered.
  func noteComparison(with file: SourceFile, _ identity: FileIdentity) throws(UploadError) {
    try update {
      $0.file.path = file.path.absolute ?? file.path
      $0.file.identity = identity
      $0.file.fileSystemID = file.fileSystemID
      $0.delivery?.statusTime = file.provenStatusTime
    }
  }

  /// Removes the earlier record of the same recording, if it is also of the same file: deliveries of copies, and to other events, are
  /// remembered, so that none is sent again.
  private func removeEarlierRecord(_ earlier: LockedRecord) throws(UploadError) {
    let other = earlier.record
    let isSameFile =
      other.file.path == record.file.path || record.match(with: other) == .same || other.locateFile() == .gone
    if other.destination.event == record.destination.event, isSameFile { return try earlier.remove() }
    directory.tidy(delivered: other.id)
  }

  /// Removes the records of earlier deliveries of the same file, except those whose token can delete another recording.
  private func removeEarlierDeliveries() {
    let own = record
    func isEarlier(_ other: UploadRecord) -> Bool {
      guard other.id != own.id, let delivery = other.delivery else { return false }
      let hasOtherToken = delivery.deleteToken != nil && delivery.deleteToken != own.delivery?.deleteToken
      return !hasOtherToken && own.match(with: other) == .same
    }
    for id in candidates(.file(own), isEarlier) {
      guard let previous = try? directory.current(id), isEarlier(previous) else { continue }
      if let earlier = try? LockedRecord.reopen(id, in: directory) { try? earlier.remove() }
    }
  }

  /// The earlier record of the same recording. GigHive issues a delete token only once, with the first delivery. When a recording
  /// is sent again, the token is copied from its earlier record.
  private func sameRecording(_ assetID: Int64?) -> LockedRecord? {
    guard let assetID else { return nil }
    let endpoint = record.destination.endpoint
    func isSame(_ other: UploadRecord) -> Bool {
      guard let delivery = other.delivery, other.destination.endpoint == endpoint else { return false }
      return delivery.assetID == assetID && delivery.deleteToken != nil
    }
    for id in candidates(.asset(assetID, endpoint: endpoint), isSame) {
      guard let previous = try? directory.current(id), isSame(previous) else { continue }
      return try? LockedRecord.reopen(id, in: directory)
    }
    return nil
  }

  /// The IDs of delivered records that may have the key; without an index, of those that match.
  private func candidates(_ key: IndexKey, _ isMatch: (UploadRecord) -> Bool) -> [String] {
    if let index = searchableIndex(), let ids = index.ids([key]) { return ids }
    var ids: [String] = []
    try? directory.visit(.all) { record, _ in if isMatch(record) { ids.append(record.id) } }
    return ids
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
}

/// Looks for a cancellation from time to time while many records are read.
final class CancellationCheck {
  private(set) var isCancelled = false
  private let cancellation: Cancellation?
  private var count = 0

  init(_ cancellation: Cancellation?) { self.cancellation = cancellation }

  /// Called before each record.
  func isOver() -> Bool {
    count += 1
    if count % Limits.cancellationCheckRecordCount == 0, cancellation?.isCancelled ?? false { isCancelled = true }
    return isCancelled
  }
}

extension Limits {
  /// Records read before the cancellation is checked again: on a slow card, less than a second.
  static let cancellationCheckRecordCount = 32
}
