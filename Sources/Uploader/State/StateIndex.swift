import CShims
import UploadCore

/// The index is derived from the records and never trusted. Every ID from it is checked against the record. At the first lookup of
/// a process, the sum over all record names must match the header, and, at the first one since the machine has started, that over the
/// table. Otherwise the index is rebuilt.
extension StateDirectory {
  enum IndexAccess {
    case open(OpenIndex)
    /// Another process has locked it for the moment, or a cancellation ended its building.
    case busy
    /// It cannot be used.
    case none
  }

  /// Opens the index in order to change it.
  /// - Parameter isForSearch: also verifies it, and rebuilds it if it does not match the records. The directory must then be
  ///   locked (``lockForCreation()``), because a record that another process is creating would be missing.
  func openIndex(isForSearch: Bool) -> IndexAccess {
    guard !indexState.isBroken else { return .none }
    do throws(StateError) {
      guard let lock = try lock(file: file("index"), mustExist: !isForSearch) else { return .busy }
      let file = IndexFile(lock)
      do throws(IndexError) {
        if let table = try opened(file, isForSearch) { return .open(OpenIndex(table, in: file, of: self)) }
        guard isForSearch else { return .none }
        guard let table = try built(in: file) else { return .busy }
        return .open(OpenIndex(table, in: file, of: self))
      } catch { dropIndex() }
    } catch {
      if case .unusable(_, let cause) = error, cause.code == SHIM_ENOENT, !isForSearch { return .none }
      indexState.isBroken = true
      warn(error.problem + " All records are read instead.")
    }
    return .none
  }

  /// - Returns: nil if it must be rebuilt.
  private func opened(_ file: IndexFile, _ isForSearch: Bool) throws(IndexError) -> RecordIndex<IndexFile>? {
    do throws(IndexError) {
      var table = try RecordIndex(opening: file)
      guard isForSearch else { return table }
      if table.isFull(for: UploadRecord.indexKeyCount) { return nil }
      if indexState.verified == table.instance { return table }
      guard try names() == table.names else { return nil }
      if table.boot != boot || boot == 0 { try verify(&table) }
      try reload(&table)
      indexState.verified = table.instance
      return table
    } catch {
      if error == .damaged { return nil }
      throw error
    }
  }

  /// A power cut may have lost a part of the table. As long as the machine runs, the table is what was written.
  private func verify(_ table: inout RecordIndex<IndexFile>) throws(IndexError) {
    tidyLeftovers()
    try table.verify()
    table.boot = boot
    try table.flush()
  }

  /// Identifies the time since the machine has started; 0 if that is not known.
  var boot: UInt64 {
    if let boot = indexState.boot { return boot }
    // A UUID, and a line feed.
    let id = SmallFile.contents(of: "/proc/sys/kernel/random/boot_id", limit: 37)?.prefix(36)
    let boot = id.map { $0.count == 36 ? IndexKey.boot(Array($0)) : 0 } ?? 0
    indexState.boot = boot
    return boot
  }

  private func names() throws(IndexError) -> RecordNameSum {
    var names = RecordNameSum()
    do throws(StateError) { try visitNames { names.add($0) } } catch { throw .damaged }
    return names
  }

  /// Reads records again that were unreadable when the index was built.
  private func reload(_ table: inout RecordIndex<IndexFile>) throws(IndexError) {
    var hasChanged = false
    for number in try table.numbers(.unreadable, limit: .max) {
      for isDelivered in [false, true] {
        let name = RecordName(number: number, isDelivered: isDelivered)
        do throws(StateError) {
          guard let record = try read(name.text) else { continue }
          for key in record.indexKeys { try? table.insert(key, number, IndexedDelivery(record)) }
          try? table.remove(.unreadable, number)
          hasChanged = true
        } catch { warnOfUnreadable(name, error) }
      }
    }
    if hasChanged { try table.flush() }
  }

  /// Rebuilds the index from all records.
  /// - Returns: nil after a cancellation. The header is not written then, so that the next process rebuilds the index.
  private func built(in file: IndexFile) throws(IndexError) -> RecordIndex<IndexFile>? {
    let instance: UInt64
    do throws(UploadError) { instance = try RandomBytes.number() } catch { throw .damaged }
    tidyLeftovers()
    guard var table = try built(in: file, instance) else { return nil }
    // While it is built, another process can deliver, which renames a record: then it is built again. If that goes on, it serves for
    // this lookup alone.
    for _ in 1..<Limits.indexBuildCount {
      guard try names() != table.names else { break }
      guard let again = try built(in: file, instance) else { return nil }
      table = again
    }
    if try names() == table.names { indexState.verified = instance }
    return table
  }

  private func built(in file: IndexFile, _ instance: UInt64) throws(IndexError) -> RecordIndex<IndexFile>? {
    let entries = Int(try names().count) * UploadRecord.indexKeyCount
    var table = try RecordIndex(building: file, entries: entries, instance: instance)
    var failure: IndexError?
    func add(_ keys: [IndexKey], _ name: RecordName, _ delivery: IndexedDelivery) {
      do throws(IndexError) {
        for key in keys { try table.insert(key, name.number, delivery) }
        table.add(name)
      } catch { failure = error }
    }
    func add(_ record: UploadRecord, _ name: RecordName) {
      var keys = record.indexKeys
      // Nobody looks for what was replaced, and there can be thousands with one URL.
      if record.destination.isObject, replacement(of: record.id) == .certain {
        keys.removeAll { $0 == record.objectKey }
      }
      add(keys, name, IndexedDelivery(record))
    }
    let check = CancellationCheck(cancellation)
    do throws(StateError) {
      try visit(.all, isOver: check.isOver, unreadable: { add([.unreadable], $0, .none) }, add(_:_:))
    } catch { throw .damaged }
    if check.isCancelled { return nil }
    if let failure { throw failure }
    table.boot = boot
    try table.flush()
    return table
  }

  /// This process no longer uses the index, and the next one rebuilds it.
  func dropIndex() {
    indexState.isBroken = true
    _ = shim_unlink(file("index").cName)
  }

  /// A record is about to be written that this process cannot add to the index, so others must not use the index.
  func noteUnindexed() {
    if indexState.isBroken { dropIndex() }
  }

  /// Notes in the index that records were removed. Their stale entries are dropped at the next lookup.
  func noteRemoval(of names: [RecordName]) {
    guard !names.isEmpty else { return }
    guard case .open(let index) = openIndex(isForSearch: false) else { return }
    index.change { (table) throws(IndexError) in
      for name in names { table.remove(name) }
    }
  }
}

/// The locked index. It is held for one lookup and the resulting changes, never during a sync.
final class OpenIndex {
  private var table: RecordIndex<IndexFile>
  private let file: IndexFile
  private let directory: StateDirectory

  init(_ table: RecordIndex<IndexFile>, in file: IndexFile, of directory: StateDirectory) {
    self.table = table
    self.file = file
    self.directory = directory
  }

  /// The IDs of records that may have one of the keys; nil if the index is unusable.
  func ids(_ keys: [IndexKey]) -> [String]? {
    var numbers: [UInt32] = []
    do throws(IndexError) {
      for key in keys {
        for number in try table.numbers(key, limit: Limits.indexCandidateCount) where !numbers.contains(number) {
          numbers.append(number)
        }
      }
    } catch {
      directory.dropIndex()
      return nil
    }
    return numbers.map { RecordName.id($0) }
  }

  /// Changes the table, and writes the header.
  func change(_ body: (inout RecordIndex<IndexFile>) throws(IndexError) -> Void) {
    do throws(IndexError) {
      try body(&table)
      try table.flush()
    } catch { directory.dropIndex() }
  }

  /// Removes stale entries. Otherwise each cancelled upload of a file would add one.
  func drop(_ keys: [IndexKey], ids: [String]) {
    change { (table) throws(IndexError) in
      for id in ids { for key in keys { try table.remove(key, RecordName.number(ofID: id)) } }
    }
  }

  /// Updates the keys of a record.
  /// - Parameter previous: the record on disk; nil if there is none.
  func update(_ record: UploadRecord, previous: UploadRecord?) {
    let (number, keys, old) = (RecordName.number(ofID: record.id), record.indexKeys, previous?.indexKeys ?? [])
    change { (table) throws(IndexError) in
      // In this order: a process that is killed in between must not hide the record.
      for key in keys { try table.insert(key, number, IndexedDelivery(record)) }
      for key in old where !keys.contains(key) { try table.remove(key, number) }
      if let previous { table.remove(RecordName(of: previous)) }
      table.add(RecordName(of: record))
    }
  }
}

/// The file `index` of a state directory, open for reading without its lock: another process may be writing to it.
final class UnlockedIndex: IndexSource {
  private let descriptor: Int32

  /// - Returns: nil if it cannot be opened.
  static func open(_ path: LocalPath) -> UnlockedIndex? {
    let descriptor = shim_open_for_reading(path.cName, 0)
    return descriptor < 0 ? nil : UnlockedIndex(descriptor)
  }

  private init(_ descriptor: Int32) { self.descriptor = descriptor }

  deinit { _ = shim_close(descriptor) }

  func read(_ count: Int, at offset: Int64) throws(SystemError) -> [UInt8] {
    try SmallFile.read(descriptor, count, at: offset)
  }
}

/// The file `index` of a state directory, locked against other processes while this object exists.
final class IndexFile: IndexStorage {
  private let lock: StateLock

  init(_ lock: StateLock) { self.lock = lock }

  func read(_ count: Int, at offset: Int64) throws(SystemError) -> [UInt8] {
    try SmallFile.read(lock.descriptor, count, at: offset)
  }

  func write(_ bytes: [UInt8], at offset: Int64) throws(SystemError) {
    let result = shim_write_at(lock.descriptor, bytes, bytes.count, offset)
    if result < 0 { throw SystemError(result: result) }
  }

  func reset(length: Int64) throws(SystemError) {
    for length in [0, length] {
      let result = shim_set_length(lock.descriptor, length)
      if result < 0 { throw SystemError(result: result) }
    }
  }
}

/// What this process knows about the index of its state directory.
struct IndexState {
  /// The generation of the verified index; nil for none.
  var verified: UInt64?
  /// See ``RecordIndex/boot``; nil if it was not asked for.
  var boot: UInt64?
  /// The index, opened without its lock to recognize deliveries.
  var unlocked: RecordIndex<UnlockedIndex>?
  /// The working directory, with a slash at its end; nil if it was not asked for, or if there is none.
  var workingDirectory: LocalPath?
  /// Whether the index cannot be used, so that all records are read instead.
  var isBroken = false
}

extension Limits {
  /// How many times an index is built for one lookup while other processes change the records.
  static let indexBuildCount = 3
}
