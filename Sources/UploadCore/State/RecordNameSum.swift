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
