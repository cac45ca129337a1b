import CShims
import UploadCore

/// What a delivery does to the records of earlier ones.
extension LockedRecord {
  /// The recording was delivered.
  /// - Parameter statusTime: proves later that the file still has this content; nil if nothing does.
  /// - Parameter isAgain: whether it may have been delivered before.
  func noteDelivery(
    _ receipt: Receipt, _ sent: SentFile, _ statusTime: StatusTime?, isAgain: Bool
  ) throws(UploadError) {
    let inherited = receipt.deleteToken == nil ? sameRecording(receipt.assetID) : nil
    try update {
      var delivery = RecordedDelivery(of: $0)
      delivery.statusTime = statusTime
      delivery.deliveredAt = shim_unix_seconds()
      delivery.assetID = receipt.assetID ?? delivery.assetID
      delivery.sha256 = sent.sha256
      delivery.isUnprovedPage = receipt.isUnprovedPage
      delivery.deleteToken = receipt.deleteToken ?? inherited?.record.delivery?.deleteToken
      $0.state = .delivered(delivery)
    }
    if let inherited {
      // It is recorded already.
      do throws(UploadError) { try removeEarlierRecord(inherited) } catch {
        directory.warn("the earlier record " + inherited.record.id + " could not be removed: " + error.message)
      }
    }
    if isAgain { removeEarlierDeliveries() }
    directory.tidy(delivered: record.id)
  }

  /// The file was found to have the content that was delivered.
  func noteComparison(with file: SourceFile, _ identity: FileIdentity) throws(UploadError) {
    try update {
      $0.file.path = file.path.absolute ?? file.path
      $0.file.identity = identity
      $0.file.fileSystemID = file.fileSystemID
      $0.delivery?.statusTime = file.provenStatusTime
    }
  }

  /// Removes the earlier record of the same recording, if it is also of the same file: deliveries of copies, and to other events, are
  /// remembered, so that none is sent again.
  private func removeEarlierRecord(_ earlier: LockedRecord) throws(UploadError) {
    let other = earlier.record
    let isSameFile =
      other.file.path == record.file.path || record.match(with: other) == .same || other.locateFile() == .gone
    if other.destination.event == record.destination.event, isSameFile { return try earlier.remove() }
    directory.tidy(delivered: other.id)
  }

  /// Removes the records of earlier deliveries of the same file, except those whose token can delete another recording.
  private func removeEarlierDeliveries() {
    let own = record
    func isEarlier(_ other: UploadRecord) -> Bool {
      guard other.id != own.id, let delivery = other.delivery else { return false }
      let hasOtherToken = delivery.deleteToken != nil && delivery.deleteToken != own.delivery?.deleteToken
      return !hasOtherToken && own.match(with: other) == .same
    }
    for id in candidates(.file(own), isEarlier) {
      guard let previous = try? directory.current(id), isEarlier(previous) else { continue }
      if let earlier = try? LockedRecord.reopen(id, in: directory) { try? earlier.remove() }
    }
  }

  /// The earlier record of the same recording. GigHive issues a delete token only once, with the first delivery. When a recording
  /// is sent again, the token is copied from its earlier record.
  private func sameRecording(_ assetID: Int64?) -> LockedRecord? {
    guard let assetID else { return nil }
    let endpoint = record.destination.endpoint
    func isSame(_ other: UploadRecord) -> Bool {
      guard let delivery = other.delivery, other.destination.endpoint == endpoint else { return false }
      return delivery.assetID == assetID && delivery.deleteToken != nil
    }
    for id in candidates(.asset(assetID, endpoint: endpoint), isSame) {
      guard let previous = try? directory.current(id), isSame(previous) else { continue }
      return try? LockedRecord.reopen(id, in: directory)
    }
    return nil
  }

  /// The IDs of delivered records that may have the key; without an index, of those that match.
  private func candidates(_ key: IndexKey, _ isMatch: @escaping (UploadRecord) -> Bool) -> [String] {
    if let index = searchableIndex(), let ids = index.ids([key]) { return ids }
    let found = Found()
    try? directory.visit(.all) { record, _ in
      if isMatch(record) { found.ids.append(record.id) }
    }
    return found.ids
  }

  /// - Returns: nil if there is no reliable index now.
  private func searchableIndex() -> OpenIndex? {
    let isVerified = directory.indexState.verified != nil
    // An index that this process has not verified may have to be rebuilt.
    var creation: StateLock?
    if !isVerified {
      creation = try? directory.lockForCreation()
      if creation == nil { return nil }
    }
    defer { withExtendedLifetime(creation) {} }
    if case .open(let index) = directory.openIndex(isForSearch: !isVerified) { return index }
    return nil
  }

  private final class Found { var ids: [String] = [] }
}
