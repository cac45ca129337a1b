import CShims
import UploadCore

/// Reads what the kernel counts while content is sent over a connection.
struct LinkMeter {
  private(set) var measurement: LinkMeasurement
  private let descriptor: Int32
  private let length: Int64
  private let endMilliseconds: Int64
  private var arrived: Int64 = 0

  /// - Parameters:
  ///   - length: of the content, in bytes. The measurement ends when all of it has arrived.
  ///   - endMilliseconds: when it ends in any case.
  init(_ descriptor: Int32, _ length: Int64, from now: Int64, untilMilliseconds endMilliseconds: Int64) {
    self.descriptor = descriptor
    self.length = length
    self.endMilliseconds = endMilliseconds
    measurement = LinkMeasurement(
      LinkMeasurement.Reading(milliseconds: now, arrivedLength: 0, LinkMeter.counts(of: descriptor)),
      congestionControl: CongestionControl.inUse(by: descriptor))
  }

  /// - Parameter arrived: how much of the content has arrived so far, in bytes.
  mutating func sample(_ arrived: Int64, _ now: Int64) {
    guard self.arrived < length else { return }
    self.arrived = arrived
    measurement.add(
      LinkMeasurement.Reading(milliseconds: now, arrivedLength: arrived, LinkMeter.counts(of: descriptor)))
  }

  /// Whether the time is over.
  func isOver(_ now: Int64) -> Bool { now >= endMilliseconds }

  private static func counts(of descriptor: Int32) -> LinkCounts {
    var read = shim_tcp_counts()
    shim_read_tcp_counts(descriptor, &read)
    func known(_ count: Int64) -> Int64? { count < 0 ? nil : count }
    var counts = LinkCounts()
    counts.segments = known(read.segments)
    counts.repeatedSegments = known(read.repeated_segments)
    counts.duplicateSegments = known(read.duplicate_segments)
    counts.roundTripMicroseconds = known(read.round_trip)
    counts.leastRoundTripMicroseconds = known(read.least_round_trip)
    counts.busyMicroseconds = known(read.busy)
    counts.windowLimitedMicroseconds = known(read.window_limited)
    return counts
  }
}
