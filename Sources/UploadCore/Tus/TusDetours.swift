/// What gets an upload past something in front of the server that refuses its requests, although the server takes others.
package struct TusDetours: Equatable, Sendable {
  /// Whether PATCH and DELETE are sent as POST with `X-HTTP-Method-Override`, for proxies that do not know them.
  package var overridesMethod = false
  /// Content before this offset is sent in short requests, because a filter refused a long one, in bytes; 0 if none did.
  package var splitEnd: Int64 = 0
}

/// Looks for them, each once.
struct TusDetourSearch: Sendable {
  private(set) var found: TusDetours
  /// The status with which PATCH was refused, until the same is answered as a POST. HEAD comes first: it shows that the
  /// credentials are valid, and where the server is.
  private(set) var refusal: Int?
  private var hasTriedPost = false
  /// Whether the server has stored content of a PATCH.
  private var hasStored = false
  /// The upload's path at the endpoint's origin, while it is asked for there.
  private(set) var moved: TargetURI?
  private var hasMoved = false
  /// Whether an earlier process has begun the upload, which may have expired since.
  private var isResumed: Bool
  /// Whether it is not where the server says that it is: no such host exists, or it is the endpoint's, at another port.
  private(set) var isMisplaced = false

  init(_ found: TusDetours, isResumed: Bool) {
    self.found = found
    self.isResumed = isResumed
  }

  /// The longest request from this offset, in bytes.
  func longestRequest(at offset: Int64) -> Int64 { offset < found.splitEnd ? Limits.chunkMultiple : Int64.max }

  /// Whether a refusal without proof is about the content, because earlier parts were accepted.
  func isAboutContent(_ status: Int, at offset: Int64) -> Bool {
    [400, 403, 406].contains(status) && hasStoredPatch(before: offset)
  }

  /// An earlier process may have sent as much with the creation.
  private func hasStoredPatch(before offset: Int64) -> Bool { hasStored || offset > Limits.creationUploadLength }

  // MARK: Events

  /// A PATCH was refused, perhaps not by the server.
  /// - Parameter isPinned: whether the user has set the length of requests.
  /// - Returns: whether there may be another way.
  mutating func leadAround(_ status: Int, _ patch: PatchRange, isPinned: Bool) -> Bool {
    if status == 405 || status == 501 || (status == 403 && !hasStoredPatch(before: patch.offset)) {
      guard !found.overridesMethod, !hasTriedPost else { return false }
      refusal = status
      return true
    }
    guard isAboutContent(status, at: patch.offset), !isPinned, patch.offset >= found.splitEnd,
      patch.length > Limits.chunkMultiple
    else { return false }
    found.splitEnd = patch.end
    return true
  }

  /// The POST was answered.
  mutating func endTrial(isTaken: Bool) {
    refusal = nil
    hasTriedPost = true
    found.overridesMethod = isTaken
  }

  /// Nobody responds where the server says that the upload is, or somebody else does. A server behind a proxy may not know its own
  /// address.
  /// - Parameter isUnknown: whether there is no such host.
  /// - Returns: whether it may be at the same path of the endpoint's origin.
  mutating func move(_ location: TargetURI, toOriginOf endpoint: TargetURI, isUnknown: Bool = false) -> Bool {
    guard !hasMoved, location.origin != endpoint.origin else { return false }
    let moved = location.moved(toOriginOf: endpoint)
    guard moved.text.utf8.count <= Limits.uriLength else { return false }
    self.moved = moved
    isMisplaced = isResumed && (isUnknown || location.host == endpoint.host)
    return true
  }

  /// The request for it has ended.
  /// - Parameter isAnswered: whether the answer counts. If not, it may be tried again.
  /// - Returns: what was asked for; nil if nothing was.
  mutating func takeMoved(isAnswered: Bool) -> TargetURI? {
    guard let moved else { return nil }
    self.moved = nil
    hasMoved = isAnswered
    return moved
  }

  /// The server has stored content of a PATCH.
  mutating func noteStored() { hasStored = true }

  /// Another upload begins. What the server takes stays true.
  mutating func restart() {
    found.splitEnd = 0
    hasStored = false
    moved = nil
    hasMoved = false
    isResumed = false
  }
}
