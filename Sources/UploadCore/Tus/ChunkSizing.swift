/// How long the next PATCH request should be.
///
/// A server that stores what it gets (tusd on its own) is best served by one long request. Behind a proxy that spools whole
/// requests (ModSecurity) an interrupted request is lost, and some proxies refuse more than 100 MB (Cloudflare). Which kind
/// it is shows when a request is interrupted: in the offset that the server then tells.
package struct ChunkSizing: Equatable, Sendable {
  private let pinned: Int64?
  /// Has the server shown that it keeps what it got of an interrupted request?
  private var keepsParts = false
  private var length = Limits.chunkStartLength
  /// Halved each time that the server calls a request too large.
  private var ceiling = Int64.max
  private var withoutInterruption: Int64 = 0
  private var isDistant = false
  private var pipeliningFailures = 0
  /// Does the server hold the upload for another request, as far as is known?
  private var isLocked = false

  /// - Parameter pinned: the user's wish, in bytes.
  package init(pinned: Int64? = nil) { self.pinned = pinned }

  /// Can a second request be sent before the first one's answer has come (RFC 9112, 9.3.2)? Over a distance the line is
  /// idle otherwise while the answer travels. Both together then have the length of one.
  package var pipelines: Bool {
    pinned == nil && isDistant && !isLocked && pipeliningFailures < Limits.pipeliningFailureCount && !keepsParts
      && length == Limits.chunkStartLength
  }

  /// The length of the next request, in bytes, where `remaining` are left.
  package func next(remaining: Int64) -> Int64 {
    // Content for a locked upload is sent in vain.
    if isLocked, pinned == nil { return min(Limits.chunkMinimumLength, ceiling, remaining) }
    let wish = pinned ?? (keepsParts ? remaining : pipelines ? length / 2 : length)
    return min(wish, ceiling, remaining)
  }

  // MARK: What happened

  /// An answer took so long.
  package mutating func answered(afterMilliseconds milliseconds: Int64) {
    isDistant = milliseconds >= Limits.pipelineFromMilliseconds
  }

  /// The server has stored a whole request.
  package mutating func stored(_ count: Int64) {
    isLocked = false
    withoutInterruption += count
    if withoutInterruption >= Limits.chunkGrowsAfter { length = min(length * 2, Limits.chunkMaximumLength) }
  }

  /// The server holds the upload for another request.
  package mutating func locked() { isLocked = true }

  /// A request was interrupted.
  /// - Parameters:
  ///   - kept: how much of it the server has all the same.
  ///   - sent: how much of it had arrived at the server, or at a proxy, at least.
  ///   - requestLength: how long the request was.
  package mutating func interrupted(kept: Int64, sent: Int64, requestLength: Int64) {
    withoutInterruption = 0
    length = Limits.chunkStartLength
    if kept > 0, kept < requestLength {
      keepsParts = true
    } else if kept == 0, sent >= Limits.chunkSpoolEvidence {
      keepsParts = false
    }
  }

  /// A request was answered that was sent before the one before it was answered: that works here.
  package mutating func pipeliningSucceeded() { pipeliningFailures = 0 }

  /// The connection ended when a second request was under way: perhaps something between does not like it.
  package mutating func pipeliningFailed() { pipeliningFailures += 1 }

  /// Requests wait for the answers to those before them.
  package mutating func forbidPipelining() { pipeliningFailures = Limits.pipeliningFailureCount }

  /// The server called a request too large (413).
  /// - Returns: false if a shorter one makes no sense.
  package mutating func refused(requestLength: Int64) -> Bool {
    guard requestLength > Limits.chunkMinimumLength else { return false }
    ceiling = max(requestLength / 2, Limits.chunkMinimumLength)
    return true
  }
}
