/// What the kernel has counted on a TCP connection since it was established (TCP_INFO). nil: this kernel does not count it.
package struct LinkCounts: Equatable, Sendable {
  /// Segments with content, whether sent for the first time or again (Linux 4.6).
  package var segments: Int64?
  /// Those that were sent again, and those that arrived twice, because nothing was lost (Linux 4.19).
  package var repeatedSegments: Int64?
  package var duplicateSegments: Int64?
  /// The present round trip, smoothed, and the shortest one (Linux 4.6); in microseconds.
  package var roundTripMicroseconds: Int64?
  package var leastRoundTripMicroseconds: Int64?
  /// How long there was content to send, and how long of that the receiver had no room for more (Linux 4.10); in microseconds.
  package var busyMicroseconds: Int64?
  package var windowLimitedMicroseconds: Int64?

  package init() {}

  /// What was counted since then; all of it, if that was another connection. Until a connection has lost its first packets, it sends
  /// faster than it can later.
  func since(_ earlier: LinkCounts) -> LinkCounts {
    guard let segments, let before = earlier.segments, segments >= before else { return self }
    func difference(_ now: Int64?, _ then: Int64?) -> Int64? { now.map { $0 - (then ?? 0) } }
    var counts = self
    counts.segments = segments - before
    counts.repeatedSegments = difference(repeatedSegments, earlier.repeatedSegments)
    counts.duplicateSegments = difference(duplicateSegments, earlier.duplicateSegments)
    counts.busyMicroseconds = difference(busyMicroseconds, earlier.busyMicroseconds)
    counts.windowLimitedMicroseconds = difference(windowLimitedMicroseconds, earlier.windowLimitedMicroseconds)
    return counts
  }

  /// Whether so many of the segments sent are too many to lose.
  static func isMuch(_ lost: Int64, of segments: Int64) -> Bool {
    lost >= Limits.linkLossEvidence && lost * 1000 >= segments * Limits.linkLossThousandths
  }

  /// Whether lost packets, and nothing else, set the rate, so that each further connection adds as much again. If the share p of the segments is
  /// lost, Reno and CUBIC keep about 1.2 / √p of them on the way (RFC 3649, 2). More are on the way with BBR, which takes no loss for
  /// congestion; fewer, if the sender or the server is slower. A longer round trip shows a queue, and that the link is full.
  package var showLimitByLoss: Bool {
    guard let segments, let repeatedSegments, let busyMicroseconds, let roundTripMicroseconds,
      let leastRoundTripMicroseconds, segments > 0, busyMicroseconds > 0,
      segments < 1 << 32, roundTripMicroseconds < 1 << 26
    else { return false }
    let lost = repeatedSegments - (duplicateSegments ?? 0)
    guard LinkCounts.isMuch(lost, of: segments),
      roundTripMicroseconds <= 2 * leastRoundTripMicroseconds + Limits.queueMicroseconds
    else { return false }
    // On the way, in sixteenths of a segment. From 256 segments on, no loss that counts here has limited them.
    let onTheWay = segments * 16 * roundTripMicroseconds / busyMicroseconds
    guard onTheWay < 256 * 16 else { return false }
    // The square of 1.2 is 1.44: a quarter of that, or less, and three times as much are something else.
    let square = onTheWay * onTheWay * lost
    return square >= segments * 256 / 3 && square <= segments * 256 * 4
  }

  /// How long content of this length, in bytes, takes at the rate so far, in milliseconds; 0 if that is not known.
  func milliseconds(for length: Int64) -> Int64 {
    guard let segments, segments > 0, let busyMicroseconds else { return 0 }
    return length / Limits.segmentLength * (busyMicroseconds / 1000) / segments
  }
}

extension Limits {
  /// The share of lost segments from which a link loses too much, in thousandths, and how many they must be at least. With one of 200
  /// lost, cubic reaches a few megabits per second over 50 ms, whatever the link.
  static let linkLossThousandths: Int64 = 5
  static let linkLossEvidence: Int64 = 5
  /// A round trip may be longer than twice the shortest one by this, without a queue: radio links need it. In microseconds.
  static let queueMicroseconds: Int64 = 10_000
  /// What a TCP segment carries on most links, in bytes.
  static let segmentLength: Int64 = 1400
}
