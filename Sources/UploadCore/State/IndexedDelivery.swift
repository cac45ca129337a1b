/// What the index knows about a delivered recording, so that its record need not be read.
package struct IndexedDelivery: Equatable, Sendable {
  /// GigHive's number for the recording; nil if it has none.
  package let assetID: Int64?
  /// Seconds since 1970; nil if it is not known.
  package let deliveredAt: Int64?

  /// Not delivered, or nothing is known.
  package static let none = IndexedDelivery(words: (0, 0))

  package init(_ record: UploadRecord) {
    assetID = record.assetID
    deliveredAt = record.delivery?.deliveredAt
  }

  init(words: (UInt64, UInt64)) {
    assetID = words.0 == 0 ? nil : Int64(bitPattern: words.0)
    deliveredAt = words.1 == 0 ? nil : Int64(bitPattern: words.1)
  }

  var words: (UInt64, UInt64) { (UInt64(bitPattern: assetID ?? 0), UInt64(bitPattern: deliveredAt ?? 0)) }
}
