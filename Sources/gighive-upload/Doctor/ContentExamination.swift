import Uploader

/// Sends zeros to the server (`--send-test`), and removes what that creates.
struct ContentExamination {
  private let request: UploadRequest
  private let prober: Prober
  private let findings: Findings

  init(_ request: UploadRequest, _ prober: Prober, _ findings: Findings) {
    self.request = request
    self.prober = prober
    self.findings = findings
  }

  /// - Parameter length: in bytes, greater than zero.
  func run(_ length: Int64, _ boundary: Boundary, overTus: Bool, asForm: Bool) {
    if asForm { sendForm(length, boundary) }
    if overTus, !prober.cancellation.isCancelled { sendUpload(length) }
    if !asForm, !overTus {
      let reason = "a file of " + SizeText.short(length) + " would go over tus, which is missing"
      findings.add(Finding(.testUpload, .notExamined(reason)))
    }
  }

  private func sendForm(_ length: Int64, _ boundary: Boundary) {
    guard let form = try? DiagnosisRequests.unlabelledForm(request.multipartTarget, length: length, boundary) else {
      return
    }
    let result = prober.ask(form)
    findings.add(FormTestCheck.form(result, length: length))
    guard let answer = result.answer, let removal = TestRemoval(ofRecording: answer, from: request.base) else { return }
    let prober = prober.afterInterruption()
    while let request = removal.request {
      if removal.receive(prober.ask(request)) { prober.pause(milliseconds: Limits.questionPauseMilliseconds) }
    }
    findings.add(Finding(.removal, removal.result))
  }

  private func sendUpload(_ length: Int64) {
    var prober = prober
    do throws(TusError) {
      let upload = try TestUpload(at: request.tusTarget, length: length, prober.secrets)
      while true {
        for finding in upload.takeFindings() { findings.add(finding) }
        if prober.cancellation.isCancelled {
          prober = prober.afterInterruption()
          upload.interrupt()
        }
        switch upload.next() {
        case .ask(let request, let cutAfter): upload.receive(prober.ask(request, cutAfter: cutAfter))
        case .wait(let milliseconds): prober.pause(milliseconds: milliseconds)
        case .finished:
          for finding in upload.takeFindings() { findings.add(finding) }
          return
        }
      }
    } catch { findings.add(Finding(.testUpload, .failure(.tus(error)))) }
  }
}
