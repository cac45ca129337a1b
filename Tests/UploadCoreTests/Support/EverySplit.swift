import Testing

/// A sample in pieces, as delivered by a network. Each piece ends right before a guard page.
struct Delivery {
  let pieces: [ArraySlice<UInt8>]
  let page: GuardPage

  func each<Failure: Error>(_ reader: (UnsafeRawBufferPointer) throws(Failure) -> Void) throws(Failure) {
    for piece in pieces { try page.placing(piece, reader: reader) }
  }
}

/// Runs a sample whole, byte by byte, split at every position, and followed by other bytes, and expects the same result each
/// time.
enum EverySplit {
  /// - Parameters:
  ///   - trailing: bytes that may follow the sample; empty if the sample ends only with the connection.
  ///   - read: creates a reader, feeds it the pieces and returns the result.
  static func expect<Outcome: Equatable>(
    _ expected: Outcome, from sample: [UInt8], trailing: [UInt8] = Array("HTTP/1.1 500 \r\n\r\n5\r\n\0".utf8),
    sourceLocation: SourceLocation = #_sourceLocation, read: (Delivery) -> Outcome
  ) {
    let page = GuardPage(room: sample.count + trailing.count)
    func check(_ way: String, _ pieces: [ArraySlice<UInt8>]) -> Bool {
      let outcome = read(Delivery(pieces: pieces, page: page))
      #expect(outcome == expected, "\(way)", sourceLocation: sourceLocation)
      return outcome == expected
    }
    func bytes(of text: [UInt8]) -> [ArraySlice<UInt8>] { text.indices.map { text[$0..<($0 + 1)] } }

    guard check("whole", [sample[...]]), check("byte by byte", bytes(of: sample)) else { return }
    for position in sample.indices.dropFirst() {
      guard check("split at \(position)", [sample[..<position], sample[position...]]) else { return }
    }
    guard !trailing.isEmpty else { return }
    let longer = sample + trailing
    guard check("with trailing bytes", [longer[...]]) else { return }
    guard check("trailing bytes apart", [sample[...], trailing[...]]) else { return }
    _ = check("byte by byte with trailing bytes", bytes(of: longer))
  }
}
