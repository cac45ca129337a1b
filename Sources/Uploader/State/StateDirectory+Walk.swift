import CShims
import UploadCore

/// Looking through all records. None of it holds more than one of them at a time.
extension StateDirectory {
  /// Which records are looked at. Delivered ones can become many.
  package enum Selection { case open, all }

  /// Shows all records that can be trusted, oldest first. Others are set aside: renamed to `….damaged`, or left alone if
  /// another version wrote them.
  package func walk(_ selection: Selection, _ body: (UploadRecord) -> Void) throws(StateError) {
    let order = Order()
    var hasMore = true
    while hasMore {
      try visit(selection) { order.records.offer(OldestFirst.Entry(createdAt: $0.createdAt, number: $1.number)) }
      let round = order.records.take()
      for entry in round.entries {
        // What cannot be read was said a moment ago.
        if let record = try? self.record(entry.number, selection) { body(record) }
      }
      hasMore = round.hasMore
    }
  }

  private final class Order { var records = OldestFirst(capacity: Limits.orderedRecordCount) }

  /// Both files are there if the power was cut between the two steps of a delivery.
  private func record(_ number: UInt32, _ selection: Selection) throws(StateError) -> UploadRecord? {
    let id = RecordName.id(number)
    return selection == .all ? try current(id) : try read(RecordName(number: number, isDelivered: false).text)
  }

  /// All of them at once; for few.
  package func records(_ selection: Selection) throws(StateError) -> [UploadRecord] {
    var records: [UploadRecord] = []
    try walk(selection) { records.append($0) }
    return records
  }

  /// Shows the records one after the other, in no order.
  /// - Parameter unreadable: is told of those that are left alone.
  func visit(
    _ selection: Selection, unreadable: @escaping (RecordName) -> Void = { _ in },
    _ body: @escaping (UploadRecord, RecordName) -> Void
  ) throws(StateError) {
    try visitNames { [self] name in
      guard !name.isDelivered || selection == .all else { return }
      do throws(StateError) {
        if let record = try read(name.text) { body(record, name) }
      } catch {
        warnOfUnreadable(name, error)
        unreadable(name)
      }
    }
  }

  func warnOfUnreadable(_ name: RecordName, _ error: StateError) {
    warn(PrintableText.line(file(name.text).text) + " " + error.reason + "; it is left alone.")
  }

  /// Shows the names of the records' files.
  func visitNames(_ body: @escaping (RecordName) -> Void) throws(StateError) {
    let visitor = Visitor(body)
    let result = shim_visit_directory(
      path.cString ?? [0],
      { name, context in
        guard let name, let context else { return }
        var length = 0
        while name[length] != 0 { length += 1 }
        guard let record = RecordName(UnsafeRawBufferPointer(start: name, count: length)) else { return }
        Unmanaged<Visitor>.fromOpaque(context).takeUnretainedValue().visit(record)
      }, Unmanaged.passUnretained(visitor).toOpaque())
    withExtendedLifetime(visitor) {}
    guard result == 0 else { throw .unusable(path, SystemError(result: result)) }
  }

  private final class Visitor {
    let visit: (RecordName) -> Void

    init(_ visit: @escaping (RecordName) -> Void) { self.visit = visit }
  }

  private final class Found {
    var id: String?
    var isAmbiguous = false
  }

  /// The record whose ID begins with the text.
  package func record(_ id: String) throws(StateError) -> UploadRecord {
    if UploadRecord.isID(id) {
      guard let record = try current(id) else { throw .noSuchRecord(id) }
      return record
    }
    let found = Found()
    try visitNames {
      guard $0.id.hasPrefix(id) else { return }
      if let other = found.id, other != $0.id { found.isAmbiguous = true }
      found.id = $0.id
    }
    guard !id.isEmpty, let whole = found.id else { throw .noSuchRecord(id) }
    guard !found.isAmbiguous else { throw .ambiguousID(id) }
    guard let record = try current(whole) else { throw .noSuchRecord(id) }
    return record
  }
}
