import UploadCore

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

  /// Marks the index as matching the directory, if it does and this process has verified it.
  /// - Parameter isStill: returns whether the directory is unchanged. Called while the index is locked.
  func mark(at stamp: DirectoryStamp, boot: [UInt8], _ isStill: () -> Bool) {
    guard table.instance == directory.indexState.verified, isStill() else { return }
    table.mark = stamp.mark(boot: boot)
    change { (_) throws(IndexError) in }
    file.setModified(to: stamp)
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
      for key in old where !keys.contains(key) { try table.remove(key, number) }
      for key in keys { try table.insert(key, number, IndexedDelivery(record)) }
      if let previous { table.remove(RecordName(of: previous)) }
      table.add(RecordName(of: record))
    }
  }
}
