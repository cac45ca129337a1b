import CShims
import UploadCore

/// The file `index` of a state directory, locked against other processes as long as it lives.
final class IndexFile: IndexStorage {
  private let lock: StateLock

  init(_ lock: StateLock) { self.lock = lock }

  func read(_ count: Int, at offset: Int64) throws(SystemError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    var length = 0
    while length < count {
      let result = bytes.withUnsafeMutableBytes {
        shim_pread(lock.descriptor, $0.baseAddress! + length, count - length, offset + Int64(length))
      }
      if result < 0 { throw SystemError(result: result) }
      if result == 0 { break }
      length += Int(result)
    }
    if length < count { bytes.removeLast(count - length) }
    return bytes
  }

  func write(_ bytes: [UInt8], at offset: Int64) throws(SystemError) {
    let result = shim_write_at(lock.descriptor, bytes, bytes.count, offset)
    if result < 0 { throw SystemError(result: result) }
  }

  /// Is that its modification time?
  func isModified(at stamp: DirectoryStamp) -> Bool {
    var status = shim_file_status()
    return shim_file_status_of(lock.descriptor, &status) == 0 && status.modified_seconds == stamp.modifiedSeconds
      && status.modified_nanoseconds == stamp.modifiedNanoseconds
  }

  func setModified(to stamp: DirectoryStamp) {
    _ = shim_set_modified(lock.descriptor, stamp.modifiedSeconds, stamp.modifiedNanoseconds)
  }

  func reset(length: Int64) throws(SystemError) {
    for length in [0, length] {
      let result = shim_set_length(lock.descriptor, length)
      if result < 0 { throw SystemError(result: result) }
    }
  }
}

/// The index while it is locked: for one look and what follows from it, and never while something is brought to the disk.
final class OpenIndex {
  private var table: RecordIndex<IndexFile>
  private let file: IndexFile
  private let directory: StateDirectory

  fileprivate init(_ table: RecordIndex<IndexFile>, in file: IndexFile, of directory: StateDirectory) {
    self.table = table
    self.file = file
    self.directory = directory
  }

  /// The IDs of records that may have one of the keys; nil if the index turns out to be unusable.
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

  /// Changes it, and the header with it.
  func change(_ body: (inout RecordIndex<IndexFile>) throws(IndexError) -> Void) {
    do throws(IndexError) {
      try body(&table)
      try table.flush()
    } catch { directory.dropIndex() }
  }

  /// Notes that it is of the directory as it is, if that is so and this process has looked through it.
  /// - Parameter isStill: tells whether the directory is as it was; asked while the index is locked.
  func settle(at stamp: DirectoryStamp, boot: [UInt8], _ isStill: () -> Bool) {
    guard table.instance == directory.indexState.verified, isStill() else { return }
    table.mark = stamp.mark(boot: boot)
    change { (_) throws(IndexError) in }
    file.setModified(to: stamp)
  }

  /// Takes entries away that turned out to be of nothing: those of one file would become more with each upload that is
  /// cancelled.
  func drop(_ key: IndexKey, ids: [String]) {
    change { (table) throws(IndexError) in
      for id in ids { try table.remove(key, RecordName.number(ofID: id)) }
    }
  }

  /// From now on `record` is found by what it says.
  /// - Parameter former: what it said on the disk; nil if it was not there.
  func note(_ record: UploadRecord, former: UploadRecord?) {
    let (number, keys, old) = (RecordName.number(ofID: record.id), record.indexKeys, former?.indexKeys ?? [])
    change { (table) throws(IndexError) in
      for key in old where !keys.contains(key) { try table.remove(key, number) }
      for key in keys { try table.insert(key, number) }
      if let former { table.remove(RecordName(of: former)) }
      table.add(RecordName(of: record))
    }
  }
}

/// What a process knows of the index of its state directory.
struct IndexState {
  /// The one that has been looked through; nil for none.
  var verified: UInt64?
  /// What the directory is like after this process's last change, as long as nobody else has changed it since the index was
  /// looked through or found to be marked; nil if that is not known.
  var stamp: DirectoryStamp?
  var boot: [UInt8]?
  /// Can it not be used, so that all records are read instead?
  var isBroken = false
}

/// The index is derived from the records and never trusted: an ID that it gives is looked into, and when a process first looks
/// something up, either nobody else has changed the directory and the index since this program did (`DirectoryMark.swift`), or
/// the names of all records and the sum over the table must be those of the header. Otherwise it is built again.
extension StateDirectory {
  enum IndexAccess {
    case open(OpenIndex)
    /// Another process has locked it for now.
    case busy
    /// It cannot be had.
    case none
  }

  /// Opens the index for what is known to be in the directory to be changed.
  /// - Parameter isForSearch: looks through it first, and builds it again where it is not of these records. The directory must
  ///   be locked (``lockForCreation()``): a record that another process is just making would not be in it.
  func openIndex(isForSearch: Bool) -> IndexAccess {
    guard !indexState.isBroken else { return .none }
    do throws(StateError) {
      guard let lock = try lock(file: file("index"), mustExist: !isForSearch) else { return .busy }
      let file = IndexFile(lock)
      do throws(IndexError) {
        if let table = try opened(file, isForSearch) { return .open(OpenIndex(table, in: file, of: self)) }
        guard isForSearch else { return .none }
        return .open(OpenIndex(try built(in: file), in: file, of: self))
      } catch { dropIndex() }
    } catch {
      if case .unusable(_, let cause) = error, cause.code == SHIM_ENOENT, !isForSearch { return .none }
      indexState.isBroken = true
      warn(error.problem + " All records are read instead.")
    }
    return .none
  }

  /// - Returns: nil if it has to be built again.
  private func opened(_ file: IndexFile, _ isForSearch: Bool) throws(IndexError) -> RecordIndex<IndexFile>? {
    do throws(IndexError) {
      var table = try RecordIndex(opening: file)
      guard isForSearch else { return table }
      if table.isFull(for: UploadRecord.indexKeyCount) { return nil }
      if indexState.verified == table.instance { return table }
      if !isMarked(table.mark, file) {
        beginStamp()
        guard try names().names == table.names else { return nil }
        try table.verify()
      }
      try readAgain(&table)
      indexState.verified = table.instance
      return table
    } catch {
      if error == .damaged { return nil }
      throw error
    }
  }

  private final class Names {
    var names = RecordNames()
    var openCount = 0
    var deliveredCount = 0
  }

  private func names() throws(IndexError) -> Names {
    let found = Names()
    do throws(StateError) {
      try visitNames {
        found.names.add($0)
        if $0.isDelivered { found.deliveredCount += 1 } else { found.openCount += 1 }
      }
    } catch { throw .damaged }
    return found
  }

  /// Those that could not be read when the index was built may be readable now.
  private func readAgain(_ table: inout RecordIndex<IndexFile>) throws(IndexError) {
    var hasChanged = false
    for number in try table.numbers(.unreadable, limit: .max) {
      for isDelivered in [false, true] {
        let name = RecordName(number: number, isDelivered: isDelivered)
        do throws(StateError) {
          guard let record = try read(name.text) else { continue }
          for key in record.indexKeys { try? table.insert(key, number) }
          try? table.remove(.unreadable, number)
          hasChanged = true
        } catch { warnOfUnreadable(name, error) }
      }
    }
    if hasChanged { try table.flush() }
  }

  private final class Building {
    var table: RecordIndex<IndexFile>
    var failure: IndexError?

    init(_ table: RecordIndex<IndexFile>) { self.table = table }

    func add(_ keys: [IndexKey], _ name: RecordName) {
      do throws(IndexError) {
        for key in keys { try table.insert(key, name.number) }
        table.add(name)
      } catch { failure = error }
    }
  }

  /// Builds it from all records.
  private func built(in file: IndexFile) throws(IndexError) -> RecordIndex<IndexFile> {
    var instance: UInt64 = 0
    guard shim_random(&instance, 8) == 0 else { throw .damaged }
    beginStamp()
    let found = try names()
    let entries = found.openCount * UploadRecord.indexKeyCount + found.deliveredCount
    let building = Building(try RecordIndex(building: file, entries: entries, instance: instance))
    do throws(StateError) {
      let add = { (record: UploadRecord, name: RecordName) in building.add(record.indexKeys, name) }
      try visit(.all, unreadable: { building.add([.unreadable], $0) }, add)
    } catch { throw .damaged }
    if let failure = building.failure { throw failure }
    try building.table.flush()
    indexState.verified = instance
    return building.table
  }

  /// It is not used by this process any more, and built again by the next one.
  func dropIndex() {
    indexState.isBroken = true
    indexState.stamp = nil
    _ = shim_unlink(file("index").cString ?? [0])
  }

  /// A record is about to be written that this process cannot put into the index: it must not be there for others.
  func noteUnindexed() {
    if indexState.isBroken { dropIndex() }
  }

  /// Tells the index that records are gone. What it has of them is found out when somebody looks.
  func noteRemoval(of names: [RecordName]) {
    guard !names.isEmpty else { return }
    guard case .open(let index) = openIndex(isForSearch: false) else {
      indexState.stamp = nil
      return
    }
    index.change { (table) throws(IndexError) in
      for name in names { table.remove(name) }
    }
  }
}
