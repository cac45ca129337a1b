/// The file name of a record: its ID, and whether it is delivered.
package struct RecordName: Equatable, Sendable {
  /// The eight digits of the ID as a number.
  package let number: UInt32
  package let isDelivered: Bool

  package init(number: UInt32, isDelivered: Bool) {
    self.number = number
    self.isDelivered = isDelivered
  }

  /// nil if it is not the name of a record.
  package init?(_ name: UnsafeRawBufferPointer) {
    var number: UInt32 = 0
    guard name.count > RecordName.digitCount else { return nil }
    for byte in name[..<RecordName.digitCount] {
      guard let value = ASCII.hexValue(byte), byte == ASCII.lowercased(byte) else { return nil }
      number = number << 4 | UInt32(value)
    }
    let ending = name[RecordName.digitCount...]
    if ending.elementsEqual(".record".utf8) {
      self.init(number: number, isDelivered: false)
    } else if ending.elementsEqual(".delivered".utf8) {
      self.init(number: number, isDelivered: true)
    } else {
      return nil
    }
  }

  package init(of record: UploadRecord) {
    self.init(number: RecordName.number(ofID: record.id), isDelivered: record.phase == .delivered)
  }

  package var id: String { RecordName.id(number) }

  package static func id(_ number: UInt32) -> String { ASCII.hex(number) }

  /// "5e1f0a77.record"
  package var text: String { id + (isDelivered ? ".delivered" : ".record") }

  private static let digitCount = 8

  /// The number of a valid ID (``UploadRecord/isID(_:)``).
  package static func number(ofID id: String) -> UInt32 {
    precondition(UploadRecord.isID(id), "not an ID")
    return id.utf8.reduce(0) { $0 << 4 | UInt32(ASCII.hexValue($1) ?? 0) }
  }
}

/// A set of record names, as the sum of their hashes. Adding or removing a name changes the sum; two different sets have the
/// same sum in one case of 2^64.
package struct RecordNameSum: Equatable, Sendable {
  package private(set) var sum: UInt64
  package private(set) var count: UInt64

  package init(sum: UInt64 = 0, count: UInt64 = 0) {
    self.sum = sum
    self.count = count
  }

  package mutating func add(_ name: RecordName) {
    sum &+= RecordNameSum.value(name)
    count &+= 1
  }

  package mutating func remove(_ name: RecordName) {
    sum &-= RecordNameSum.value(name)
    count &-= 1
  }

  private static func value(_ name: RecordName) -> UInt64 {
    IndexKey.mixed(UInt64(name.number) << 1 | (name.isDelivered ? 1 : 0))
  }
}
