/// How well client and server agree about the offset.
struct OffsetAgreement: Sendable {
  /// The end of what was sent, as far as this process can know: nobody can have more.
  var sentEnd: Int64
  /// The highest offset that the server has confirmed.
  private(set) var highestOffset: Int64 = 0
  /// Answers to PATCH that did not confirm what was sent, since the server had more than ever before.
  private(set) var disagreements = 0
  /// Where the server has refused a PATCH with 409.
  private var contested: Int64?

  init(sentEnd: Int64) { self.sentEnd = sentEnd }

  /// The server has so many bytes. Disagreements count as long as nothing new is stored.
  mutating func noteOffset(_ offset: Int64) {
    guard offset > highestOffset else { return }
    highestOffset = offset
    disagreements = 0
  }

  mutating func contest(_ offset: Int64) { contested = offset }

  /// Is the server where it refused a PATCH with 409? Then it was not the offset that it refused: it holds a lock. So does
  /// one that names another offset time and again, as far as waiting is concerned.
  mutating func isLocked(at offset: Int64) -> Bool {
    guard let contested else { return false }
    self.contested = nil
    return contested == offset || !disagree()
  }

  /// - Returns: false if that has happened too often in a row.
  mutating func disagree() -> Bool {
    disagreements += 1
    return disagreements <= Limits.disagreementCount
  }
}
