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

  /// The record's name.
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
