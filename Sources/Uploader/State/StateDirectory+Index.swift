import CShims
import UploadCore

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
