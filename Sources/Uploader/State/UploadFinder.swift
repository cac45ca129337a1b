import CShims
import UploadCore

/// Looks up what the records say about files, for a caller that sends nothing itself.
package final class UploadFinder {
  package enum Finding: Equatable {
    /// Delivered, and nothing is left to do.
    case delivered
    /// Interrupted, or in progress; with why it waits, if it does.
    case begun(WatchedFile.Pause?)
    case unknown
  }

  private let directory: StateDirectory

  /// Creates the state directory if it is missing.
  package init(_ path: LocalPath, warn: @escaping (String) -> Void) throws(StateError) {
    directory = try StateDirectory(path, warn: warn)
  }

  /// - Parameters:
  ///   - status: that of the request's file.
  ///   - hasStableInodes: whether its file system has stable inode numbers. Otherwise a delivery cannot be recognized without reading
  ///     the file.
  package func find(_ request: UploadRequest, _ status: shim_file_status, hasStableInodes: Bool) -> Finding {
    if hasStableInodes, let previous = directory.untouchedDelivery(of: request, FileSighting(status)) {
      let removes = request.afterDelivery.removal != nil
      return removes && directory.isRemovalDue(previous.upload) ? .unknown : .delivered
    }
    return directory.begunRecord(request, FileIdentity(status)).map { .begun(pause(of: $0, status)) } ?? .unknown
  }

  private func pause(of id: String, _ status: shim_file_status) -> WatchedFile.Pause? {
    let identity = FileIdentity(status)
    guard let record = try? directory.record(id), let upload = record.unfinished, let sends = upload.fullSends,
      record.file.identity.size == identity.size, record.file.identity.modifiedSeconds == identity.modifiedSeconds
    else { return nil }
    return WatchedFile.Pause(sends, message: upload.message, unixSeconds: shim_unix_seconds())
  }

  /// Creates the record of an upload that another process will begin, so that nothing removes the file until it is delivered.
  /// - Returns: false if that is not possible now. A file that cannot be sent needs no record.
  package func begin(_ request: UploadRequest) -> Bool {
    var request = request
    if case .gigHive(let base, let form) = request.destination {
      request.destination = .gigHive(base, form.completed(today: EventForm.today()))
    }
    let file: SourceFile
    do throws(FileError) {
      file = try SourceFile.open(request.file, limit: request.sizeLimit, below: request.foundBelow)
    } catch { return UploadFinder.needsNoRecord(.file(request.file, error)) }
    let space = UnsafeMutableRawBufferPointer.allocate(byteCount: Limits.edgeLength, alignment: 1)
    defer { space.deallocate() }
    let kind = FileSystem.kind(type: shim_file_system_type(file.descriptor))
    do throws(UploadError) {
      let identity = try file.identity(using: space, on: kind)
      let own = UploadRecord(id: "", of: request, for: file, identity)
      // One that may be stored with other content does not keep the file.
      if let id = directory.begunRecord(request, identity), let begun = try? directory.record(id),
        begun.mayNeed(fileOf: own)
      {
        return true
      }
      return try LockedRecord.open(for: file, identity, of: request, in: directory) != nil
    } catch { return UploadFinder.needsNoRecord(error) }
  }

  /// Whether that failed because there is nothing to send. What may pass, such as an upload of other content in progress, says nothing.
  private static func needsNoRecord(_ error: UploadError) -> Bool {
    switch error {
    case .delivered, .uncertain: true
    case .file(_, .missing), .file(_, .notRegular), .file(_, .empty), .file(_, .tooLarge): true
    case .file(_, .unreadable(let cause)): !cause.isPassing
    default: false
    }
  }
}
