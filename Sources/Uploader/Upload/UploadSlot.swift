import CShims
import UploadCore

/// A slot for one upload at a time, with its part of the memory, and the connection left by the last request.
final class UploadSlot {
  private struct IdleConnection {
    var connection: Connection
    let origin: String
    /// Whether the server promised to keep it open.
    let isPromised: Bool
  }

  let buffers: TransferBuffers
  /// Whether its upload only waits for the server (``UploadSlots/exchange(_:isQueued:)``). It then has little memory.
  let isForWaiting: Bool
  /// Since when its upload has been connecting, on the monotonic clock; nil if it is not.
  var connectingSinceMilliseconds: Int64?
  /// Its share of the rate; nil if there is no limit.
  let rateShare: RateShare?
  private var idle: IdleConnection?
  /// Origins whose servers close connections without notice.
  private var avoided: [String] = []

  /// - Parameter jobs: the number of slots that share the memory.
  init(jobs: Int, rateControl: RateControl? = nil) {
    isForWaiting = false
    buffers = TransferBuffers(jobs: jobs)
    rateShare = rateControl.map { RateShare(of: $0) }
  }

  /// A slot for an upload that only waits for the server.
  init(forWaiting rateControl: RateControl?) {
    isForWaiting = true
    buffers = TransferBuffers(forWaiting: ())
    rateShare = rateControl.map { RateShare(of: $0) }
  }

  deinit { idle?.connection.stream.closeNotify() }

  /// Whether it keeps a connection.
  var hasConnection: Bool { idle != nil }

  /// The upload waits for its next attempt. Where many do, they keep no connection meanwhile.
  func rest() {
    guard isForWaiting else { return }
    idle?.connection.stream.closeNotify()
    idle = nil
  }

  func keep(_ connection: Connection, to target: TargetURI, isPromised: Bool) {
    guard !avoided.contains(target.origin) else { return connection.stream.closeNotify() }
    idle = IdleConnection(connection: connection, origin: target.origin, isPromised: isPromised)
  }

  /// Takes the kept connection, unless it leads elsewhere, does not suit the request, or the server has sent something or closed
  /// it.
  func takeConnection(to target: TargetURI, _ choice: ConnectionChoice) -> Connection? {
    if choice == .fresh { avoid(target.origin) }
    guard var idle else { return nil }
    self.idle = nil
    let isGood: Bool =
      switch choice {
      case .reused: true
      case .reusedIfPromised: idle.isPromised
      case .fresh: false
      }
    if isGood, idle.origin == target.origin, Readiness.of(idle.connection.stream.descriptor, .readable).isEmpty {
      idle.connection.isReused = true
      return idle.connection
    }
    idle.connection.stream.closeNotify()
    return nil
  }

  private func avoid(_ origin: String) {
    guard !avoided.contains(origin) else { return }
    // The oldest is forgotten. If needed, it will be detected again.
    if avoided.count == Limits.avoidedOriginCount { avoided.removeFirst() }
    avoided.append(origin)
  }
}
