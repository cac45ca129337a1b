import CShims
import Uploader

/// Removes files of delivered recordings, one after the other.
final class Remover {
  private struct Server: Equatable {
    let origin: String
    let options: [GivenOption]

    static func == (one: Server, other: Server) -> Bool {
      one.origin == other.origin
        && one.options.elementsEqual(other.options) { $0.option == $1.option && $0.argument == $1.argument }
    }
  }

  let isDryRun: Bool
  private(set) var count = 0
  /// What the removed files took on the disk. A file with holes takes less than its size.
  private(set) var removedBytes: Int64 = 0
  private let removal: AfterDelivery.Removal
  private let after: AfterDelivery
  private let options: [GivenOption]
  private let records: Records
  private let report: Report
  private let cancellation: Cancellation
  private var last: (server: Server, uploader: Uploader)?
  /// Servers that did not answer are not asked about each recording.
  private var silent: [Server] = []

  /// - Parameter after: its `trustsServer` and `trustsSettle` apply.
  init(
    _ removal: AfterDelivery.Removal, _ after: AfterDelivery, _ options: [GivenOption], _ records: Records,
    _ report: Report, _ cancellation: Cancellation
  ) {
    self.removal = removal
    self.after = after
    self.options = options
    self.records = records
    self.report = report
    self.cancellation = cancellation
    isDryRun = options.has(.dryRun)
  }

  /// Removes the file, or reports why it is kept.
  /// - Parameters:
  ///   - path: where it is.
  ///   - root: the directory in which it was found, below which no link is followed; nil if it was named.
  ///   - given: the path by which a watcher knows it.
  /// - Returns: why it is kept; nil if it is removed, or there is nothing to remove.
  @discardableResult
  func remove(
    _ known: UploadRecord, at path: LocalPath, below root: LocalPath?, askedAs given: LocalPath
  ) throws(StateError) -> KeptReason? {
    if !isDryRun { records.directory.reserveForRemovals(in: root ?? path.directory) }
    // Another process is working on it.
    guard case .locked(let lock, let record) = try records.directory.lockRecord(known.id) else { return nil }
    defer { withExtendedLifetime(lock) {} }
    defer { records.directory.removeLock(known.id) }
    guard let delivery = record.delivery, delivery.deletion == nil,
      let endpoint = try? TargetURI(record.destination.endpoint)
    else { return nil }
    let status = shim_file_status(ofLinkAt: path) ?? shim_file_status()
    let file = record.isAt(status) ? record.file.path : path
    let server: Server
    let uploader: Uploader
    do throws(UsageError) { (server, uploader) = try self.server(for: record, endpoint) } catch {
      report.kept(file, error.message, isTemporary: true, recordID: record.id)
      return nil
    }
    if silent.contains(server) { return nil }
    let target: LocalPath?
    do throws(KeptReason) {
      target = try uploader.removeFile(
        of: LockedRecord(record, in: records.directory, lock: lock), removal, after,
        isForGigHive: StoredOptions.name(.server, in: record.note), isDryRun: isDryRun, named: file, at: path,
        below: root, askedAs: given, cancellation: cancellation)
    } catch {
      if case .unanswered = error { silent.append(server) }
      report.kept(file, error, recordID: record.id)
      return error
    }
    count += 1
    removedBytes += status.allocated
    if isDryRun {
      report.wouldRemove(record)
    } else {
      report.removed(file, to: target, recordID: record.id, assetID: delivery.assetID)
    }
    return nil
  }

  /// The server of a recording, with the options that its upload was started with, and who asks it.
  private func server(
    for record: UploadRecord, _ endpoint: TargetURI
  ) throws(UsageError) -> (Server, Uploader) {
    var common = CommonArguments()
    var own: [GivenOption] = []
    for given in StoredOptions.options(in: record.note, with: options) where try common.apply(given) {
      own.append(given)
    }
    let server = Server(origin: endpoint.origin, options: own)
    if let last, last.server == server { return last }
    // The memory ceiling of a watcher's process has room for one.
    last = nil
    let uploader = Uploader(try common.configuration(for: endpoint, report, needsS3Keys: false))
    last = (server, uploader)
    return (server, uploader)
  }
}
