/// A slot of the index: 32 bytes.
struct IndexSlot: Equatable {
  static let length = 32
  private static let used: UInt64 = 1
  private static let removed: UInt64 = 2

  static let free = IndexSlot(key: 0, word: 0, words: (0, 0))
  static let wasUsed = IndexSlot(key: 0, word: removed << 32, words: (0, 0))

  private let key: UInt64
  /// The record's number, and in the upper half 0 for a free slot, or `used` or `removed`.
  private let word: UInt64
  let delivery: IndexedDelivery

  private init(key: UInt64, word: UInt64, words: (UInt64, UInt64)) {
    self.key = key
    self.word = word
    delivery = IndexedDelivery(words: words)
  }

  init(_ key: IndexKey, _ number: UInt32, _ delivery: IndexedDelivery) {
    self.key = key.hash
    word = IndexSlot.used << 32 | UInt64(number)
    self.delivery = delivery
  }

  /// - Parameter first: where it begins in the words.
  init(_ words: IndexWords, at first: Int) {
    self.init(key: words[first], word: words[first + 1], words: (words[first + 2], words[first + 3]))
  }

  var isRemoved: Bool { word >> 32 == IndexSlot.removed }

  func has(_ key: IndexKey) -> Bool { self.key == key.hash && !isRemoved }

  var number: UInt32 { UInt32(truncatingIfNeeded: word) }

  private var words: [UInt64] { [key, word, delivery.words.0, delivery.words.1] }

  var bytes: [UInt8] { IndexWords.bytes(words) }

  /// Its contribution to the sum of the table.
  func sum(at position: Int) -> UInt64 {
    words.reversed().reduce(UInt64(position) &+ 1) { IndexKey.mixed($1 &+ IndexKey.mixed($0)) }
  }
}
