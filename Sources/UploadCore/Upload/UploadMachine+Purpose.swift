extension UploadMachine {
  /// The purpose of the machine.
  package enum Purpose: Sendable {
    case upload(UploadPlan)
    /// End an upload on a tus server.
    case cancel(TargetURI, overridesMethod: Bool, Cookies = Cookies())
    /// Delete a recording from GigHive. `isRepeated`: whether it was asked before, without a response.
    case delete(assetID: Int64, deleteToken: String, from: TargetURI, isRepeated: Bool)
    /// Ask GigHive whether it still has a recording.
    case examine(StoredRecording)

    /// The server's address.
    var base: TargetURI {
      switch self {
      case .upload(let plan): plan.request.base
      case .cancel(let location, _, _): location
      case .delete(_, _, let base, _): base
      case .examine(let recording): recording.base
      }
    }
  }
}
