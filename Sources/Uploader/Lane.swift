import CShims
import UploadCore

/// Where one upload at a time is at work: its part of the memory, and the connection that the last request left.
final class Lane {
  private struct Kept {
    var connection: Connection
    let origin: String
    /// Did the server promise to keep it open?
    let isPromised: Bool
  }

  let buffers: TransferBuffers
  /// Its part of the rate; nil if there is no limit.
  let pace: PaceShare?
  private var kept: Kept?
  /// Origins whose servers close connections without saying so.
  private var avoided: [String] = []

  /// - Parameter jobs: how many lanes share the memory.
  init(jobs: Int, pace: Pace? = nil) {
    buffers = TransferBuffers(jobs: jobs)
    self.pace = pace.map { PaceShare(of: $0) }
  }

  deinit { kept?.connection.stream.closeNotify() }

  func keep(_ connection: Connection, to target: TargetURI, isPromised: Bool) {
    guard !avoided.contains(target.origin) else { return connection.stream.closeNotify() }
    kept = Kept(connection: connection, origin: target.origin, isPromised: isPromised)
  }

  /// Hands over the connection that was kept, unless it goes elsewhere, is not good enough for the request, or the server has
  /// said or closed something.
  func takeConnection(to target: TargetURI, _ choice: ConnectionChoice) -> Connection? {
    if choice == .fresh { avoid(target.origin) }
    guard var kept else { return nil }
    self.kept = nil
    let isGood: Bool =
      switch choice {
      case .kept: true
      case .keptIfPromised: kept.isPromised
      case .fresh: false
      }
    if isGood, kept.origin == target.origin, Readiness.of(kept.connection.stream.descriptor, .readable).isEmpty {
      kept.connection.isReused = true
      return kept.connection
    }
    kept.connection.stream.closeNotify()
    return nil
  }

  private func avoid(_ origin: String) {
    guard !avoided.contains(origin) else { return }
    // The oldest is forgotten: a server that is met again shows itself again.
    if avoided.count == Limits.avoidedOriginCount { avoided.removeFirst() }
    avoided.append(origin)
  }
}
