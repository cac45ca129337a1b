import CShims
import UploadCore

/// The index is derived from the records and never trusted. Every ID from it is checked against the record. At the first lookup of
/// a process, either the mark proves that only this program has changed the directory and the index
/// (`StateDirectory+Stamp.swift`), or the sums over all record names and the table must match the header. Otherwise the index
/// is rebuilt.
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
      if !isMarked(table.mark, file) {
        beginStamp()
        tidyLeftovers()
        guard try names().names == table.names else { return nil }
        try table.verify()
      }
      try reload(&table)
      indexState.verified = table.instance
      return table
    } catch {
      if error == .damaged { return nil }
      throw error
    }
  }

  private final class Names {
    var names = RecordNameSum()
    var count = 0
  }

  private func names() throws(IndexError) -> Names {
    let found = Names()
    do throws(StateError) {
      try visitNames {
        found.names.add($0)
        found.count += 1
      }
    } catch { throw .damaged }
    return found
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

  private final class Building {
    var table: RecordIndex<IndexFile>
    var failure: IndexError?

    init(_ table: RecordIndex<IndexFile>) { self.table = table }

    func add(_ record: UploadRecord, _ name: RecordName) {
      add(record.indexKeys, name, IndexedDelivery(record))
    }

    func add(_ keys: [IndexKey], _ name: RecordName, _ delivery: IndexedDelivery) {
      do throws(IndexError) {
        for key in keys { try table.insert(key, name.number, delivery) }
        table.add(name)
      } catch { failure = error }
    }
  }

  /// Rebuilds the index from all records.
  /// - Returns: nil after a cancellation. The header is not written then, so that the next process rebuilds the index.
  private func built(in file: IndexFile) throws(IndexError) -> RecordIndex<IndexFile>? {
    let instance: UInt64
    do throws(UploadError) { instance = try RandomBytes.number() } catch { throw .damaged }
    beginStamp()
    tidyLeftovers()
    guard var table = try built(in: file, instance) else { return nil }
    // While it is built, another process can deliver, which renames a record: then it is built again. If that goes on, it serves for
    // this lookup alone.
    for _ in 1..<Limits.indexBuildCount {
      guard try names().names != table.names else { break }
      guard let again = try built(in: file, instance) else { return nil }
      table = again
    }
    if try names().names == table.names { indexState.verified = instance }
    return table
  }

  private func built(in file: IndexFile, _ instance: UInt64) throws(IndexError) -> RecordIndex<IndexFile>? {
    let found = try names()
    let entries = found.count * UploadRecord.indexKeyCount
    let building = Building(try RecordIndex(building: file, entries: entries, instance: instance))
    let check = CancellationCheck(cancellation)
    do throws(StateError) {
      let add = { (record: UploadRecord, name: RecordName) in building.add(record, name) }
      try visit(.all, isOver: check.isOver, unreadable: { building.add([.unreadable], $0, .none) }, add)
    } catch { throw .damaged }
    if check.isCancelled { return nil }
    if let failure = building.failure { throw failure }
    try building.table.flush()
    return building.table
  }

  /// This process no longer uses the index, and the next one rebuilds it.
  func dropIndex() {
    indexState.isBroken = true
    indexState.stamp = nil
    _ = shim_unlink(file("index").cName)
  }

  /// A record is about to be written that this process cannot add to the index, so others must not use the index.
  func noteUnindexed() {
    if indexState.isBroken { dropIndex() }
  }

  /// Notes in the index that records were removed. Their stale entries are dropped at the next lookup.
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
