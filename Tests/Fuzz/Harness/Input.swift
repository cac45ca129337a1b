/// How a network cuts what it delivers.
enum Cut: CaseIterable {
  case whole, bytes
  /// In two, where the input says.
  case halves
}

/// The longest input that is cut, in bytes.
private let room = 1 << 20

/// Its pieces end right before an inaccessible page.
nonisolated(unsafe) private let page = GuardPage(room: room)

extension [UInt8] {
  /// A position that depends on the input, so that the fuzzer can try them all.
  var chosenPosition: Int { isEmpty ? 0 : (Int(self[count - 1]) &* 131 &+ Int(self[0])) % count }

  /// Hands the input to a reader, piece by piece.
  func deliver<Failure: Error>(
    _ cut: Cut, to reader: (UnsafeRawBufferPointer) throws(Failure) -> Void
  ) throws(Failure) {
    let input = prefix(room)
    switch cut {
    case .whole:
      try page.placing(input, reader: reader)
    case .bytes:
      for index in input.indices { try page.placing(input[index..<(index + 1)], reader: reader) }
    case .halves:
      let position = Swift.min(chosenPosition, input.count)
      try page.placing(input[..<position], reader: reader)
      try page.placing(input[position...], reader: reader)
    }
  }

  /// The first lines, and everything behind them as one. Missing ones are empty.
  func lines(_ number: Int) -> [[UInt8]] {
    var lines = split(separator: 0x0A, maxSplits: number - 1, omittingEmptySubsequences: false).map { [UInt8]($0) }
    while lines.count < number { lines.append([]) }
    return lines
  }

  var text: String { String(decoding: self, as: UTF8.self) }

  func contains(_ other: [UInt8]) -> Bool {
    guard other.count <= count else { return false }
    return (0...(count - other.count)).contains { self[$0..<($0 + other.count)].elementsEqual(other) }
  }
}
