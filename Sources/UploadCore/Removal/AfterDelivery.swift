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
