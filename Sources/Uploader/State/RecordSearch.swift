import CShims
import UploadCore

/// The search for the record of an upload. Its locks are held as long as it exists, so that another process that looks for the
/// same upload waits, or finds it locked.
final class RecordSearch {
  let directory: StateDirectory
  private let creation: StateLock?
  /// nil if all records must be read. It is locked.
  private(set) var index: OpenIndex?
  /// The IDs of uploads of the file's former content that may be stored. Their locks must be free before a new upload of the file
  /// begins: a process that is still sending one has not noticed the change.
  private(set) var formers: [String] = []
  /// Whether a cancellation has ended the search before all records were read.
  private(set) var isCancelled = false

  private init(_ directory: StateDirectory, _ creation: StateLock?, _ index: OpenIndex?) {
    self.directory = directory
    self.creation = creation
    self.index = index
  }

  /// - Parameter usesIndex: whether ``previous(of:_:)`` follows. Then a missing index is built.
  /// - Returns: nil if another process has locked the directory or its index for the moment, or after a cancellation.
  static func locked(_ directory: StateDirectory, usesIndex: Bool) throws(StateError) -> RecordSearch? {
    guard let creation = try directory.lockForCreation() else { return nil }
    switch directory.openIndex(isForSearch: usesIndex) {
    case .busy: return nil
    case .open(let index): return RecordSearch(directory, creation, index)
    case .none: return RecordSearch(directory, creation, nil)
    }
  }

  /// Without a lock where none is possible, as in a directory that cannot be written to.
  static func reading(_ directory: StateDirectory) -> RecordSearch {
    let creation = try? directory.lockForCreation()
    if creation != nil, case .open(let index) = directory.openIndex(isForSearch: true) {
      return RecordSearch(directory, creation, index)
    }
    return RecordSearch(directory, creation, nil)
  }

  /// Unlocks the index, because nothing is synced while it is locked.
  /// - Parameters:
  ///   - record: enters the index first. A record that is not in it could not be found.
  ///   - previous: what the index has of it.
  func endIndexing(with record: UploadRecord, previous: UploadRecord?) {
    defer { index = nil }
    if let previous, record.indexKeys == previous.indexKeys { return }
    if let index { index.update(record, previous: previous) } else { directory.noteUnindexed() }
  }

  // MARK: What is found

  enum Finding {
    case unfinished(id: String)
    case delivered(PreviousDelivery)
  }

  /// The record of an upload that would be resumed, or its delivery. Nothing is changed but the index, if it has to be rebuilt.
  /// - Throws: `.uncertain` if it may be stored.
  static func find(
    for file: SourceFile, _ identity: FileIdentity, of request: UploadRequest, in directory: StateDirectory
  ) throws(UploadError) -> Finding? {
    let own = UploadRecord(id: "", of: request, for: file, identity)
    let found = try found(in: directory) { search throws(StateError) in
      try search.previous(of: own, changed: file.statusTimeAtOpen, request)
    }
    guard let found else { return nil }
    if found.phase == .delivered {
      return .delivered(PreviousDelivery(found, of: own, changed: file.statusTimeAtOpen))
    }
    if found.mayBeStored { throw .uncertain(upload: found.id) }
    return .unfinished(id: found.id)
  }

  /// The ID of the upload whose object this one would replace if it were sent without a record; nil if there is none.
  static func reservation(
    for file: SourceFile, _ identity: FileIdentity, of request: UploadRequest, in directory: StateDirectory
  ) throws(UploadError) -> String? {
    let own = UploadRecord(id: "", of: request, for: file, identity)
    return try found(in: directory) { search throws(StateError) in try search.reservation(against: own) }?.id
  }

  private static func found(
    in directory: StateDirectory, _ look: (RecordSearch) throws(StateError) -> UploadRecord?
  ) throws(UploadError) -> UploadRecord? {
    let search = reading(directory)
    defer { withExtendedLifetime(search) {} }
    let found: UploadRecord?
    do throws(StateError) { found = try look(search) } catch { throw .state(error) }
    if search.isCancelled { throw .cancelled(hasSentAll: false) }
    return found
  }

  /// The record of the same upload, or of an earlier delivery, by path, file or content; for a request that would be repeated, also of one
  /// to another event. It counts unless ``isCancelled``.
  /// - Parameter changed: the status time of the file.
  func previous(
    of own: UploadRecord, changed: StatusTime, _ request: UploadRequest
  ) throws(StateError) -> UploadRecord? {
    let match = BestMatch(own, changed: changed, request)
    defer { formers = match.formers }
    var unreadable: [String] = []
    for key in own.searchKeys {
      guard let ids = index?.ids([key]) else {
        let check = CancellationCheck(directory.cancellation)
        defer { isCancelled = check.isCancelled }
        try directory.visit(.all, isOver: check.isOver) { record, _ in
          // After a power cut, the record before a delivery can still be there; only the delivery counts.
          let isCurrent = record.phase == .delivered
          match.consider(isCurrent ? record : (try? directory.current(record.id)) ?? record)
        }
        return match.record ?? match.elsewhere
      }
      var (stale, gone): ([String], [String]) = ([], [])
      for id in ids where !unreadable.contains(id) {
        do throws(StateError) {
          let record = try directory.current(id)
          if let record { match.consider(record) }
          if !(record?.indexKeys.contains(key) ?? false) {
            stale.append(id)
            if record == nil { gone.append(id) }
            if record?.phase == .delivered { try tidy(id) }
          }
        } catch {
          // The file is delivered, or the record may say so once its permissions are right. Only GigHive recognizes a recording that it has.
          let isDelivered = directory.exists(id + ".delivered")
          if isDelivered || error.isTemporary, !request.isForGigHive { throw error }
          unreadable.append(id)
          directory.warnOfUnreadable(RecordName(number: RecordName.number(ofID: id), isDelivered: isDelivered), error)
        }
      }
      if !stale.isEmpty { index?.drop([key], ids: stale) }
      if !gone.isEmpty { index?.drop(own.fileKeys, ids: gone) }
    }
    return match.record ?? match.elsewhere
  }

  /// An unfinished upload that may still need the file of a delivered one; nil if there is none. It counts unless ``isCancelled``.
  func unfinished(needing delivered: UploadRecord) throws(StateError) -> UploadRecord? {
    for key in delivered.fileKeys {
      guard let ids = index?.ids([key]) else { return try unindexed(needing: delivered) }
      for id in ids { if let record = try directory.current(id), record.mayNeed(fileOf: delivered) { return record } }
    }
    return try unfinished(needing: delivered, amongUnreadable: index?.ids([.unreadable]) ?? [])
  }

  /// The uploads of other recordings to the same URL of an object, but those that were replaced. They count unless ``isCancelled``.
  private func uploads(sharingURLOf own: UploadRecord) throws(StateError) -> [UploadRecord] {
    guard own.destination.isObject else { return [] }
    var found: [UploadRecord] = []
    func consider(_ record: UploadRecord) {
      if record.sharesURL(with: own), directory.replacement(of: record.id) != .certain { found.append(record) }
    }
    // The index names no more than that, and others can be among the rest.
    if let ids = index?.ids([own.objectKey]), ids.count < Limits.indexCandidateCount {
      for id in ids { if let record = try directory.current(id) { consider(record) } }
      return found
    }
    let check = CancellationCheck(directory.cancellation)
    defer { isCancelled = check.isCancelled }
    try directory.visit(.all, isOver: check.isOver) { record, _ in consider(record) }
    return found
  }

  /// The upload whose object this one would replace, although no server asks and nobody wants it; nil if there is none. It counts unless
  /// ``isCancelled``.
  /// - Parameter resumed: the upload that is resumed.
  func reservation(against own: UploadRecord, resumed: String? = nil) throws(StateError) -> UploadRecord? {
    try uploads(sharingURLOf: own).first {
      $0.id != resumed && $0.reservesURL(against: own) && ($0.phase == .delivered || $0.locateFile() != .gone)
    }
  }

  /// Notes what this upload may replace on the server, before a byte of it is sent.
  /// - Parameter resumed: the upload that is resumed.
  func noteReplacing(by own: UploadRecord, resumed: String?) throws(StateError) {
    for other in try uploads(sharingURLOf: own) where other.id != resumed {
      try directory.markReplaced(other.id, isCertain: false)
    }
  }

  /// Records that could not be read earlier. One that can never be read keeps no file, because nobody knows of which one it is.
  private func unfinished(
    needing delivered: UploadRecord, amongUnreadable ids: [String]
  ) throws(StateError) -> UploadRecord? {
    for id in ids {
      do throws(StateError) {
        if let record = try directory.current(id), record.mayNeed(fileOf: delivered) { return record }
      } catch { if error.isTemporary { throw error } }
    }
    return nil
  }

  private func unindexed(needing delivered: UploadRecord) throws(StateError) -> UploadRecord? {
    var (found, unreadable): (UploadRecord?, [String]) = (nil, [])
    let check = CancellationCheck(directory.cancellation)
    defer { isCancelled = check.isCancelled }
    func consider(_ record: UploadRecord, _: RecordName) {
      // After a power cut, the record before a delivery can still be there.
      let current = (try? directory.current(record.id)) ?? record
      if current.mayNeed(fileOf: delivered) { found = current }
    }
    let isOver = { found != nil || check.isOver() }
    try directory.visit(.open, isOver: isOver, unreadable: { unreadable.append($0.id) }, consider)
    if let found { return found }
    return try unfinished(needing: delivered, amongUnreadable: unreadable)
  }

  /// Removes leftovers of a delivery that a power cut interrupted.
  private func tidy(_ id: String) throws(StateError) {
    guard let lock = try directory.lock(id) else { return }
    directory.tidy(delivered: id)
    withExtendedLifetime(lock) {}
  }

  private final class BestMatch {
    let own: UploadRecord
    private let changed: StatusTime
    private let request: UploadRequest
    private(set) var record: UploadRecord?
    /// A delivery to another event. Whoever finds the same files again and again would send them all after a change of its options.
    private(set) var elsewhere: UploadRecord?
    private var rank: (Int, Int, Int64)?
    private(set) var formers: [String] = []

    init(_ own: UploadRecord, changed: StatusTime, _ request: UploadRequest) {
      self.own = own
      self.changed = changed
      self.request = request
    }

    func consider(_ previous: UploadRecord) {
      if previous.phase == .delivered, !request.respects(previous) { return }
      if request.needsRecord, own.isOfOtherEvent(previous) { elsewhere = previous }
      // That the server may have an earlier recording of this name says nothing about this one. That one may have another name by
      // now, under which its record must be found.
      let mayBeStored = previous.mayBeStored || previous.lastByteMayBeSent
      if mayBeStored, own.file.identity.change(since: previous.file.identity) != nil {
        if own.match(with: previous) == .same { formers.append(previous.id) }
        return
      }
      guard let match = own.match(with: previous) else { return }
      if match == .moved, !SourceFile.isMissing(previous.file.path) { return }
      // Of deliveries, that of this very file counts, and nothing needs to be compared.
      let isUntouched = previous.phase == .delivered && own.evidence(of: previous, changed: changed) == .untouched
      let rank = (previous.rank.0, isUntouched ? 1 : 0, previous.rank.1)
      if let best = self.rank, rank < best { return }
      (record, self.rank) = (previous, rank)
    }
  }
}

extension StateDirectory {
  /// An unfinished upload that keeps the file of a delivered one; nil if there is none, or only reading all records would tell.
  package func upload(keepingFileOf delivered: UploadRecord) -> UploadRecord? {
    let search = RecordSearch.reading(self)
    defer { withExtendedLifetime(search) {} }
    guard search.index != nil else { return nil }
    do throws(StateError) { return try search.unfinished(needing: delivered) } catch { return nil }
  }
}

extension UploadRequest {
  /// Whether it is not sent after this delivery of its file. What was deleted from the server is sent only if it is named.
  func respects(_ delivered: UploadRecord) -> Bool {
    !sendsAgain && (delivered.delivery?.deletion != .done || foundBelow != nil)
  }
}

extension StateError {
  /// Whether a file may be read later. One that is damaged never will be: its upload starts over.
  var isTemporary: Bool {
    switch self {
    case .unusable(_, let cause): ![SHIM_EIO, SHIM_EINVAL].contains(cause.code)
    case .locked: true
    case .notRegular, .unsupportedVersion, .noDirectory, .noSuchRecord, .ambiguousID: false
    }
  }
}

extension UploadRecord {
  init(id: String, of request: UploadRequest, for file: SourceFile, _ identity: FileIdentity) {
    self.init(
      id: id,
      RecordedFile(
        path: file.path.absolute ?? file.path, identity: identity, fileSystemID: file.fileSystemID,
        sidecar: request.sidecar),
      to: RecordedDestination(
        endpoint: request.endpoint, isObject: request.destination.isObject, event: request.event,
        uploadedAs: request.uploadedAs))
    note = request.note
    context = request.context
  }
}

/// Looks up what the records say about files, for a caller that sends nothing itself.
package final class UploadFinder {
  package enum Finding: Equatable {
    /// Delivered, and nothing is left to do.
    case delivered
    /// Interrupted, or in progress; with why it waits, if it does.
    case begun(WatchedFile.Pause?)
    case unknown
  }

  private let directory: StateDirectory

  /// Creates the state directory if it is missing.
  package init(_ path: LocalPath, warn: @escaping (String) -> Void) throws(StateError) {
    directory = try StateDirectory(path, warn: warn)
  }

  /// - Parameters:
  ///   - status: that of the request's file.
  ///   - hasStableInodes: whether its file system has stable inode numbers. Otherwise a delivery cannot be recognized without reading
  ///     the file.
  package func find(_ request: UploadRequest, _ status: shim_file_status, hasStableInodes: Bool) -> Finding {
    if hasStableInodes, let previous = directory.untouchedDelivery(of: request, FileSighting(status)) {
      let removes = request.afterDelivery.removal != nil
      return removes && directory.isRemovalDue(previous.upload) ? .unknown : .delivered
    }
    return directory.begunRecord(request, FileIdentity(status)).map { .begun(pause(of: $0, status)) } ?? .unknown
  }

  private func pause(of id: String, _ status: shim_file_status) -> WatchedFile.Pause? {
    let identity = FileIdentity(status)
    guard let record = try? directory.record(id), let upload = record.unfinished, let sends = upload.fullSends,
      record.file.identity.size == identity.size, record.file.identity.modifiedSeconds == identity.modifiedSeconds
    else { return nil }
    return WatchedFile.Pause(sends, message: upload.message, unixSeconds: shim_unix_seconds())
  }

  /// Creates the record of an upload that another process will begin, so that nothing removes the file until it is delivered.
  /// - Returns: false if that is not possible now. A file that cannot be sent needs no record.
  package func begin(_ request: UploadRequest) -> Bool {
    do throws(UploadError) {
      let (file, identity) = try UploadFinder.open(request)
      let own = UploadRecord(id: "", of: request, for: file, identity)
      // One that may be stored with other content does not keep the file.
      if let id = directory.begunRecord(request, identity), let begun = try? directory.record(id),
        begun.mayNeed(fileOf: own)
      {
        return true
      }
      switch try LockedRecord.open(for: file, identity, of: request, in: directory) {
      case .busy: return false
      case .open(let begun): try begun.sync()
      case .delivered: break
      }
      return true
    } catch { return UploadFinder.needsNoRecord(error) }
  }

  /// Whether nothing of a file is left to send, because it was delivered or cannot be sent.
  package func needsNothing(_ request: UploadRequest) -> Bool {
    do throws(UploadError) {
      let (file, identity) = try UploadFinder.open(request)
      if case .delivered = try RecordSearch.find(for: file, identity, of: request, in: directory) { return true }
      return false
    } catch { return UploadFinder.needsNoRecord(error) }
  }

  private static func open(_ request: UploadRequest) throws(UploadError) -> (SourceFile, FileIdentity) {
    let file: SourceFile
    do throws(FileError) {
      file = try SourceFile.open(request.file, limit: request.sizeLimit, below: request.foundBelow)
    } catch { throw .file(request.file, error) }
    let space = UnsafeMutableRawBufferPointer.allocate(byteCount: Limits.edgeLength, alignment: 1)
    defer { space.deallocate() }
    return (file, try file.identity(using: space, on: file.fileSystemKind))
  }

  /// An unfinished upload of the file to another event of the same server goes to the request's event: the options have changed since it
  /// began, or its directory's name, and nothing of it is sent again. While another process is working on it, it stays.
  /// - Parameter events: those for which the file is sent, too, whose uploads stay.
  package func redirect(_ request: UploadRequest, unlessTo events: [String]) {
    guard let (_, identity) = try? UploadFinder.open(request) else { return }
    func isOutdated(_ record: UploadRecord) -> Bool {
      record.destination.endpoint == request.endpoint && record.destination.event != request.event
        && record.unfinished != nil && !record.mayBeStored && !events.contains(record.destination.event)
        && (record.file.path == request.file || SourceFile.isMissing(record.file.path))
    }
    for id in directory.begunRecords(of: request, identity) {
      guard let found = try? directory.current(id), isOutdated(found),
        let search = try? RecordSearch.locked(directory, usesIndex: true),
        let kept = try? LockedRecord.reopen(id, in: directory), isOutdated(kept.record)
      else { continue }
      var record = kept.record
      record.destination = RecordedDestination(
        endpoint: request.endpoint, event: request.event, uploadedAs: record.destination.uploadedAs)
      record.note = request.note
      search.endIndexing(with: record, previous: kept.record)
      try? kept.update { $0 = record }
    }
  }

  /// Whether that failed because there is nothing to send. What may pass, such as an upload of other content in progress, says nothing.
  private static func needsNoRecord(_ error: UploadError) -> Bool {
    switch error {
    case .uncertain: true
    case .file(_, .missing), .file(_, .notRegular), .file(_, .empty), .file(_, .tooLarge): true
    default: false
    }
  }
}
