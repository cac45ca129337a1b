/// The PATCH requests in flight, and the last interrupted ones. It outlives the state in which they were sent: the server's offset, which
/// arrives in a later one, shows how much of them was kept.
struct TusInFlight: Sendable {
  /// Those without a response, oldest first.
  var patches: [PatchRange] = []
  /// Whether the last one was pipelined.
  private(set) var hasPipelined = false
  /// The checksum of the next request's content, in Base64.
  var nextChecksum: (patch: PatchRange, text: String)?
  /// The requests of the last interruption, how many of their bytes had arrived at the peer, and how long the oldest was sent if the
  /// peer stopped it.
  private var interrupted: (patches: [PatchRange], arrived: Int64, cutAfter: Int64?)?
  /// Whether content may be sent with the creation.
  var mayBeSentWithCreation = true

  mutating func take(_ patch: PatchRange) {
    hasPipelined = !patches.isEmpty
    patches.append(patch)
  }

  mutating func interrupt(arrived: Int64, cutAfterMilliseconds: Int64?) {
    interrupted = (patches, arrived, cutAfterMilliseconds)
    patches = []
    nextChecksum = nil
  }

  mutating func clear() {
    patches = []
    interrupted = nil
    nextChecksum = nil
  }

  /// Compares the server's offset with the interrupted requests, and adapts the sizing.
  /// - Returns: whether the server has kept a fair part of what has arrived.
  mutating func learn(from offset: Int64, _ sizing: inout ChunkSizing) -> Bool {
    guard let interrupted else { return true }
    self.interrupted = nil
    var arrived = interrupted.arrived
    for patch in interrupted.patches {
      if offset < patch.end || patch == interrupted.patches.last {
        let kept = min(max(0, offset - patch.offset), patch.length)
        sizing.interrupted(
          kept: kept, arrived: arrived, requestLength: patch.length, cutAfterMilliseconds: interrupted.cutAfter)
        return arrived < patch.length || patch.isFair(kept)
      }
      arrived = max(0, arrived - patch.length)
    }
    return true
  }
}
