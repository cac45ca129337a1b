/// What a measurement says about the link.
package enum LinkChecks {
  /// - Parameters:
  ///   - peer: the server's address.
  ///   - proxy: the one that requests go through, where the link ends; nil for none.
  ///   - isNarrow: whether it was measured with short segments, because nothing has arrived without.
  package static func finding(
    _ measurement: LinkMeasurement, to peer: String, proxy: String?, isNarrow: Bool
  ) -> Finding {
    let hop = proxy.map { "the proxy " + $0 } ?? peer
    guard measurement.isAlive else {
      let error = UploadError.timedOut(.sending, peer: hop, limitMilliseconds: measurement.milliseconds)
      return Finding(.link, .failure(error))
    }
    var text = rate(measurement, hop)
    if let (idle, loaded) = measurement.roundTrip {
      text += "; round trip " + time(idle) + ", " + time(loaded) + " under load"
    }
    text += "; " + share(measurement.segments)
    var remedies: [String] = []
    if isNarrow {
      text +=
        ", but only in short packets: longer ones than " + String(Limits.narrowPacketLength)
        + " bytes do not arrive"
      remedies.append(
        "The path MTU is smaller than the routers on the way say, as behind some tunnels. Uploads stall once, then use short"
          + " packets. Lower the MTU of this machine's interface, or limit the MSS on the router"
          + (AddressChecks.isIPv6(peer) ? ", or use --ipv4." : "."))
    }
    if let (idle, loaded) = measurement.roundTrip, isQueue(idle, loaded) {
      remedies.append(
        "Everybody on this link waits in a queue of " + time(loaded - idle) + " while it is full. --limit-rate "
          + limit(below: measurement) + ", a little less than it takes, keeps the queue short.")
    }
    // A receiver without room drops segments, too.
    if let (all, lost) = measurement.segments, LinkCounts.isMuch(lost, of: all), !isLimitedByReceiver(measurement) {
      remedies.append(remedyOfLoss(measurement.congestionControl))
    }
    if remedies.isEmpty { return Finding(.link, .ok(text)) }
    return Finding(.link, .warning(text + ".", remedy: remedies.joined(separator: " ")))
  }

  /// - Parameters:
  ///   - result: the response to a form that lacks its label, so that GigHive stores nothing; or that form was cut short.
  ///   - length: that of the file in it, in bytes.
  package static func form(_ result: ProbeResult, length: Int64, proxy: String?, isNarrow: Bool) -> Finding {
    let isMeasured =
      result.answer.map { result.shown?.software == .gigHive && ($0.isSuccess || [400, 409].contains($0.status)) }
      ?? (result.error == nil)
    guard isMeasured, let link = result.link else {
      let error = result.error ?? .unconfirmed(status: result.answer?.status ?? 0)
      let about = "a form of " + SizeText.short(length) + ", after " + SizeText.exact(result.arrivedLength)
      return Finding(.link, .failure(error, about: about, answer: result.shown))
    }
    return finding(link, to: result.peer ?? "", proxy: proxy, isNarrow: isNarrow)
  }

  /// Whether nothing of what was sent has arrived, although the connection stands: perhaps only short packets pass.
  package static func mayBeNarrow(_ result: ProbeResult) -> Bool {
    guard let link = result.link, !link.isAlive, result.answer == nil else { return false }
    switch result.error {
    case nil, .timedOut: return true
    // The server waited, and got nothing.
    case .connectionLost: return link.milliseconds >= Limits.linkSettlingMilliseconds
    default: return false
    }
  }

  /// The length to try after a refusal of this one, in bytes; nil if it was not refused, or is short already.
  package static func shorter(than length: Int64, after result: ProbeResult) -> Int64? {
    guard result.answer?.status == 413, length / 2 >= Limits.announcedFormLengths[0] else { return nil }
    return length / 2
  }

  // MARK: Judgement

  private static func isLimitedByReceiver(_ measurement: LinkMeasurement) -> Bool {
    measurement.windowLimitedPercent.map { $0 >= Limits.linkWindowPercent } ?? false
  }

  private static func isQueue(_ idle: Int64, _ loaded: Int64) -> Bool {
    loaded >= idle * Limits.linkDelayFactor && loaded - idle >= Limits.linkDelayMicroseconds
  }

  private static func remedyOfLoss(_ congestionControl: String?) -> String {
    let cause = "Packets are lost on the way: use a cable, or find a better place for the antenna."
    guard let congestionControl else { return cause }
    if congestionControl == "bbr" { return cause + " BBR, which copes best with loss, is in use already." }
    return cause + " " + PrintableText.line(congestionControl)
      + " takes every loss for congestion; with BBR (congestion = bbr) an upload is faster: see docs/networks.md."
  }

  // MARK: Text

  /// "the link to 192.0.2.7:443 takes 11.2 MB/s (89.6 MB in 8.0 s)"
  private static func rate(_ measurement: LinkMeasurement, _ hop: String) -> String {
    let rate = SizeText.rate(bytes: measurement.arrivedLength, milliseconds: measurement.milliseconds)
    let amount =
      " takes " + rate + " (" + SizeText.short(measurement.arrivedLength) + " in "
      + time(measurement.milliseconds * 1000) + ")"
    guard let percent = measurement.windowLimitedPercent, isLimitedByReceiver(measurement) else {
      return "the link to " + hop + amount
    }
    return hop + amount + ", and the link could take more: it had no room for " + String(percent) + " % of the time"
  }

  /// "under 0.1 ms", "0.2 ms", "31 ms", "8.0 s"
  private static func time(_ microseconds: Int64) -> String {
    let tenths = (microseconds + 50) / 100
    if tenths == 0 { return "under 0.1 ms" }
    if tenths < 100 { return String(tenths / 10) + "." + String(tenths % 10) + " ms" }
    let milliseconds = (microseconds + 500) / 1000
    if milliseconds < 1000 { return String(milliseconds) + " ms" }
    let seconds = (milliseconds + 50) / 100
    return String(seconds / 10) + "." + String(seconds % 10) + " s"
  }

  /// "0.02 % was lost"
  private static func share(_ segments: (all: Int64, lost: Int64)?) -> String {
    guard let (all, lost) = segments else { return "what was lost is not known: this kernel does not count it" }
    if lost == 0 { return "nothing was lost" }
    let hundredths = (lost * 10_000 + all / 2) / all
    if hundredths == 0 { return "less than 0.01 % was lost" }
    let rest = hundredths % 100
    return String(hundredths / 100) + "." + (rest < 10 ? "0" : "") + String(rest) + " % was lost"
  }

  /// Nine tenths of the rate, in two digits that `--limit-rate` understands: "10M".
  private static func limit(below measurement: LinkMeasurement) -> String {
    let rate = max(1, measurement.arrivedLength * 900 / measurement.milliseconds)
    var unit: Int64 = 1
    while rate / unit >= 100 { unit *= 10 }
    let rounded = rate / unit * unit
    if rounded % 1_000_000 == 0 { return String(rounded / 1_000_000) + "M" }
    return rounded % 1000 == 0 ? String(rounded / 1000) + "k" : String(rounded)
  }
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

extension Limits {
  /// The smallest packets of IPv6, in bytes: TCP segments that fit into them pass everywhere.
  static let narrowPacketLength: Int32 = 1280
  /// A queue delays everybody on a link if it multiplies the round trip by this, and adds this much, in microseconds.
  static let linkDelayFactor: Int64 = 4
  static let linkDelayMicroseconds: Int64 = 100_000
  /// The percentage of the time without room at the receiver from which the receiver sets the rate, not the link.
  static let linkWindowPercent: Int64 = 50
}
