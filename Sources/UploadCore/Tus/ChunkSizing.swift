/// Chooses the length of the next PATCH request.
///
/// One long request is best for a server that keeps partial requests (tusd on its own). Behind a proxy that spools whole
/// requests (ModSecurity), an interrupted request is lost, and some proxies refuse more than 100 MB (Cloudflare). The offset
/// after an interrupted request reveals the kind of server.
///
/// A proxy with a time limit for whole requests needs shorter ones on a slow line.
///
/// All lengths but the last are multiples of ``Limits/chunkMultiple``, unless the user has set one or the server refuses even
/// that.
package struct ChunkSizing: Equatable, Sendable {
  private let pinned: Int64?
  /// Whether the server has shown that it keeps partial requests.
  private var keepsParts = false
  private var length = Limits.chunkStartLength
  /// Whether the next request is to show soon how the link is.
  private var triesLink = false
  /// Halved each time the server refuses a request as too large.
  private var ceiling = Int64.max
  private var withoutInterruption: Int64 = 0
  private var isDistant = false
  private var pipeliningFailures = 0
  /// Whether the server is known to have locked the upload.
  private var isLocked = false
  private var requestTime = RequestTime()
  /// Whether requests have reached that time, and do not get shorter.
  private var isOutOfTime = false

  /// - Parameter pinned: the length set by the user, in bytes; nil to adapt.
  package init(pinned: Int64? = nil) { self.pinned = pinned }

  /// Whether to pipeline a second request (RFC 9112, 9.3.2). Without it, a long-distance line is idle while the response
  /// travels back. Both requests then share the length of one.
  package var pipelines: Bool {
    pinned == nil && isDistant && !isLocked && !triesLink && pipeliningFailures < Limits.pipeliningFailureCount
      && !keepsParts && length == Limits.chunkStartLength
  }

  /// The length of the next request if `remaining` bytes are left, in bytes.
  package func next(remaining: Int64) -> Int64 {
    // A length that is set stays: the server may take no other.
    if let pinned { return min(pinned, ceiling, remaining) }
    // Content sent to a locked upload is wasted.
    if isLocked { return min(Limits.chunkMultiple, ceiling, remaining) }
    let wish = keepsParts ? remaining : pipelines ? length / 2 : length
    return min(wish, triesLink ? Limits.chunkTrialLength : .max, ceiling, remaining)
  }

  // MARK: Events

  /// What the kernel counts while the next request is sent decides how the rest is sent.
  mutating func tryLink() { triesLink = true }

  /// A response took this long.
  package mutating func answered(afterMilliseconds milliseconds: Int64) {
    isDistant = milliseconds >= Limits.pipelineFromMilliseconds
  }

  /// The server has stored a whole request.
  package mutating func stored(_ count: Int64) {
    isLocked = false
    isOutOfTime = false
    triesLink = false
    withoutInterruption += count
    if length < Limits.chunkStartLength {
      // If the longer ones are stopped again, this costs one of many.
      guard withoutInterruption >= length * Limits.chunkRecoveryCount else { return }
      length = min(length * 2, Limits.chunkStartLength)
      withoutInterruption = 0
    } else if withoutInterruption >= Limits.chunkGrowsAfter {
      length = min(length * 2, Limits.chunkMaximumLength)
    }
  }

  package mutating func locked() { isLocked = true }

  /// A request was interrupted.
  /// - Parameters:
  ///   - kept: how much of it the server has kept.
  ///   - arrived: how much of it had arrived at the server, or at a proxy, at least.
  ///   - requestLength: the length of the request.
  ///   - cutAfterMilliseconds: how long it was sent, if the peer stopped it while its content was moving.
  package mutating func interrupted(
    kept: Int64, arrived: Int64, requestLength: Int64, cutAfterMilliseconds: Int64? = nil
  ) {
    withoutInterruption = 0
    length = min(length, Limits.chunkStartLength)
    if kept == 0, requestTime.wasReached(after: cutAfterMilliseconds) { shorten(requestLength) }
    // If all of it had arrived, whoever was to pass it on may have ended in the middle of that.
    if kept > 0, kept < requestLength, arrived < requestLength {
      keepsParts = true
    } else if kept == 0, arrived >= Limits.chunkSpoolEvidence {
      keepsParts = false
    }
  }

  private mutating func shorten(_ requestLength: Int64) {
    guard pinned == nil, requestLength > Limits.chunkMultiple else {
      isOutOfTime = true
      return
    }
    let half = min(length, requestLength) / 2
    length = max(half - half % Limits.chunkMultiple, Limits.chunkMultiple)
  }

  /// Whether a request that was stopped so late, in milliseconds, has reached a time limit that no shorter one avoids.
  package func isOutOfTime(after milliseconds: Int64?) -> Bool {
    isOutOfTime && requestTime.isReached(after: milliseconds)
  }

  /// A pipelined request was answered, so pipelining works.
  mutating func pipeliningSucceeded() { pipeliningFailures = 0 }

  /// The connection ended with two requests in flight. An intermediary may not support it.
  mutating func pipeliningFailed() { pipeliningFailures += 1 }

  /// From now on, requests wait for earlier responses.
  mutating func forbidPipelining() { pipeliningFailures = Limits.pipeliningFailureCount }

  /// The server called a request too large (413).
  /// - Returns: false if a shorter one would not help.
  package mutating func refused(requestLength: Int64) -> Bool {
    guard requestLength > Limits.chunkMinimumLength else { return false }
    let half = requestLength / 2
    let rounded = pinned == nil && half > Limits.chunkMultiple ? half - half % Limits.chunkMultiple : half
    ceiling = max(rounded, Limits.chunkMinimumLength)
    return true
  }
}

extension Limits {
  /// The first PATCH requests, in bytes: what an interruption can cost until the server is known.
  static let chunkStartLength: Int64 = 8 << 20
  /// Requests that are to show how the link is, in bytes. Of the 1500 packets of one, a link that loses too much (``linkLossThousandths``)
  /// loses seven.
  static let chunkTrialLength: Int64 = 2 << 20
  /// How large a recording must be for them, in bytes: it has a part for each of four connections.
  static let linkTrialFrom: Int64 = 32 << 20
  /// How much the server has before the last of them, at most, in bytes.
  static let linkTrialEnd: Int64 = 3 << 20
  /// PATCH requests grow after this many bytes without an interruption.
  static let chunkGrowsAfter: Int64 = 256 << 20
  /// A PATCH of this length or less is not halved, even if it is too large for the server; in bytes. Less than ``chunkMultiple``,
  /// because a server that refuses so little has a limit of its own.
  static let chunkMinimumLength: Int64 = 64 << 10
  /// Requests that a time limit has made shorter grow again after this many.
  static let chunkRecoveryCount: Int64 = 16
  /// PATCH requests are pipelined if a response takes at least this long, in milliseconds.
  static let pipelineFromMilliseconds: Int64 = 20
  /// Pipelining stops after this many connections that ended with two requests in flight.
  static let pipeliningFailureCount = 2
}
