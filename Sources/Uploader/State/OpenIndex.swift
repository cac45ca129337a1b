import UploadCore

/// The index while it is locked: for one look and what follows from it, and never while something is brought to the disk.
final class OpenIndex {
  private var table: RecordIndex<IndexFile>
  private let file: IndexFile
  private let directory: StateDirectory

  init(_ table: RecordIndex<IndexFile>, in file: IndexFile, of directory: StateDirectory) {
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
  /// - Parameter previous: what it said on the disk; nil if it was not there.
  func note(_ record: UploadRecord, previous: UploadRecord?) {
    let (number, keys, old) = (RecordName.number(ofID: record.id), record.indexKeys, previous?.indexKeys ?? [])
    change { (table) throws(IndexError) in
      for key in old where !keys.contains(key) { try table.remove(key, number) }
      for key in keys { try table.insert(key, number) }
      if let previous { table.remove(RecordName(of: previous)) }
      table.add(RecordName(of: record))
    }
  }
}
