/// Counts how often client and server disagree about the offset, so that this ends.
struct OffsetDisagreements: Sendable {
  /// The end of the sent content, as far as this process knows. The server cannot have more.
  private(set) var sentEnd: Int64
  /// The same before the oldest request in flight.
  private var sentEndBefore: Int64
  /// The highest offset that the server has confirmed.
  private var highestOffset: Int64 = 0
  /// The highest one with which the server had kept a fair part of what it was sent.
  private(set) var progress: Int64 = 0
  /// The number of responses to PATCH that did not confirm the sent content, since the last new highest offset.
  private var count = 0
  /// The offset at which the server refused a PATCH with 409.
  private var refusedAt: Int64?

  init(sentEnd: Int64) {
    self.sentEnd = sentEnd
    sentEndBefore = sentEnd
  }

  /// A request with the content up to this offset begins.
  /// - Parameter isPipelined: whether there is another one in flight.
  mutating func send(to end: Int64, isPipelined: Bool) {
    if !isPipelined { sentEndBefore = sentEnd }
    sentEnd = max(sentEnd, end)
  }

  /// The oldest request in flight was sent to its end.
  mutating func noteSent(to end: Int64) { sentEndBefore = max(sentEndBefore, end) }

  /// It was not, so the server cannot have the last byte of it.
  mutating func noteCut(before end: Int64) { sentEnd = max(sentEndBefore, end - 1) }

  /// The server has this offset. Disagreements count until something new is stored.
  /// - Parameter isProgress: whether it has kept a fair part of what it was sent. Some keep a byte of each request.
  mutating func noteOffset(_ offset: Int64, isProgress: Bool = true) {
    guard offset > highestOffset else { return }
    highestOffset = offset
    guard isProgress else { return }
    progress = offset
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

extension Limits {
  /// How many times in a row the server may disagree about the offset.
  static let disagreementCount = 8
}
