/// The range of the file that one PATCH carries, in bytes.
struct TusPatch: Equatable, Sendable {
  let offset: Int64
  let length: Int64
  var end: Int64 { offset + length }
}

/// The PATCH requests under way, and what became of those that were interrupted.
struct TusFlight: Sendable {
  /// Without an answer, oldest first.
  var patches: [TusPatch] = []
  /// Was the last one sent before the one before it was answered?
  private(set) var hasOverlapped = false
  var checksum: (patch: TusPatch, text: String)?
  /// What the last interruption hit, and how many bytes of it had arrived at the other side.
  private var interrupted: (patches: [TusPatch], arrived: Int64)?
  /// May content go along with the creation?
  var mayGoWithCreation = true

  mutating func take(_ patch: TusPatch) {
    hasOverlapped = !patches.isEmpty
    patches.append(patch)
  }

  mutating func interrupt(arrived: Int64) {
    interrupted = (patches, arrived)
    patches = []
    checksum = nil
  }

  mutating func clear() {
    patches = []
    interrupted = nil
    checksum = nil
  }

  /// Compares the server's offset with what was interrupted, and lets the sizing learn from it.
  mutating func learn(from offset: Int64, _ sizing: inout ChunkSizing) {
    guard let interrupted else { return }
    self.interrupted = nil
    var arrived = interrupted.arrived
    for patch in interrupted.patches {
      if offset < patch.end || patch == interrupted.patches.last {
        let kept = min(max(0, offset - patch.offset), patch.length)
        return sizing.interrupted(kept: kept, sent: arrived, requestLength: patch.length)
      }
      arrived = max(0, arrived - patch.length)
    }
  }
}

/// How well client and server agree about the offset.
struct TusAgreement: Sendable {
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
