import CShims
import UploadCore

/// Checks during a transfer whether the file has changed.
struct FileChangeDetector {
  /// nil if the request bodies are ranges of no file.
  let source: TransferSource?
  /// A change of the file that was not reported yet.
  private(set) var statusChange: StatusChange?
  private var reportedBeforeEnd: StatusTime?
  /// Whether pages of the file itself may be in transit, which can still change.
  private(set) var hasPagesInFlight = false

  init(_ source: TransferSource?) { self.source = source }

  /// The kernel sends pages of the file directly.
  mutating func notePagesSent() { hasPagesInFlight = true }

  mutating func takeStatusChange() -> StatusChange? {
    defer { statusChange = nil }
    return statusChange
  }

  /// Checks before the file's last pages are sent, because the server may wait only for them. Each new status is reported once: parts that
  /// are compared later are sent nevertheless.
  mutating func verifyBeforeEnd() throws(UploadError) {
    guard let source, try hasStatusChanged(isAllSent: false) else { return }
    let changed = try source.statusTimeNow()
    if changed == reportedBeforeEnd { return }
    (reportedBeforeEnd, statusChange) = (changed, .beforeEnd(isDigested: false))
  }

  /// Checks before the end of the body is sent, which claims "this was the whole file".
  mutating func verifyAtEnd(of body: RequestBody) throws(UploadError) {
    if case .file = body.phase { return }
    guard let source else { return }
    let endsFile = body.endsFile(of: source.file.size)
    let isAllSent = endsFile && hasPagesInFlight && body.phase == .complete
    guard try hasStatusChanged(isAllSent: isAllSent) else { return }
    guard endsFile else { return noteStatusChange() }
    statusChange = isAllSent ? .afterEnd : .beforeEnd(isDigested: source.isDigested)
  }

  /// Checks whether the file has changed, until all of it was read.
  /// - Parameter hasArrived: whether the peer has acknowledged the whole body.
  mutating func verify(_ body: RequestBody, hasArrived: Bool) throws(UploadError) {
    if case .file = body.phase {
      if try hasStatusChanged(isAllSent: false) { noteStatusChange() }
    } else if hasPagesInFlight, let source, body.endsFile(of: source.file.size) {
      if try hasStatusChanged(isAllSent: true) { statusChange = .afterEnd }
      // Acknowledged bytes cannot change any more.
      if hasArrived { hasPagesInFlight = false }
    }
  }

  /// - Parameter isAllSent: whether the whole file was sent.
  private func hasStatusChanged(isAllSent: Bool) throws(UploadError) -> Bool {
    guard let source else { return false }
    do throws(UploadError) { return try source.hasStatusChanged() } catch {
      guard isAllSent, case .file(let path, let change) = error, change.isChange else { throw error }
      throw .file(path, .changedInTransit)
    }
  }

  /// Reports it once, while there is more of the file to send.
  private mutating func noteStatusChange() {
    guard let source, !source.hasReportedStatusChange else { return }
    source.hasReportedStatusChange = true
    statusChange = .whileReading
  }
}

extension FileIdentity {
  init(_ status: shim_file_status, on kind: FileSystem.Kind = .stable, edges: String = "") {
    self.init(
      device: status.device, inode: kind == .stable ? status.inode : 0, hasLocalTimes: kind == .fat, size: status.size,
      modifiedSeconds: status.modified_seconds, modifiedNanoseconds: status.modified_nanoseconds, edges: edges)
  }
}

extension FileSighting {
  package init(_ status: shim_file_status, on kind: FileSystem.Kind = .stable) {
    self.init(identity: FileIdentity(status, on: kind), changed: StatusTime(status))
  }

  /// - Returns: nil if there is no such file.
  init?(at path: LocalPath) {
    guard let status = shim_file_status(at: path) else { return nil }
    self.init(status)
  }
}

extension StatusTime {
  init(_ status: shim_file_status) {
    self.init(seconds: status.changed_seconds, nanoseconds: status.changed_nanoseconds)
  }

  /// Whether at least a second has passed since, by the clock that sets it. A clock that starts in 1970 at each boot gives the same time
  /// again.
  var isPast: Bool { seconds >= Limits.clocksAreSetSince && shim_unix_seconds() - 1 > seconds }
}

/// The file system of the last file that an ``Uploader`` has opened, for files that it need not open.
final class FileSystemCache {
  private var last: (device: UInt64, kind: FileSystem.Kind)?

  func kind(of file: SourceFile) -> FileSystem.Kind {
    let kind = file.fileSystemKind
    last = (file.device, kind)
    return kind
  }

  /// - Returns: nil if it is not known.
  func kind(device: UInt64) -> FileSystem.Kind? { last?.device == device ? last?.kind : nil }
}
