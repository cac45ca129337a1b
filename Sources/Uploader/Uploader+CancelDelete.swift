import UploadCore

extension Uploader {
  /// Ends an unfinished upload on a tus server (the termination extension). An upload that the server does not know counts as
  /// ended.
  /// - Parameters:
  ///   - location: the upload's URL.
  ///   - endpoint: the URL that created it. Credentials are sent only to its origin.
  ///   - cookies: the server's.
  ///   - onRetry: a try failed and will be repeated, with the response that led to it.
  /// - Returns: true if the server cannot end uploads, and keeps its part until that expires.
  package func cancel(
    _ location: TargetURI, createdAt endpoint: TargetURI, overridesMethod: Bool, cookies: Cookies = Cookies(),
    cancellation: Cancellation, onRetry: @escaping (Retry, RedactedAnswer?) -> Void
  ) throws(CancelDeleteError) -> Bool {
    let outcome = try run(
      .cancel(location, overridesMethod: overridesMethod, location.origin == endpoint.origin ? cookies : Cookies()),
      origin: endpoint.origin, cancellation: cancellation,
      onRetry: onRetry)
    return outcome == .cancelled(isKept: true)
  }

  /// Deletes a delivered recording from GigHive. A recording that GigHive no longer has counts as deleted.
  /// - Parameters:
  ///   - base: the server's base address.
  ///   - isRepeated: whether the server may have carried out an earlier request. It then no longer knows the token (403).
  ///   - onRetry: a try failed and will be repeated, with the response that led to it.
  /// - Returns: whether GigHive had it no longer.
  package func delete(
    assetID: Int64, deleteToken: String, from base: TargetURI, isRepeated: Bool, cancellation: Cancellation,
    onRetry: @escaping (Retry, RedactedAnswer?) -> Void
  ) throws(CancelDeleteError) -> Bool {
    let outcome = try run(
      .delete(assetID: assetID, deleteToken: deleteToken, from: base, isRepeated: isRepeated), origin: base.origin,
      secret: deleteToken, cancellation: cancellation, onRetry: onRetry)
    return outcome == .deleted(wasGone: true)
  }

  /// Asks GigHive whether it still has a delivered recording.
  func examine(_ recording: StoredRecording, cancellation: Cancellation) throws(CancelDeleteError) -> Presence {
    let outcome = try run(
      .examine(recording), origin: recording.base.origin, isPatient: false, cancellation: cancellation,
      onRetry: { _, _ in })
    guard case .examined(let presence) = outcome else {
      throw CancelDeleteError(error: .cancelled(hasSentAll: false), answer: nil, mayBeDone: false)
    }
    return presence
  }

  /// - Parameter isPatient: whether it is retried as the configuration says.
  private func run(
    _ purpose: UploadMachine.Purpose, origin: String, secret: String? = nil, isPatient: Bool = true,
    cancellation: Cancellation, onRetry: @escaping (Retry, RedactedAnswer?) -> Void
  ) throws(CancelDeleteError) -> Outcome {
    if let problem { throw CancelDeleteError(error: problem, answer: nil, mayBeDone: false) }
    let driver: UploadDriver
    var answer: RedactedAnswer?
    do throws(UploadError) {
      var composer = RequestComposer(shared.configuration, origin: origin)
      if let secret { composer.hide(secret) }
      driver = UploadDriver(
        try UploadMachine(purpose, isPatient ? try shared.policy() : try shared.examinationPolicy()), slot: slots.spare,
        shared: shared, composer: composer,
        hooks: DriverHooks(
          onRetry: {
            onRetry($0, answer)
            answer = nil
          }, onAnswer: { answer = $0 }))
    } catch { throw CancelDeleteError(error: error, answer: nil, mayBeDone: false) }
    var waiting: UploadDriver? = driver
    var failure: UploadError? = .cancelled(hasSentAll: false)
    EventLoop<UploadDriver>(cancellation).run(1) {
      defer { waiting = nil }
      return waiting
    } ended: { _, error in
      failure = error
    }
    if failure == nil, let outcome = driver.outcome { return outcome }
    throw CancelDeleteError(
      error: failure ?? .cancelled(hasSentAll: false), answer: answer,
      mayBeDone: driver.machine.mayBeDeleted || driver.hasSentAll)
  }
}
