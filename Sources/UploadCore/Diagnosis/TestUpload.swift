/// A tus upload of zeros, as a test. In the end it is removed from the server.
package final class TestUpload {
  /// What the test is to find out.
  package enum Aim: Sendable {
    /// Whether content of this length passes, in bytes, greater than zero. The first long request is interrupted, which shows whether
    /// the path buffers whole requests.
    case limits(length: Int64)
    /// Whether the server names an address for its uploads at which it can be reached. Nothing is sent.
    case address
    /// What the link does while it is full. The upload is never complete, so that nobody uses it.
    /// - Parameters:
    ///   - proxy: the one that requests go through, where the link ends; nil for none.
    ///   - largest: the largest file that the server accepts, in bytes; nil if it does not say.
    case link(proxy: String?, largest: Int64?)
  }

  package enum Step: Sendable {
    /// - Parameter cut: nil if the request is sent whole.
    case ask(HTTPRequest, cut: ProbeCut?)
    case wait(milliseconds: Int64)
    case finished
  }

  private enum Activity {
    case sending
    case removing(TestRemoval)
    case ended
  }

  /// What an interrupted request has shown about the path.
  private enum Cut: Sendable {
    case untried
    /// `questions`: how often the server was asked for its offset since.
    case made(arrived: Int64, questions: Int)
    case known
  }

  private let endpoint: TargetURI
  private let aim: Aim
  private let length: Int64
  private let overridesMethod: Bool
  private let secrets: Secrets
  private var upload: TusUpload
  private var activity = Activity.sending
  private var cut = Cut.untried
  /// Whether the link is measured with short segments, because nothing has arrived without.
  private var isNarrow = false
  private var asked: (method: String, length: Int64, cut: ProbeCut?) = ("", 0, nil)
  /// Whether the server may have created an upload whose address has not arrived.
  private var mayHaveCreated = false
  private var pauses = false
  private var locks = 0
  /// The first answer that calls a request too large, and the length of that request.
  private var refusal: (shown: RedactedAnswer?, length: Int64)?
  /// What was sent in whole requests.
  private var sent: (length: Int64, milliseconds: Int64) = (0, 0)
  private var findings: [Finding] = []

  /// - Parameters:
  ///   - endpoint: where uploads are created.
  ///   - overridesMethod: sends POST with `X-HTTP-Method-Override` instead of PATCH and DELETE.
  ///   - secrets: to redact in what the server says.
  package init(at endpoint: TargetURI, _ aim: Aim, overridesMethod: Bool, _ secrets: Secrets) throws(TusError) {
    self.endpoint = endpoint
    self.aim = aim
    self.overridesMethod = overridesMethod
    self.secrets = secrets
    var options = TusUpload.Options()
    options.overridesMethod = overridesMethod
    switch aim {
    case .limits(let length):
      self.length = length
      options.chunkLength = Limits.chunkMaximumLength
    // An upload without a byte would be complete.
    case .address: length = 1
    case .link(_, let largest):
      length = max(2, min(largest ?? .max, Limits.chunkMaximumLength + 1))
      options.chunkLength = length - 1
    }
    let metadata = [FormField("filename", DiagnosisRequests.fileName), FormField("filetype", "video/mp4")]
    upload = try TusUpload(endpoint: endpoint, length: length, metadata: metadata, options: options)
    // The server is known to support tus, and the test needs nothing of its offer.
    upload.assumeOffer()
    if case .limits = aim, part(of: length) == nil {
      cut = .known
      add(
        .spooling, .notExamined("whether something on the path buffers whole requests shows only with 512 KiB or more"))
    }
  }

  /// What was found since the last call.
  package func takeFindings() -> [Finding] {
    defer { findings = [] }
    return findings
  }

  private func add(_ check: Finding.Check, _ result: Finding.Result) { findings.append(Finding(check, result)) }

  /// How much of a request of this length is sent if it is interrupted; nil if it is too short to show anything.
  private func part(of length: Int64) -> Int64? {
    let part = min(length / 2, Limits.cutLength)
    return part >= Limits.chunkSpoolEvidence ? part : nil
  }

  // MARK: Steps

  package func next() -> Step {
    if pauses {
      pauses = false
      return .wait(milliseconds: Limits.questionPauseMilliseconds)
    }
    switch activity {
    case .sending:
      switch upload.next() {
      case .ask(let request): return ask(request)
      case .complete:
        reportSuccess()
        remove()
      case .gone: fail(.tus(.refused(method: asked.method, status: 404)), nil)
      case .checksumOfNextPatch, .await:
        preconditionFailure("a test upload has one request at a time, without checksums")
      }
      return next()
    case .removing(let removal):
      if let request = removal.request { return .ask(request, cut: nil) }
      switch (aim, removal.result) {
      case (.address, .ok): break
      case (_, let result): add(.removal, result)
      }
      activity = .ended
      return .finished
    case .ended: return .finished
    }
  }

  private func ask(_ request: HTTPRequest) -> Step {
    // A PATCH may be sent as POST.
    let isPatch = upload.location != nil && request.method != "HEAD"
    let cut = isPatch ? patchCut(request.contentLength) : nil
    if upload.location == nil { mayHaveCreated = true }
    asked = (isPatch ? "PATCH" : request.method, request.contentLength, cut)
    return .ask(request, cut: cut)
  }

  private func patchCut(_ length: Int64) -> ProbeCut? {
    switch (aim, cut) {
    case (.link, _): .afterMilliseconds(Limits.linkMilliseconds, isNarrow: isNarrow)
    case (.limits, .untried): part(of: length).map { .afterBytes($0) }
    case (.limits, _), (.address, _): nil
    }
  }

  package func receive(_ result: ProbeResult) {
    switch activity {
    case .sending: receiveWhileSending(result)
    case .removing(let removal): pauses = removal.receive(result)
    case .ended: break
    }
  }

  /// The diagnosis was interrupted. What it has created is still removed.
  package func interrupt() {
    pauses = false
    guard case .sending = activity else { return }
    remove()
  }

  private func remove() {
    if let location = upload.location {
      activity = .removing(
        TestRemoval(
          ofUpload: location, length: length, expires: upload.expires, overridesMethod: overridesMethod, secrets))
      return
    }
    activity = .ended
    if mayHaveCreated {
      add(
        .removal,
        .warning(
          "the server may have created an empty upload, whose address has not arrived.",
          remedy: "It has no content. Servers on which uploads expire delete it."))
    }
  }

  // MARK: Sending

  private func receiveWhileSending(_ result: ProbeResult) {
    guard let answer = result.answer else {
      if result.error?.traits.isUnreachable == true {
        upload.interrupted(arrived: 0, sent: .none, isUnreachable: true)
        if upload.isMoving { return }
      }
      if !isNarrow, LinkChecks.mayBeNarrow(result) {
        isNarrow = true
        return upload.interrupted(arrived: 0)
      }
      guard asked.cut != nil, result.error == nil else { return fail(result.error, result) }
      if case .link(let proxy, _) = aim { return reportLink(result, proxy) }
      cut = .made(arrived: result.arrivedLength, questions: 0)
      return upload.interrupted(arrived: result.arrivedLength)
    }
    // A gateway that fails does not know the outcome of the request.
    if answer.status < 500 || answer.fields.haveTusProof { mayHaveCreated = false }
    if asked.method == "PATCH" {
      if answer.status == 413, refusal == nil { refusal = (result.shown, asked.length) }
      if answer.isSuccess {
        sent.length += asked.length
        sent.milliseconds += result.contentMilliseconds
      }
    }
    let (address, unusable) = (upload.location, upload.unusableLocation)
    do throws(TusError) {
      try upload.receive(status: answer.status, fields: answer.fields, afterMilliseconds: result.contentMilliseconds)
    } catch {
      // The server may take no upload of this kind, such as one without its own metadata. Other refusals concern every one.
      if case (.address, .refused(method: "POST", let status)) = (aim, error), [400, 415, 422].contains(status) {
        return remove()
      }
      guard error == .locked, locks < Limits.lockQuestionCount else {
        return fail(result.error ?? .tus(error.redacted(secrets)), result)
      }
      locks += 1
      pauses = true
      return upload.locate()
    }
    if let address, let now = upload.location {
      if now != address { reportMove(from: secrets.host(address.origin), to: now) }
      if let unusable, upload.unusableLocation == nil { reportMove(from: secrets.line(ofURI: unusable), to: now) }
    }
    if case .link(let proxy, _) = aim, asked.method == "PATCH", answer.isSuccess { return reportLink(result, proxy) }
    // Nothing more is created.
    if case .probing = upload.state { return fail(.tus(.unproved(status: answer.status)), result) }
    if case .address = aim, case .sending = upload.state { return examineAddress() }
    if asked.method == "HEAD" { examineOffset() }
  }

  /// A HEAD shows whether the upload can be reached where it is.
  private func examineAddress() {
    if asked.method == "POST", let location = upload.location, location.origin != endpoint.origin {
      upload.locate()
    } else {
      remove()
    }
  }

  private func reportMove(from address: String, to location: TargetURI) {
    add(
      .uploadAddress,
      .warning(
        "the server says that its uploads are at " + address + ", where no tus server responds. They are continued at "
          + secrets.host(location.origin) + ".", remedy: TusChecks.behindProxy))
  }

  /// Compares the server's offset with what was sent of the interrupted request.
  private func examineOffset() {
    guard case .made(let arrived, let questions) = cut, case .sending(_, let offset, _) = upload.state else { return }
    if offset > 0 {
      cut = .known
      return add(
        .spooling,
        .ok(
          "content reaches the tus server while it is sent: " + SizeText.short(offset) + " of "
            + SizeText.short(arrived) + " were kept after an interruption"))
    }
    if questions + 1 < Limits.offsetQuestionCount {
      cut = .made(arrived: arrived, questions: questions + 1)
      pauses = true
      return upload.locate()
    }
    cut = .known
    add(
      .spooling,
      .warning(
        "something on the path buffers whole requests: of " + SizeText.short(arrived)
          + ", nothing was kept after an interruption.",
        remedy: "An interruption costs a whole request. nginx: proxy_request_buffering off. Cloudflare and ModSecurity"
          + " have no such setting: on unreliable links send with --chunk-size 8Mi or less."))
  }

  private func reportSuccess() {
    let rate = SizeText.rate(bytes: sent.length, milliseconds: sent.milliseconds)
    let text = "the tus server has received a test upload of " + SizeText.short(length) + ", at " + rate
    guard let refusal, refusal.length > Limits.announcedPatchLengths[0] else {
      return add(.testUpload, .ok(text))
    }
    let name = refusal.shown?.software.name ?? "the server"
    add(
      .testUpload,
      .warning(
        text + ", but " + name + " refuses a request of " + SizeText.short(refusal.length)
          + " (413); uploads halve their requests until they pass.", remedy: refusal.shown?.remedy))
  }

  private func reportLink(_ result: ProbeResult, _ proxy: String?) {
    guard let link = result.link else { return fail(result.error, result) }
    findings.append(LinkChecks.finding(link, to: result.peer ?? "", proxy: proxy, isNarrow: isNarrow))
    remove()
  }

  private func fail(_ error: UploadError?, _ result: ProbeResult?) {
    let offset = upload.confirmed + (result?.answer == nil ? result?.arrivedLength ?? 0 : 0)
    var about = "a test upload of " + SizeText.short(length) + ", after " + SizeText.exact(offset)
    let check: Finding.Check
    switch aim {
    case .limits: check = .testUpload
    case .link: check = .link
    case .address: (check, about) = (.uploadAddress, "an empty test upload")
    }
    // The refusal of the longest request says more than that of the shortest.
    let shown = refusal?.shown ?? result?.shown
    if case .cancelled = error {
    } else {
      add(check, .failure(error ?? .unconfirmed(status: 0), about: about, answer: shown, remedy: remedy(result, error)))
    }
    remove()
  }

  /// What to do about an address that the server names and nobody answers at; nil if that is not the problem.
  private func remedy(_ result: ProbeResult?, _ error: UploadError?) -> String? {
    let address: String
    switch (error, upload.location) {
    case (.tus(.unusableLocation(let text)), _): address = secrets.line(ofURI: text)
    case (_, let location?) where result?.answer?.fields.haveTusProof != true && location.origin != endpoint.origin:
      address = secrets.host(location.origin)
    default: return nil
    }
    return TusChecks.remedy(ofLocation: address)
  }
}

/// Removes what a test has created, or says what is left.
package final class TestRemoval {
  private let task: UploadTask
  /// "the test upload of 10.0 MB at https://…"
  private let subject: String
  private let howElse: String
  private var problem: UploadError?
  private var tries = 0

  init(ofUpload location: TargetURI, length: Int64, expires: String?, overridesMethod: Bool, _ secrets: Secrets) {
    task = CancelTask(location, overridesMethod: overridesMethod)
    subject = "the test upload of " + SizeText.short(length) + " at " + secrets.line(ofURI: location.text)
    let expiry = expires.map { "The server deletes it at " + secrets.line($0) + ". " } ?? ""
    howElse =
      expiry + "Delete it in the tus server's directory (tusd: -upload-dir), where its name is the end of the address."
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
    task = DeleteTask(assetID: assetID, deleteToken: token, from: base, isRepeated: false)
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
      try task.receive(answer)
      return false
    } catch {
      tries += 1
      let most = error == .tus(.locked) ? Limits.lockQuestionCount : Limits.offsetQuestionCount
      if tries >= most || !canBeRetried(error) { problem = error }
      return problem == nil
    }
  }

  /// An interruption ends what was examined. What it has created is removed nevertheless.
  private func canBeRetried(_ error: UploadError) -> Bool {
    if case .cancelled = error { true } else { error.traits.isTransient }
  }

  package var result: Finding.Result {
    if problem == nil, case .finished(let outcome)? = try? task.next() {
      guard case .cancelled(isKept: true) = outcome else { return .ok(subject + " is removed") }
      return .warning(
        subject + " is still there: the server cannot delete uploads (no termination).", remedy: howElse)
    }
    return .warning(subject + " is still there: " + (problem.map { reason($0) } ?? "") + ".", remedy: howElse)
  }

  private func reason(_ error: UploadError) -> String {
    switch error {
    case .refused(let status, _), .notFromServer(let status): "the deletion was refused (" + String(status) + ")"
    case .unconfirmed: "no delete token came with it"
    case .tus(.locked): "it is locked"
    default: "the server did not answer the deletion"
    }
  }
}

extension Limits {
  /// How much of an interrupted request is sent, in bytes. No path buffers as much unless it buffers everything.
  static let cutLength: Int64 = 1 << 20
}
