import CShims
import UploadCore

/// Recognizes what was delivered with few system calls, for the thousands of files that a nightly run finds. No lock is needed: what
/// another process is writing can only hide a delivery, and then the record is read. An entry counts only if its record
/// exists under the name of a delivered one.
extension StateDirectory {
  /// The earlier delivery of the file, if nothing has touched the file since; nil if none is found.
  func untouchedDelivery(of request: UploadRequest, _ seen: FileSighting) -> PreviousDelivery? {
    delivery(.status(UploadRecord(sought: request, LocalPath(bytes: []), seen.identity), seen.changed))
  }

  /// The same where inodes are not stable.
  func untouchedDelivery(of request: UploadRequest, _ identity: FileIdentity) -> PreviousDelivery? {
    let sought = UploadRecord(sought: request, absolute(request.file), identity)
    guard !identity.hasStableInode, let previous = delivery(.place(sought)),
      let record = try? current(previous.upload), record.delivery?.deletion != .done,
      sought.evidence(of: record, changed: StatusTime(seconds: 0, nanoseconds: 0)) == .untouched
    else { return nil }
    return previous
  }

  private func absolute(_ path: LocalPath) -> LocalPath {
    if path.bytes.first == ASCII.slash { return path }
    indexState.workingDirectory = indexState.workingDirectory ?? LocalPath(bytes: []).absolute
    return indexState.workingDirectory.map { LocalPath(bytes: $0.bytes + path.bytes) } ?? path
  }

  private func delivery(_ key: IndexKey) -> PreviousDelivery? {
    guard let index = indexState.unlocked ?? unlockedIndex() else { return nil }
    indexState.unlocked = index
    do throws(IndexError) {
      for entry in try index.entries(key, limit: Limits.indexCandidateCount) {
        let name = RecordName(number: entry.number, isDelivered: true)
        if exists(name.text) { return PreviousDelivery(upload: name.id, entry.delivery) }
      }
    } catch {}
    // It may have been rebuilt.
    indexState.unlocked = nil
    return nil
  }

  private func unlockedIndex() -> RecordIndex<UnlockedIndex>? {
    guard let source = UnlockedIndex.open(file("index")) else { return nil }
    return try? RecordIndex(opening: source)
  }
}

extension StateDirectory {
  /// The record of an upload of the file at this path that was begun and is not delivered, as far as the index knows.
  func begunRecord(_ request: UploadRequest, _ identity: FileIdentity) -> String? {
    guard let index = indexState.unlocked ?? unlockedIndex() else { return nil }
    let sought = UploadRecord(sought: request, request.file, identity)
    let entries = (try? index.entries(.path(sought), limit: Limits.indexCandidateCount)) ?? []
    return entries.lazy.map { RecordName(number: $0.number, isDelivered: false) }.first { exists($0.text) }?.id
  }
}

extension UploadRecord {
  /// A record of the same upload as one that is looked for.
  fileprivate init(sought request: UploadRequest, _ path: LocalPath, _ identity: FileIdentity) {
    self.init(
      id: "", RecordedFile(path: path, identity: identity),
      to: RecordedDestination(endpoint: request.base.text, event: request.event))
  }
}
