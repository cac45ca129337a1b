/// Over how many connections the parts of one recording are sent, if the server joins parts.
public enum ConnectionLimit: Equatable, Sendable {
  /// Up to four, each of them as long as it makes the upload faster; one to tus servers, which copy the recording when they join its parts,
  /// unless lost packets make it slow.
  case automatic
  /// This many, 1 to 16.
  case count(Int64)

  /// nil if nobody has said how many.
  package var number: Int? { if case .count(let count) = self { Int(count) } else { nil } }

  /// How many there may be.
  package var most: Int { number ?? Limits.automaticConnectionCount }
}

/// Decides how many connections are worth it. A link that loses packets, or a server that is slower than the line, gives each connection a
/// part of what they get together; a link that is full gives them nothing.
package struct ConnectionCount: Sendable {
  /// What is measured: the bytes that arrive in a time, after the newest connection has got up to speed.
  private struct Measurement: Sendable {
    let startMilliseconds: Int64
    let delivered: Int64
  }

  private let limit: ConnectionLimit
  package private(set) var wanted: Int
  private var measurement: Measurement?
  /// What one connection less has delivered, in bytes per second; nil if that was not measured.
  private var rateWithLess: Int64?
  /// The newest one was of no use. Until then, there is no other one; on the clock of ``update(delivered:over:nowMilliseconds:)``.
  private var heldUntilMilliseconds: Int64 = .min
  /// How many further ones have failed since one of them has sent a part.
  private var failureCount = 0
  /// How much the server had when one of them failed, in bytes.
  private var deliveredAtFailure: Int64 = -1
  /// Because of failures, there is no further one until then.
  private var refusedUntilMilliseconds: Int64 = .min
  private var hasSentPart = false

  package init(_ limit: ConnectionLimit) {
    self.limit = limit
    wanted = limit.number ?? 1
  }

  /// Lost packets are what makes it slow, so that each connection adds as much again: that needs no trial.
  package mutating func expectGain() { wanted = limit.most }

  /// - Parameters:
  ///   - delivered: what has arrived of the recording, in bytes.
  ///   - count: how many connections send.
  package mutating func update(delivered: Int64, over count: Int, nowMilliseconds now: Int64) {
    guard case .automatic = limit, now >= heldUntilMilliseconds else { return }
    // Some of it was lost, or there are not as many as there should be.
    guard let start = measurement, count == wanted, delivered >= start.delivered else {
      measurement = Measurement(
        startMilliseconds: now + (wanted > 1 ? Limits.connectionGrowthMilliseconds : 0), delivered: delivered)
      return
    }
    let milliseconds = now - start.startMilliseconds
    if milliseconds <= 0 {
      measurement = Measurement(startMilliseconds: start.startMilliseconds, delivered: delivered)
    } else if milliseconds >= Limits.connectionTrialMilliseconds {
      judge(rate: (delivered - start.delivered) * 1000 / milliseconds, now)
      measurement = nil
    }
  }

  /// Whether there may be one more. The second one first shows that the server takes it: one that refuses it, or its password, is not
  /// asked by all of them.
  /// - Parameters:
  ///   - count: how many there are.
  ///   - arrived: what has arrived of the parts that all but the first one send, in bytes.
  package func mayAdd(to count: Int, arrived: Int64, nowMilliseconds now: Int64) -> Bool {
    count < wanted && now >= refusedUntilMilliseconds
      && (count == 1 || hasSentPart || arrived >= Limits.helperEvidence)
  }

  /// Whether a further one may send another part. After a failure, the server must have taken something before.
  /// - Parameter delivered: what the server has, in bytes.
  package func mayLend(delivered: Int64) -> Bool { delivered > deliveredAtFailure }

  /// A further one could not send its part.
  package mutating func noteFailure(delivered: Int64, nowMilliseconds now: Int64) {
    deliveredAtFailure = delivered
    failureCount += 1
    hasSentPart = false
    if failureCount >= Limits.helperFailures { refusedUntilMilliseconds = now + Limits.connectionPauseMilliseconds }
  }

  /// A further one has sent a part.
  package mutating func noteSentPart() { (failureCount, hasSentPart) = (0, true) }

  /// - Parameter rate: what arrives over as many connections as there are, in bytes per second.
  private mutating func judge(rate: Int64, _ now: Int64) {
    // The network is down, which says nothing.
    if rate == 0 { return }
    if let less = rateWithLess, rate < less + less / Limits.connectionGain {
      wanted -= 1
      rateWithLess = nil
      heldUntilMilliseconds = now + Limits.connectionPauseMilliseconds
    } else if wanted < Limits.automaticConnectionCount {
      wanted += 1
      rateWithLess = rate
    } else {
      rateWithLess = nil
      heldUntilMilliseconds = now + Limits.connectionPauseMilliseconds
    }
  }
}

extension Limits {
  /// How long a new connection gets up to speed before it is judged, and then for how long, in milliseconds.
  static let connectionGrowthMilliseconds: Int64 = 1000
  static let connectionTrialMilliseconds: Int64 = 3000
  /// It stays if it adds this part of what there was: an eighth.
  static let connectionGain: Int64 = 8
  /// How long nothing is tried after one was of no use, in milliseconds.
  package static let connectionPauseMilliseconds: Int64 = 60_000
  /// How many further connections fail, one after the other, before that pause.
  static let helperFailures = 2
  /// What the server has taken over the first further connection before there is another one, in bytes.
  package static let helperEvidence: Int64 = 256 << 10
}
