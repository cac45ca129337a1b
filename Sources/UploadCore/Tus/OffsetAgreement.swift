/// Tracks whether client and server agree about the offset.
struct OffsetAgreement: Sendable {
  /// The end of the sent content, as far as this process knows. The server cannot have more.
  var sentEnd: Int64
  /// The highest offset that the server has confirmed.
  private(set) var highestOffset: Int64 = 0
  /// The number of responses to PATCH that did not confirm the sent content, since the last new highest offset.
  private(set) var disagreements = 0
  /// The offset at which the server refused a PATCH with 409.
  private var contested: Int64?

  init(sentEnd: Int64) { self.sentEnd = sentEnd }

  /// The server has this offset. Disagreements count until something new is stored.
  mutating func noteOffset(_ offset: Int64) {
    guard offset > highestOffset else { return }
    highestOffset = offset
    disagreements = 0
  }

  mutating func contest(_ offset: Int64) { contested = offset }

  /// Whether the server is at the offset where it refused a PATCH with 409. It then refused because of a lock, not because of
  /// the offset. A server that keeps returning other offsets is treated the same.
  mutating func resolveContest(at offset: Int64) -> Bool {
    guard let contested else { return false }
    self.contested = nil
    return contested == offset || !disagree()
  }

  /// - Returns: false if this has happened too often in a row.
  mutating func disagree() -> Bool {
    disagreements += 1
    return disagreements <= Limits.disagreementCount
  }
}
