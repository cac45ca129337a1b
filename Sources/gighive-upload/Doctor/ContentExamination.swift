import Uploader

/// Sends zeros to the server (`--send-test`, `--link`), and removes what that creates.
struct ContentExamination {
  private let request: UploadRequest
  private let prober: Prober
  private let boundary: Boundary
  private let findings: Findings

  init(_ request: UploadRequest, _ prober: Prober, _ boundary: Boundary, _ findings: Findings) {
    self.request = request
    self.prober = prober
    self.boundary = boundary
    self.findings = findings
  }

  /// - Parameter length: in bytes, greater than zero.
  func run(_ length: Int64, overTus: Bool, asForm: Bool) {
    if asForm { sendForm(length) }
    if overTus, !prober.cancellation.isCancelled { sendUpload(.limits(length: length)) }
    if !asForm, !overTus {
      let reason = "a file of " + SizeText.short(length) + " would go over tus, which is missing"
      findings.add(Finding(.testUpload, .notExamined(reason)))
    }
  }

  /// - Parameters:
  ///   - tus: what the tus server says of itself; nil if there is none.
  ///   - proxy: the one that requests go through; nil for none.
  func measureLink(overTus tus: ProbeResult?, asForm: Bool, proxy: String?) {
    if let tus {
      sendUpload(.link(proxy: proxy, largest: tus.answer?.fields.tusNumber("Tus-Max-Size")))
    } else if asForm {
      measureLinkWithForm(proxy)
    } else {
      findings.add(Finding(.link, .notExamined("zeros would go over tus, which is missing")))
    }
  }

  private func measureLinkWithForm(_ proxy: String?) {
    var (length, isNarrow) = (Limits.chunkMaximumLength, false)
    while let form = form(length) {
      let result = prober.ask(form, cut: .afterMilliseconds(Limits.linkMilliseconds, isNarrow: isNarrow))
      if !isNarrow, LinkChecks.mayBeNarrow(result) {
        isNarrow = true
        continue
      }
      guard let shorter = LinkChecks.shorter(than: length, after: result) else {
        findings.add(LinkChecks.form(result, length: length, proxy: proxy, isNarrow: isNarrow))
        return removeRecording(result)
      }
      length = shorter
    }
  }

  /// Creates an upload, sends nothing, and removes it.
  func examineAddress() { sendUpload(.address) }

  private func sendForm(_ length: Int64) {
    guard let form = form(length) else { return }
    let result = prober.ask(form)
    findings.add(FormTestCheck.form(result, length: length))
    removeRecording(result)
  }

  private func form(_ length: Int64) -> HTTPRequest? {
    try? DiagnosisRequests.unlabelledForm(request.multipartTarget, length: length, boundary)
  }

  /// If the form has become a recording.
  private func removeRecording(_ result: ProbeResult) {
    guard let answer = result.answer, let removal = TestRemoval(ofRecording: answer, from: request.base) else { return }
    let prober = prober.afterInterruption()
    while let request = removal.request {
      if removal.receive(prober.ask(request)) { prober.pause(milliseconds: Limits.questionPauseMilliseconds) }
    }
    findings.add(Finding(.removal, removal.result))
  }

  private func sendUpload(_ aim: TestUpload.Aim) {
    var prober = prober
    do throws(TusError) {
      let upload = try TestUpload(
        at: request.tusTarget, aim, overridesMethod: request.overridesMethod, prober.secrets)
      while true {
        for finding in upload.takeFindings() { findings.add(finding) }
        if prober.cancellation.isCancelled {
          prober = prober.afterInterruption()
          upload.interrupt()
        }
        switch upload.next() {
        case .ask(let request, let cut): upload.receive(prober.ask(request, cut: cut))
        case .wait(let milliseconds): prober.pause(milliseconds: milliseconds)
        case .finished:
          for finding in upload.takeFindings() { findings.add(finding) }
          return
        }
      }
    } catch { findings.add(Finding(.testUpload, .failure(.tus(error)))) }
  }
}
