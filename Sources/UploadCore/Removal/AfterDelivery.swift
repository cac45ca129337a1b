/// What to do with a recording on this machine once it is delivered.
package struct AfterDelivery: Equatable, Sendable {
  package enum Action: Equatable, Sendable {
    case keep
    case delete
    /// Move it into this directory, which is on the same file system.
    case move(LocalPath)
  }

  package var action = Action.keep
  /// Whether a delivery counts although the server cannot be asked later whether it still has the recording. Only GigHive can.
  package var trustsServer = false
  /// Whether a recording that has not changed since its delivery counts as finished where open files cannot be detected.
  package var trustsSettle = false

  package init() {}

  package init(_ action: Action, trustsServer: Bool = false, trustsSettle: Bool = false) {
    self.action = action
    self.trustsServer = trustsServer
    self.trustsSettle = trustsSettle
  }
}

extension AfterDelivery {
  /// What GigHive must still have before a delivered recording may be removed from this machine. Only GigHive can be asked.
  /// - Parameter record: the recording's delivery, on the disk.
  /// - Returns: nil if the delivery counts without asking.
  /// - Throws: why the recording stays.
  package func requirement(for record: UploadRecord, isForGigHive: Bool) throws(KeptReason) -> StoredRecording? {
    guard isForGigHive else {
      guard trustsServer else { throw .serverCannotTell }
      return nil
    }
    guard let stored = StoredRecording(record) else { throw .incompleteRecord }
    return stored
  }
}
