/// Divides a rate among uploads: start-time fair queueing (Goyal, Vin, Cheng, 1996) over one token bucket.
///
/// Each share has a position: the bytes it has sent, starting at the position of the others when it joined. The share that is
/// furthest behind has the turn and may send a quantum. A share takes part from when it asks until it rests, so that unused
/// bandwidth goes to the others, and a pause is not made up for. Writes are as large and as rare as for one upload.
package struct FairShares: Sendable {
  private struct Share {
    /// In bytes.
    var position: Int64
    /// The rest of its turn, in bytes; zero or less if it has none.
    var turn: Int64 = 0
    /// Until when it takes part without asking again, in milliseconds; nil while it rests.
    var expectedUntil: Int64?
    /// Whether its upload has not ended.
    var isTaken = true
  }

  private var bucket: TokenBucket
  private var quantum: Int64
  private var shares: [Share] = []
  /// The position where the last turn started, in bytes: no participating share is further behind.
  private var start: Int64 = 0

  /// - Parameter bytesPerSecond: for all shares together, greater than zero, and at most `Limits.rate`.
  package init(bytesPerSecond: Int64) {
    bucket = TokenBucket(bytesPerSecond: bytesPerSecond)
    quantum = FairShares.quantum(bytesPerSecond)
  }

  private static func quantum(_ bytesPerSecond: Int64) -> Int64 {
    max(1, bytesPerSecond * Limits.rateQuantumMilliseconds / 1000)
  }

  /// Changes the rate. The shares keep their places.
  package mutating func change(bytesPerSecond: Int64) {
    bucket = TokenBucket(bytesPerSecond: bytesPerSecond)
    quantum = FairShares.quantum(bytesPerSecond)
    // A turn of the old rate could take minutes.
    for number in shares.indices { shares[number].turn = min(shares[number].turn, quantum) }
  }

  /// Adds a share, which rests at first.
  /// - Returns: its number.
  package mutating func join() -> Int {
    let share = Share(position: start)
    if let free = shares.firstIndex(where: { !$0.isTaken }) {
      shares[free] = share
      return free
    }
    shares.append(share)
    return shares.count - 1
  }

  /// Removes a share. Its number may be reused.
  package mutating func leave(_ number: Int) {
    rest(number)
    shares[number].isTaken = false
  }

  /// The share does not take part until it asks for an allowance again, because its connection is blocked or it has nothing to
  /// send.
  package mutating func rest(_ number: Int) {
    shares[number].expectedUntil = nil
    shares[number].turn = 0
  }

  /// The number of bytes that the share may write now; zero until it has the turn and there are enough for a write.
  package mutating func allowance(of number: Int, nowMilliseconds now: Int64) -> Int {
    var share = shares[number]
    if !takesPart(share, now) {
      share.position = max(share.position, start)
      share.turn = 0
    }
    share.expectedUntil = now + Limits.rateAbsenceMilliseconds
    shares[number] = share
    let total = bucket.allowance(nowMilliseconds: now)
    guard total > 0 else { return 0 }
    let others = lowestPosition(besides: number, now)
    if share.turn <= 0 || others == nil {
      guard share.position <= others ?? .max else { return 0 }
      share.turn = others == nil ? Int64(total) : quantum
      start = max(start, share.position)
      shares[number] = share
    }
    return Int(clamping: min(Int64(total), share.turn))
  }

  /// The share has written bytes.
  package mutating func consume(_ count: Int, of number: Int) {
    bucket.consume(count)
    shares[number].position += Int64(count)
    shares[number].turn -= Int64(count)
  }

  /// The time of the share's next useful write, in milliseconds. It is never far away, because other shares can bring it
  /// forward.
  package mutating func nextMilliseconds(of number: Int, nowMilliseconds now: Int64) -> Int64 {
    let share = shares[number]
    let open = bucket.nextMilliseconds(nowMilliseconds: now)
    let missing = share.turn > 0 ? 0 : lead(of: share, now)
    guard missing > 0 else { return expect(number, at: open) }
    let turn = bucket.nextMilliseconds(nowMilliseconds: now, after: missing)
    return expect(number, at: min(max(turn, open, now + 1), max(open, now) + Limits.rateTurnMilliseconds))
  }

  /// Records when a participating share will ask again.
  private mutating func expect(_ number: Int, at time: Int64) -> Int64 {
    if shares[number].expectedUntil != nil { shares[number].expectedUntil = time + Limits.rateAbsenceMilliseconds }
    return time
  }

  /// Whether it waits for its turn or uses it. A share that does not ask in time loses its turn.
  private func takesPart(_ share: Share, _ now: Int64) -> Bool { share.expectedUntil.map { now <= $0 } ?? false }

  /// - Returns: nil if no other share takes part.
  private func lowestPosition(besides number: Int, _ now: Int64) -> Int64? {
    var lowest: Int64?
    for (other, share) in shares.enumerated() where other != number && takesPart(share, now) {
      lowest = min(lowest ?? .max, share.position)
    }
    return lowest
  }

  /// How many bytes the shares behind this one may send before it has the turn.
  private func lead(of share: Share, _ now: Int64) -> Int64 {
    var lead: Int64 = 0
    for other in shares where takesPart(other, now) { lead += max(0, share.position - other.position) }
    return lead
  }
}

/// Spreads bytes evenly over time: a token bucket that fills at the rate and holds up to a fifth of a second.
package struct TokenBucket: Sendable {
  private let bytesPerSecond: Int64
  /// What may be sent now, in thousandths of a byte, so that slow rates lose nothing to rounding.
  private var milliBytes: Int64 = 0
  private var filledAt: Int64?

  /// - Parameter bytesPerSecond: greater than zero, and at most `Limits.rate`.
  package init(bytesPerSecond: Int64) {
    precondition(bytesPerSecond > 0 && bytesPerSecond <= Limits.rate)
    self.bytesPerSecond = bytesPerSecond
  }

  /// The number of bytes that may be written now; zero until there are enough for a write.
  package mutating func allowance(nowMilliseconds now: Int64) -> Int {
    let elapsed = now - (filledAt ?? now)
    if elapsed > 0 {
      // At the slowest rates, less than a byte accumulates in that time.
      let most = max(bytesPerSecond * Limits.rateBurstMilliseconds, quantum)
      milliBytes = min(most, milliBytes + bytesPerSecond * min(elapsed, 1000))
    }
    filledAt = now
    return milliBytes >= quantum ? Int(clamping: milliBytes / 1000) : 0
  }

  /// Bytes have been written.
  package mutating func consume(_ count: Int) { milliBytes -= Int64(count) * 1000 }

  /// The time of the next useful write, in milliseconds.
  /// - Parameter bytes: how many bytes are written before it.
  package func nextMilliseconds(nowMilliseconds now: Int64, after bytes: Int64 = 0) -> Int64 {
    let missing = quantum + bytes * 1000 - milliBytes
    return missing <= 0 ? now : now + (missing + bytesPerSecond - 1) / bytesPerSecond
  }

  /// What accumulates in a twentieth of a second, but at least one byte.
  private var quantum: Int64 { max(1000, bytesPerSecond * Limits.rateQuantumMilliseconds) }
}

extension Limits {
  /// The longest burst of a rate limit, in milliseconds of its rate.
  static let rateBurstMilliseconds: Int64 = 200
  /// How much a rate limit accumulates before the next write, in milliseconds of its rate.
  static let rateQuantumMilliseconds: Int64 = 50
  /// How long an upload that could write waits before it checks whether it has the turn, in milliseconds.
  static let rateTurnMilliseconds: Int64 = 100
  /// How late an upload may come before it loses its turn, in milliseconds.
  static let rateAbsenceMilliseconds: Int64 = 1000
}
