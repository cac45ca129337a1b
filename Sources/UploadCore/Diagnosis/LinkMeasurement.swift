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
}

/// What a link did while content was sent over it.
package struct LinkMeasurement: Sendable {
  package struct Reading: Sendable {
    let milliseconds: Int64
    /// How much of the content had arrived, in bytes.
    let arrivedLength: Int64
    let counts: LinkCounts

    package init(milliseconds: Int64, arrivedLength: Int64, _ counts: LinkCounts) {
      self.milliseconds = milliseconds
      self.arrivedLength = arrivedLength
      self.counts = counts
    }
  }

  private let first: Reading
  /// Since TCP has had time to find the link's rate, for which it sends more than the link takes.
  private var settled: Reading?
  private var last: Reading
  /// The congestion control in use; nil if the kernel does not say.
  let congestionControl: String?

  /// - Parameter first: before the first byte.
  package init(_ first: Reading, congestionControl: String?) {
    self.first = first
    last = first
    self.congestionControl = congestionControl
  }

  package mutating func add(_ reading: Reading) {
    last = reading
    if settled == nil, reading.milliseconds - first.milliseconds >= Limits.linkSettlingMilliseconds {
      settled = reading
    }
  }

  /// Without the time in which TCP finds the rate, if as much is left.
  private var start: Reading {
    guard let settled, last.milliseconds - settled.milliseconds >= Limits.linkSettlingMilliseconds else { return first }
    return settled
  }

  // MARK: Results

  var milliseconds: Int64 { max(1, last.milliseconds - start.milliseconds) }
  /// In bytes.
  var arrivedLength: Int64 { last.arrivedLength - start.arrivedLength }
  /// Whether anything has arrived since the first byte was sent.
  var isAlive: Bool { last.arrivedLength > 0 }

  /// Segments sent, and those of them that were lost; nil if the kernel does not count them.
  var segments: (all: Int64, lost: Int64)? {
    guard let all = growth(of: { $0.segments }), all > 0, let repeated = growth(of: { $0.repeatedSegments }) else {
      return nil
    }
    return (all, max(0, repeated - (growth(of: { $0.duplicateSegments }) ?? 0)))
  }

  /// The round trip of the idle link and of the busy one, in microseconds.
  var roundTrip: (idle: Int64, loaded: Int64)? {
    guard let idle = last.counts.leastRoundTripMicroseconds, let loaded = last.counts.roundTripMicroseconds else {
      return nil
    }
    return (idle, loaded)
  }

  /// For how much of the time the receiver had no room, in percent; nil if the kernel does not count it.
  var windowLimitedPercent: Int64? {
    guard let busy = growth(of: { $0.busyMicroseconds }), busy > 0,
      let limited = growth(of: { $0.windowLimitedMicroseconds })
    else { return nil }
    return min(100, limited * 100 / busy)
  }

  private func growth(of count: (LinkCounts) -> Int64?) -> Int64? {
    guard let before = count(start.counts), let after = count(last.counts) else { return nil }
    return after - before
  }
}
