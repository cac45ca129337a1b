/// The PATCH requests under way, and what became of those that were interrupted.
struct TusInFlight: Sendable {
  /// Without an answer, oldest first.
  var patches: [PatchRange] = []
  /// Was the last one sent before the one before it was answered?
  private(set) var hasPipelined = false
  var checksum: (patch: PatchRange, text: String)?
  /// What the last interruption hit, and how many bytes of it had arrived at the other side.
  private var interrupted: (patches: [PatchRange], arrived: Int64)?
  /// May content go along with the creation?
  var mayGoWithCreation = true

  mutating func take(_ patch: PatchRange) {
    hasPipelined = !patches.isEmpty
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
