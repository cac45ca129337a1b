/// The recordings that were found and are not delivered, at most ``Limits/watchedCandidates``. Each look at a file asks whether it is one
/// of them, so a hash of each path is beside the others: comparing thousands of paths took longer than everything else.
struct CandidateList: RandomAccessCollection, MutableCollection, Sendable {
  private var candidates: [WatchCandidate] = []
  private var hashes: [UInt64] = []

  var startIndex: Int { 0 }
  var endIndex: Int { candidates.count }

  subscript(index: Int) -> WatchCandidate {
    get { candidates[index] }
    _modify { yield &candidates[index] }
  }

  func position(of path: [UInt8]) -> Int? {
    let hash = WatchedFile.key(path, [])
    return hashes.indices.first { hashes[$0] == hash && candidates[$0].path == path }
  }

  mutating func append(_ candidate: WatchCandidate) {
    candidates.append(candidate)
    hashes.append(WatchedFile.key(candidate.path, []))
  }

  @discardableResult
  mutating func remove(at index: Int) -> WatchCandidate {
    hashes.remove(at: index)
    return candidates.remove(at: index)
  }

  mutating func removeAll(where isRemoved: (WatchCandidate) -> Bool) {
    for index in candidates.indices.reversed() where isRemoved(candidates[index]) { remove(at: index) }
  }
}
