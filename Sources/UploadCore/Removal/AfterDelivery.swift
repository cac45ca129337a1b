/// What to do with a recording on this machine once it is delivered.
package struct AfterDelivery: Equatable, Sendable {
  package enum Removal: Equatable, Sendable {
    case delete
    /// Move it into this directory, which is on the same file system.
    case move(LocalPath)
  }

  /// How it is removed; nil to keep it.
  package var removal: Removal?
  /// Whether a delivery counts although the server cannot be asked later whether it still has the recording. Only GigHive can, by those
  /// who may look at its files.
  package var trustsServer = false
  /// Whether a recording that has not changed since its delivery counts as finished where open files cannot be detected.
  package var trustsSettle = false

  package init() {}
}

extension AfterDelivery {
  /// What GigHive must still have before a delivered recording may be removed from this machine. Only GigHive can be asked.
  /// - Parameter record: the recording's delivery, on the disk.
  /// - Returns: nil if the delivery counts without asking.
  /// - Throws: why the recording stays.
  package func requirement(for record: UploadRecord, isForGigHive: Bool) throws(KeptReason) -> StoredRecording? {
    if record.isServerDoubtful { throw .serverDoubtful }
    guard isForGigHive else {
      if record.delivery?.isUnprovedPage ?? false { throw .unprovedPage }
      guard trustsServer else { throw .serverCannotTell }
      return nil
    }
    guard let stored = StoredRecording(record) else { throw .incompleteRecord }
    return stored
  }

  /// Why the recording stays after GigHive was asked; nil if it may be removed.
  package func keptReason(for absence: Absence?) -> KeptReason? {
    absence.flatMap { $0 == .hidden && trustsServer ? nil : .lacking($0) }
  }
}
