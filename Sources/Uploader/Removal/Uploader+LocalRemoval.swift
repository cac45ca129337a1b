import CShims
import UploadCore

/// Removing recordings from this machine that were delivered earlier.
extension Uploader {
  /// Removes the file of a delivered recording from this machine, if it is certainly the file that was delivered, the server still has
  /// it, and nobody uses it.
  /// - Parameters:
  ///   - record: its record, which must be locked.
  ///   - path: where the file is.
  ///   - root: the directory in which it was found, below which no link is followed; nil if it was named.
  ///   - after: its `trustsServer` and `trustsSettle` apply.
  ///   - isForGigHive: whether it was delivered to a GigHive.
  ///   - isDryRun: checks everything, and removes nothing.
  /// - Returns: where the file is now; nil if it is gone, or would be.
  package func removeFile(
    of record: UploadRecord, _ removal: AfterDelivery.Removal, _ after: AfterDelivery, isForGigHive: Bool,
    isDryRun: Bool, at path: LocalPath, below root: LocalPath?, in directory: StateDirectory, cancellation: Cancellation
  ) throws(KeptReason) -> LocalPath? {
    do throws(StateError) { try directory.syncDelivery(record.id) } catch { throw .state(error) }
    let parent = try FileRemoval.parent(of: path, below: root)
    let file: SourceFile
    // Not through a link: only the recording itself may be removed.
    do throws(FileError) {
      file = try SourceFile.open(path, limit: Limits.fileSize, in: parent)
    } catch { throw .unreadable(error) }
    let removal = FileRemoval(file, record, removal, from: parent, trustsSettle: after.trustsSettle, in: directory)
    try removal.check()
    try removal.checkUnused()
    let stored = try after.requirement(for: record, isForGigHive: isForGigHive)
    try proveContent(of: file, record, cancellation)
    if let stored { try examine(stored, after, cancellation) }
    return isDryRun ? nil : try removal.run()
  }

  private func examine(
    _ stored: StoredRecording, _ after: AfterDelivery, _ cancellation: Cancellation
  ) throws(KeptReason) {
    let presence: Presence
    do throws(CancelDeleteError) { presence = try examine(stored, cancellation: cancellation) } catch {
      throw cancellation.isCancelled ? .interrupted : .unanswered(error.error)
    }
    if let reason = after.keptReason(for: presence) { throw reason }
  }

  /// Proves that the file has the content that was delivered: by its status time, or else by its SHA-256.
  private func proveContent(
    of file: SourceFile, _ record: UploadRecord, _ cancellation: Cancellation
  ) throws(KeptReason) {
    let space = slots.spare.buffers
    space.clear()
    let kind = shared.fileSystems.kind(of: file)
    do throws(UploadError) {
      let identity = try file.identity(using: space.ring.writableRun, on: kind)
      guard identity.change(since: record.file.identity) == nil else { throw .file(file.path, .rewritten) }
      let isUntouched = record.delivery?.statusTime.map { $0 == file.statusTimeAtOpen } ?? false
      if isUntouched, identity.isSameFile(as: record.file.identity) { return }
      // A tag editor can restore the modification time. Without a known SHA-256, nothing proves that it did not.
      guard let sha256 = record.delivery?.sha256 else { throw .file(file.path, .rewritten) }
      let digest = try Digest(.sha256)
      var offset: Int64 = 0
      while offset < file.size {
        if cancellation.isCancelled { throw .cancelled(hasSentAll: false) }
        let run = UnsafeMutableRawBufferPointer(rebasing: space.ring.writableRun.prefix(space.runLength))
        let count: Int
        do throws(FileError) { count = try file.read(into: run, at: offset) } catch { throw .file(file.path, error) }
        digest.update(UnsafeRawBufferPointer(rebasing: run[..<count]))
        offset += Int64(count)
      }
      guard try digest.finishInHex() == sha256 else { throw .file(file.path, .rewritten) }
    } catch { throw KeptReason(reading: error) }
  }
}

extension KeptReason {
  fileprivate init(reading error: UploadError) {
    if case .file(_, let error) = error {
      self = error.isChange ? .changed : .unreadable(error)
    } else if case .cancelled = error {
      self = .interrupted
    } else {
      self = .notComparable(error)
    }
  }
}
