/// The files that a directory had when it was first watched with `--existing skip`: their keys, sorted, in a file of 64-bit numbers. The
/// directories in it that could not be read then follow as keys, too.
///
/// A key has nothing that depends on a clock of this machine. There can be a million of them, so they are looked up in the file.
package struct ExistingFiles: Equatable, Sendable {
  package static let headerLength = 32
  /// "gighist1"
  private static let magic: UInt64 = 0x3174_7369_6867_6967
  /// The numbers that are read at a time.
  static let windowLength = 64

  package let count: Int
  /// How many directories could not be read.
  package let unreadCount: Int
  private let sum: UInt64

  /// - Parameters:
  ///   - keys: of the files, sorted.
  ///   - unread: of the directories.
  package init(_ keys: [UInt64], unread: [UInt64]) {
    count = keys.count
    unreadCount = unread.count
    sum = ExistingFiles.sum(unread[...], after: ExistingFiles.sum(keys[...]))
  }

  /// - Returns: nil if it is no such file.
  package init?(header: [UInt8], fileLength: Int64) {
    guard header.count == ExistingFiles.headerLength else { return nil }
    let words = ExistingFiles.words(header)
    guard words[0] == ExistingFiles.magic, words[1] <= Limits.existingFileCount, words[2] <= Limits.existingFileCount,
      fileLength == Int64(ExistingFiles.headerLength) + 8 * Int64(words[1] + words[2])
    else { return nil }
    (count, unreadCount, sum) = (Int(words[1]), Int(words[2]), words[3])
  }

  /// What the file begins with.
  package var header: [UInt8] {
    ExistingFiles.bytes([ExistingFiles.magic, UInt64(count), UInt64(unreadCount), sum][...])
  }

  /// Whether the file is whole.
  /// - Parameter sum: of all its numbers, from ``sum(_:after:)``.
  package func isWhole(_ sum: UInt64) -> Bool { sum == self.sum }

  /// Whether the key is that of one of the files.
  /// - Parameter read: reads the numbers in a range, at most ``windowLength`` of them.
  /// - Returns: nil if they cannot be read.
  package func contains(_ key: UInt64, _ read: (Range<Int>) -> [UInt64]?) -> Bool? {
    var (low, high) = (0, count)
    var (lowest, highest) = (UInt64.min, UInt64.max)
    while low < high {
      // Keys are hashes, so the place of one can be estimated.
      let part = highest > lowest ? Double(key - lowest) / Double(highest - lowest) : 0
      let guess = min(high - 1, low + Int(part * Double(high - low)))
      let first = max(low, guess - ExistingFiles.windowLength / 2)
      let range = first..<min(high, first + ExistingFiles.windowLength)
      guard let words = read(range), words.count == range.count else { return nil }
      if key < words[0] {
        (high, highest) = (range.lowerBound, words[0])
      } else if key > words[words.count - 1] {
        (low, lowest) = (range.upperBound, words[words.count - 1])
      } else {
        return words.contains(key)
      }
    }
    return false
  }

  // MARK: Numbers

  package static func sum(_ words: ArraySlice<UInt64>, after sum: UInt64 = 1) -> UInt64 {
    words.reduce(sum) { IndexKey.mixed($0 &+ $1 &+ 1) }
  }

  package static func bytes(_ words: ArraySlice<UInt64>) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(8 * words.count)
    for word in words { for shift in 0..<8 { bytes.append(UInt8(truncatingIfNeeded: word >> UInt64(8 * shift))) } }
    return bytes
  }

  package static func words(_ bytes: [UInt8]) -> [UInt64] {
    bytes.withUnsafeBytes { bytes in
      (0..<(bytes.count / 8)).map { UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: 8 * $0, as: UInt64.self)) }
    }
  }
}
