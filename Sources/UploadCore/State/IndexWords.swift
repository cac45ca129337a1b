/// The bytes of an index as 64-bit numbers.
struct IndexWords {
  static let headerLength = 64

  /// "gighidx6"
  private static let magic: UInt64 = 0x3678_6469_6867_6967

  private let bytes: [UInt8]

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  subscript(index: Int) -> UInt64 {
    UInt64(littleEndian: bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: 8 * index, as: UInt64.self) })
  }

  var isHeader: Bool { self[0] == IndexWords.magic && self[7] == IndexWords.sum((0..<7).map { self[$0] }) }

  /// - Parameter numbers: the six between the first and the last.
  static func header(_ numbers: [UInt64]) -> [UInt8] {
    let words = [magic] + numbers
    return bytes(words + [sum(words)])
  }

  static func bytes(_ words: [UInt64]) -> [UInt8] {
    words.flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> UInt64(8 * $0)) } }
  }

  private static func sum(_ words: [UInt64]) -> UInt64 { words.reduce(1) { IndexKey.mixed($0 &+ $1 &+ 1) } }
}
