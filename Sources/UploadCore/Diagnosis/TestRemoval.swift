/// Removes what a test has created, or says what is left.
package final class TestRemoval {
  private var task: UploadTask
  /// "the test upload of 10.0 MB at https://…"
  private let subject: String
  private let howElse: String
  private var problem: UploadError?
  private var tries = 0

  init(ofUpload location: TargetURI, length: Int64, expires: String?, overridesMethod: Bool, _ secrets: Secrets) {
    task = .cancellation(CancelTask(location, overridesMethod: overridesMethod))
    subject = "the test upload of " + SizeText.short(length) + " at " + secrets.line(ofURI: location.text)
    let expiry = expires.map { "The server removes it at " + secrets.line($0) + ". " } ?? ""
    howElse =
      expiry + "Remove it in the tus server's directory (tusd: -upload-dir), where its name is the end of the address."
  }

  /// A form that should have been refused has become a recording.
  /// - Returns: nil if the response does not say so.
  package init?(ofRecording answer: Answer, from base: TargetURI) {
    guard answer.isSuccess, let json = try? JSONReader.read(answer.content),
      let assetID = json["asset_id"]?.integer ?? json["id"]?.integer
    else { return nil }
    subject = "the test recording " + String(assetID)
    howElse = "Delete it in GigHive's media library."
    let token = json["delete_token"]?.string ?? ""
    task = .deletion(DeleteTask(assetID: assetID, deleteToken: token, from: base, isRepeated: false))
    if token.isEmpty { problem = .unconfirmed(status: answer.status) }
  }

  /// The request to send; nil when there is no more to do.
  package var request: HTTPRequest? {
    guard problem == nil, case .ask(let request)? = try? task.next() else { return nil }
    return request
  }

  /// - Returns: whether to wait before the next request.
  package func receive(_ result: ProbeResult) -> Bool {
    do throws(UploadError) {
      guard let answer = result.answer else { throw result.error ?? .unconfirmed(status: 0) }
      if let request { try task.receive(answer, from: request.target) }
      return false
    } catch {
      tries += 1
      let most = error == .tus(.locked) ? Limits.lockQuestionCount : Limits.offsetQuestionCount
      if tries >= most || !canBeRetried(error) { problem = error }
      return problem == nil
    }
  }

  private func canBeRetried(_ error: UploadError) -> Bool {
    switch error {
    case .cancelled, .tus(.locked), .connectionLost, .timedOut, .notConnected, .notFromServer: true
    case .refused(let status, _): status >= 500
    case .invalidConfiguration, .form, .formData, .requestHead, .file, .changed, .state, .conflict, .delivered,
      .noSuchName, .noResolver, .noLocalName, .congestionControlRefused, .tls, .mayBeStored, .uncertain,
      .invalidResponse, .redirected, .redirectionRefused, .proxyUnusable, .addressExcluded, .proxyRefused,
      .checksumDiffers, .sizeDiffers, .guestTokenRefused, .termsNotAccepted, .unconfirmed, .stillProcessing,
      .prematureSuccess, .tus, .uploadLost, .postponed, .outOfResources, .formDropped:
      false
    }
  }

  package var result: Finding.Result {
    if problem == nil, case .finished(let outcome)? = try? task.next() {
      guard case .cancelled(isKept: true) = outcome else { return .ok(subject + " is removed") }
      return .warning(
        subject + " is still there: the server cannot remove uploads (no termination).", remedy: howElse)
    }
    return .warning(subject + " is still there: " + (problem.map { reason($0) } ?? "") + ".", remedy: howElse)
  }

  private func reason(_ error: UploadError) -> String {
    switch error {
    case .refused(let status, _), .notFromServer(let status): "the removal was refused (" + String(status) + ")"
    case .unconfirmed: "no delete token came with it"
    case .tus(.locked): "it is locked"
    default: "the server did not answer the removal"
    }
  }
}
