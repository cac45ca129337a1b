import Uploader

/// Examines the server: its endpoints, the credentials, and how long requests may be.
struct ServerExamination {
  private var request: UploadRequest
  /// That of the file, in bytes.
  private let size: Int64?
  private let arguments: DoctorArguments
  private let prober: Prober
  private let configuration: Configuration
  private let findings: Findings

  init(
    _ arguments: DoctorArguments, _ size: Int64?, _ prober: Prober, _ configuration: Configuration, _ findings: Findings
  ) {
    request = arguments.request
    self.arguments = arguments
    self.size = size
    self.prober = prober
    self.configuration = configuration
    self.findings = findings
  }

  mutating func run() throws(UsageError) {
    if let object = arguments.object { return try examine(object) }
    let boundary: Boundary
    do throws(UploadError) { boundary = try Boundary(random: RandomBytes.bytes(16)) } catch {
      return findings.add(Finding(.entropy, .failure(error)))
    }
    if request.isForGigHive, !examineCredentials(boundary) { return }
    let (tus, isAbsent) = examineTus()
    if sendsForms || isAbsent {
      examineForms(
        boundary, hasTus: tus != nil && request.uploadProtocol == .automatic,
        hasAlternative: request.isForGigHive && !isAbsent)
    }
    let takesPatches = tus != nil && examinePatches()
    let content = ContentExamination(request, prober, boundary, findings)
    let showsAddress = arguments.testLength != nil || arguments.measuresLink
    if takesPatches, let tus, !showsAddress, tusNeed != .avoided, TusChecks.terminates(tus) {
      content.examineAddress()
    }
    if let length = arguments.testLength { content.run(length, overTus: tus != nil, asForm: sendsTestForm) }
    if arguments.measuresLink, !prober.cancellation.isCancelled {
      let proxy = configuration.proxies.proxy(for: prober.target)
      content.measureLink(overTus: tus, asForm: maySendForms, proxy: proxy?.text)
    }
  }

  /// Writes a small object beside where files go, and removes it again.
  private func examine(_ object: ObjectURL) throws(UsageError) {
    let id: String
    do throws(UploadError) { id = ASCII.hex(try RandomBytes.bytes(4)) } catch {
      return findings.add(Finding(.entropy, .failure(error)))
    }
    guard let target = try object.target(ofTest: Array(("gighive-upload-doctor-" + id).utf8)) else {
      let reason = "the URL is for one object, so nothing was written there or beside it"
      return findings.add(Finding(.testObject, .notExamined(reason)))
    }
    var region: String?
    if case .s3(let object) = request.destination { region = object.region }
    let test = TestObject(
      at: target, region: region, isForWebDAV: request.isForWebDAV, id: id, prober.secrets)
    var prober = prober
    while true {
      if prober.cancellation.isCancelled {
        prober = prober.afterInterruption()
        test.interrupt()
      }
      let step = test.next()
      if case .ask(let request) = step { test.receive(prober.ask(request)) }
      for finding in test.takeFindings() { findings.add(finding) }
      if case .finished = step { return }
    }
  }

  /// GigHive refuses a form without a label. Guests have no forms.
  private var maySendForms: Bool { request.isForGigHive && !isGuest }

  private var isGuest: Bool { configuration.credentials.areGuests }

  private var tusNeed: TusChecks.Need {
    if !request.isForGigHive { return .tusServer }
    if request.uploadProtocol == .tus { return .chosen }
    if isGuest { return .guests }
    return size.map { request.prefersTus(size: $0, isGuest: false) } ?? true ? .preferred : .avoided
  }

  private var sendsTestForm: Bool {
    guard let length = arguments.testLength, maySendForms else { return false }
    return !request.prefersTus(size: length, isGuest: false)
  }

  /// - Returns: what a tus server that can be sent to says of itself, nil if there is none; and whether there is none, so that large
  ///   recordings go as forms, too.
  private func examineTus() -> (server: ProbeResult?, isAbsent: Bool) {
    guard request.requiresTus || (request.isForGigHive && request.uploadProtocol != .multipart) else {
      return (nil, false)
    }
    let options = prober.ask(DiagnosisRequests.tusOptions(request.tusTarget))
    if !request.isForGigHive { examineClock(options) }
    let need = tusNeed
    let creation =
      TusChecks.leavesOpen(options, need) ? prober.ask(DiagnosisRequests.lengthlessCreation(request.tusTarget)) : nil
    let finding = TusChecks.tus(options, creation, at: request.tusTarget, need)
    findings.add(finding)
    switch finding.result {
    case .ok: break
    case .warning: return (nil, true)
    case .failure, .notExamined: return (nil, false)
    }
    if let finding = TusChecks.largestFile(options, size: need == .avoided ? nil : size) { findings.add(finding) }
    return (options, false)
  }

  private func examineClock(_ result: ProbeResult) {
    if let answer = result.answer, let clock = ServerChecks.clock(answer) { findings.add(clock) }
  }

  /// Whether the file, or the smallest recordings, go as one form.
  private var sendsForms: Bool { !request.requiresTus && !request.prefersTus(size: size ?? 0, isGuest: isGuest) }

  /// - Returns: false if GigHive does not accept them, so that nothing else can be examined.
  private func examineCredentials(_ boundary: Boundary) -> Bool {
    let finding: Finding
    if isGuest {
      let result = prober.ask(DiagnosisRequests.guestToken(request.base))
      examineClock(result)
      finding = ServerChecks.guestToken(result)
    } else {
      guard let form = try? DiagnosisRequests.unlabelledForm(request.multipartTarget, length: 0, boundary) else {
        return false
      }
      let result = prober.ask(form)
      examineClock(result)
      finding = ServerChecks.form(
        result, at: request.multipartTarget, hasCredentials: !configuration.credentials.fields.isEmpty)
    }
    findings.add(finding)
    if case .failure = finding.result { return false }
    return true
  }

  /// - Parameters:
  ///   - hasTus: whether what is too long for a form goes over tus.
  ///   - hasAlternative: whether it could, if the user wanted.
  private func examineForms(_ boundary: Boundary, hasTus: Bool, hasAlternative: Bool) {
    // Without a file, recordings that are not large must pass.
    let needed = size ?? min(request.tusThreshold, Limits.announcedFormLengths[1])
    var checks = LimitChecks(.form, needed: needed, isOnlyCheck: !request.isForGigHive, hasTus: hasTus)
    for length in lengths(Limits.announcedFormLengths, and: needed) where checks.finding == nil {
      checks.add(
        prober.ask(DiagnosisRequests.announcedForm(request.multipartTarget, length: length, boundary)), of: length)
    }
    checks.finish()
    if let length = checks.refusedByApache, let answer = announceAnonymously(length, boundary) {
      checks.addWithoutCredentials(answer)
    }
    if let finding = checks.finding { findings.add(hasAlternative ? withAlternative(finding) : finding) }
    if sendsTestForm { return }
    findings.add(
      Finding(
        .contentLimit,
        .notExamined(
          "PHP's limits (upload_max_filesize, post_max_size) show only when a form has arrived: --send-test SIZE")))
  }

  /// Announces a form without credentials.
  /// - Returns: nil if the server does not demand any.
  private func announceAnonymously(_ length: Int64, _ boundary: Boundary) -> ProbeResult? {
    var configuration = configuration
    configuration.credentials = .none
    let anonymous = Prober(prober.target, configuration, prober.cancellation)
    guard let form = try? DiagnosisRequests.unlabelledForm(request.multipartTarget, length: 0, boundary),
      anonymous.ask(form).answer?.status == 401
    else { return nil }
    return anonymous.ask(DiagnosisRequests.announcedForm(request.multipartTarget, length: length, boundary))
  }

  /// - Returns: false if uploads over tus would fail.
  private mutating func examinePatches() -> Bool {
    let shortest = Limits.announcedPatchLengths[0]
    var checks = LimitChecks(
      .patch, needed: shortest, isOnlyCheck: !request.isForGigHive, isAvoided: tusNeed == .avoided)
    for length in Limits.announcedPatchLengths where checks.finding == nil {
      checks.add(announcePatch(length, overridesMethod: request.overridesMethod), of: length)
    }
    checks.finish()
    if checks.isMethodRefused, !request.overridesMethod {
      checks.addOverride(announcePatch(shortest, overridesMethod: true))
      // If it helps, all that follows needs it.
      request.overridesMethod = true
    }
    guard let finding = checks.finding else { return true }
    findings.add(finding)
    if case .failure = finding.result { return false }
    return true
  }

  private func announcePatch(_ length: Int64, overridesMethod: Bool) -> ProbeResult {
    prober.ask(
      DiagnosisRequests.announcedPatch(request.tusTarget, length: length, overridesMethod: overridesMethod))
  }

  /// GigHive also takes recordings in shorter requests.
  private func withAlternative(_ finding: Finding) -> Finding {
    guard case .failure(let error, let about, let answer?, let other) = finding.result,
      let remedy = other ?? answer.remedy
    else { return finding }
    let alternative = " Or send everything over tus (--protocol tus), in requests that may be shorter."
    return Finding(finding.check, .failure(error, about: about, answer: answer, remedy: remedy + alternative))
  }

  /// With another one, in order.
  private func lengths(_ lengths: [Int64], and other: Int64) -> [Int64] {
    guard other > 0, !lengths.contains(other) else { return lengths }
    return lengths.filter { $0 < other } + [other] + lengths.filter { $0 > other }
  }
}
