import CShims
import UploadCore

/// Where one upload at a time is at work: its part of the memory, and the connection that the last one left.
final class Lane {
  let buffers: TransferBuffers
  private var kept: (connection: Connection, origin: String)?

  /// - Parameter jobs: how many lanes share the memory.
  init(jobs: Int) { buffers = TransferBuffers(jobs: jobs) }

  deinit { kept?.connection.stream.closeNotify() }

  func keep(_ connection: Connection, to target: TargetURI) { kept = (connection, target.origin) }

  /// Hands over the connection that was kept, unless it goes elsewhere or the server has said or closed something.
  func takeConnection(to target: TargetURI) -> Connection? {
    guard let (connection, origin) = kept else { return nil }
    kept = nil
    if origin == target.origin, Readiness.of(connection.stream.descriptor, .readable).isEmpty { return connection }
    connection.stream.closeNotify()
    return nil
  }
}
