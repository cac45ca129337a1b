import CShims
import UploadCore

/// Walks through all records, holding only one at a time.
extension StateDirectory {
  /// The records to visit. There can be many delivered ones.
  package enum Selection { case open, delivered, all }

  /// Visits all valid records, oldest first. Damaged ones are renamed to `….damaged`, and those of other versions are left
  /// alone.
  package func walk(_ selection: Selection, _ body: (UploadRecord) -> Void) throws(StateError) {
    let walk = walk(selection)
    while let record = try walk.next() { body(record) }
  }

  /// The same, one record at a time.
  package func walk(_ selection: Selection) -> RecordWalk { RecordWalk(self, selection, { _ in true }) }

  /// Visits delivered records, the oldest deliveries first.
  /// - Parameter isWanted: which ones. It can be called several times for one record.
  package func walkDeliveries(where isWanted: @escaping (UploadRecord) -> Bool) -> RecordWalk {
    RecordWalk(self, .delivered, isWanted)
  }

  /// The number of records that are not delivered.
  package func openCount() throws(StateError) -> Int {
    var count = 0
    try visitNames { if !$0.isDelivered { count += 1 } }
    return count
  }

  /// The record with this number, if it is one of the selection. `ID.record` and `ID.delivered` both exist if a power cut interrupted a
  /// delivery.
  fileprivate func record(_ number: UInt32, _ selection: Selection) throws(StateError) -> UploadRecord? {
    let record = try current(RecordName.id(number))
    return selection == .open && record?.phase == .delivered ? nil : record
  }

  /// Visits the records one by one, in no order.
  /// - Parameters:
  ///   - isOver: whether to skip the rest. Called before each record.
  ///   - unreadable: called for records that are left alone.
  func visit(
    _ selection: Selection, isOver: () -> Bool = { false }, unreadable: (RecordName) -> Void = { _ in },
    _ body: (UploadRecord, RecordName) -> Void
  ) throws(StateError) {
    try visitNames { name in
      guard selection == .all || name.isDelivered == (selection == .delivered), !isOver() else { return }
      do throws(StateError) {
        if let record = try read(name.text) { body(record, name) }
      } catch {
        warnOfUnreadable(name, error)
        unreadable(name)
      }
    }
  }

  func warnOfUnreadable(_ name: RecordName, _ error: StateError) {
    warn(PrintableText.line(file(name.text).text) + " " + error.reason + "; it is skipped.")
  }

  func visitNames(_ body: (RecordName) -> Void) throws(StateError) {
    try recoverNames()
    try visitFiles { if let name = RecordName($0) { body(name) } }
  }

  /// Visits all names in the directory.
  func visitFiles(_ body: (UnsafeRawBufferPointer) -> Void) throws(StateError) {
    let result = withoutActuallyEscaping(body) { body in
      var body = body
      return withUnsafeMutablePointer(to: &body) {
        shim_visit_directory(
          path.cName,
          { name, context in
            guard let name, let context else { return }
            var length = 0
            while name[length] != 0 { length += 1 }
            let body = context.assumingMemoryBound(to: ((UnsafeRawBufferPointer) -> Void).self)
            body.pointee(UnsafeRawBufferPointer(start: name, count: length))
          }, $0)
      }
    }
    // A directory that does not exist yet has no records.
    guard result == 0 || -result == SHIM_ENOENT else { throw .unusable(path, SystemError(result: result)) }
  }

  /// The record whose ID starts with the text.
  package func record(_ id: String) throws(StateError) -> UploadRecord {
    if UploadRecord.isID(id) {
      try recoverNames()
      guard let record = try current(id) else { throw .noSuchRecord(id) }
      return record
    }
    var (found, isAmbiguous) = (String?.none, false)
    try visitNames {
      guard $0.id.hasPrefix(id) else { return }
      if let found, found != $0.id { isAmbiguous = true }
      found = $0.id
    }
    guard !id.isEmpty, let whole = found else { throw .noSuchRecord(id) }
    guard !isAmbiguous else { throw .ambiguousID(id) }
    guard let record = try current(whole) else { throw .noSuchRecord(id) }
    return record
  }
}

/// A walk through records, oldest first: those that were created first, or delivered first.
package final class RecordWalk {
  private let directory: StateDirectory
  private let selection: StateDirectory.Selection
  private let isWanted: (UploadRecord) -> Bool
  private var order = OldestFirst(capacity: Limits.orderedRecordCount)
  /// Newest first.
  private var round: [OldestFirst.Entry] = []
  private var hasMore = true

  fileprivate init(
    _ directory: StateDirectory, _ selection: StateDirectory.Selection, _ isWanted: @escaping (UploadRecord) -> Bool
  ) {
    self.directory = directory
    self.selection = selection
    self.isWanted = isWanted
  }

  /// - Returns: nil after the last one.
  package func next() throws(StateError) -> UploadRecord? {
    while true {
      while let entry = round.popLast() {
        // Unreadable records have just been reported.
        if let record = try? directory.record(entry.number, selection) { return record }
      }
      guard hasMore else { return nil }
      try directory.visit(selection) {
        guard isWanted($0) else { return }
        let time = selection == .delivered ? $0.delivery?.deliveredAt ?? $0.updatedAt : $0.createdAt
        order.offer(OldestFirst.Entry(createdAt: time, number: $1.number))
      }
      let (entries, hasMore) = order.take()
      round = entries.reversed()
      self.hasMore = hasMore
    }
  }
}

/// Recognizes what was delivered with few system calls, for the thousands of files that a nightly run finds. No lock is needed: what
/// another process is writing can only hide a delivery, and then the record is read. An entry counts only if its record
/// exists under the name of a delivered one.
extension StateDirectory {
  /// The earlier delivery of the file, if nothing has touched the file since; nil if none is found.
  func untouchedDelivery(of request: UploadRequest, _ seen: FileSighting) -> PreviousDelivery? {
    delivery(.status(UploadRecord(sought: request, LocalPath(bytes: []), seen.identity), seen.changed))
  }

  /// The same where inodes are not stable.
  func untouchedDelivery(of request: UploadRequest, _ identity: FileIdentity) -> PreviousDelivery? {
    let sought = UploadRecord(sought: request, absolute(request.file), identity)
    guard !identity.hasStableInode, let previous = delivery(.place(sought)),
      let record = try? current(previous.upload), record.delivery?.deletion != .done,
      sought.evidence(of: record, changed: StatusTime(seconds: 0, nanoseconds: 0)) == .untouched
    else { return nil }
    return previous
  }

  private func absolute(_ path: LocalPath) -> LocalPath {
    if path.bytes.first == ASCII.slash { return path }
    indexState.workingDirectory = indexState.workingDirectory ?? LocalPath(bytes: []).absolute
    return indexState.workingDirectory.map { LocalPath(bytes: $0.bytes + path.bytes) } ?? path
  }

  private func delivery(_ key: IndexKey) -> PreviousDelivery? {
    entries(key, isDelivered: true).first.map { PreviousDelivery(upload: $0.name.id, $0.delivery) }
  }

  /// The entries with this key whose records are there.
  private func entries(_ key: IndexKey, isDelivered: Bool) -> [(name: RecordName, delivery: IndexedDelivery)] {
    guard let index = indexState.unlocked ?? unlockedIndex() else { return [] }
    let all = (try? index.entries(key, limit: Limits.indexCandidateCount)) ?? []
    let found = all.map { (name: RecordName(number: $0.number, isDelivered: isDelivered), delivery: $0.delivery) }
      .filter { exists($0.name.text) }
    // If there is none, it may have been rebuilt.
    indexState.unlocked = found.isEmpty ? nil : index
    return found
  }

  private func unlockedIndex() -> RecordIndex<UnlockedIndex>? {
    guard let source = UnlockedIndex.open(file("index")) else { return nil }
    return try? RecordIndex(opening: source)
  }
}

extension StateDirectory {
  /// The record of an upload of the file at this path that was begun and is not delivered, as far as the index knows.
  func begunRecord(_ request: UploadRequest, _ identity: FileIdentity) -> String? {
    begunRecords(.path(UploadRecord(sought: request, request.file, identity))).first
  }

  /// The same for all uploads of the file, by its path or on the disk, to whatever destination.
  func begunRecords(of request: UploadRequest, _ identity: FileIdentity) -> [String] {
    UploadRecord(sought: request, request.file, identity).fileKeys.flatMap { begunRecords($0) }
  }

  private func begunRecords(_ key: IndexKey) -> [String] { entries(key, isDelivered: false).map { $0.name.id } }
}

extension UploadRecord {
  /// A record of the same upload as one that is looked for.
  fileprivate init(sought request: UploadRequest, _ path: LocalPath, _ identity: FileIdentity) {
    self.init(
      id: "", RecordedFile(path: path, identity: identity),
      to: RecordedDestination(endpoint: request.endpoint, event: request.event))
  }
}

extension Limits {
  /// Records sorted at a time when all are listed, for which all are read. Twice as many are held, in 1 MB.
  static let orderedRecordCount = 32_768
}
