/// Counts how often client and server disagree about the offset, so that this ends.
struct OffsetDisagreements: Sendable {
  /// The end of the sent content, as far as this process knows. The server cannot have more.
  var sentEnd: Int64
  /// The highest offset that the server has confirmed.
  private var highestOffset: Int64 = 0
  /// The number of responses to PATCH that did not confirm the sent content, since the last new highest offset.
  private var count = 0
  /// The offset at which the server refused a PATCH with 409.
  private var refusedAt: Int64?

  init(sentEnd: Int64) { self.sentEnd = sentEnd }

  /// The server has this offset. Disagreements count until something new is stored.
  mutating func noteOffset(_ offset: Int64) {
    guard offset > highestOffset else { return }
    highestOffset = offset
    count = 0
  }

  /// The server refused a PATCH at this offset with 409.
  mutating func noteConflict(at offset: Int64) { refusedAt = offset }

  /// Whether the server is at the offset where it refused a PATCH with 409. It then refused because of a lock, not because of
  /// the offset. A server that keeps returning other offsets is treated the same.
  mutating func wasLock(at offset: Int64) -> Bool {
    guard let refused = refusedAt else { return false }
    refusedAt = nil
    return refused == offset || !mayDisagree()
  }

  /// Counts another one.
  /// - Returns: false if this has happened too often in a row.
  mutating func mayDisagree() -> Bool {
    count += 1
    return count <= Limits.disagreementCount
  }
}
