import CShims
import UploadCore

/// Asks a server on behalf of a diagnosis, one request at a time.
package final class Prober {
  package let target: TargetURI
  private let configuration: Configuration
  private let tls: TLSContextCache
  package let cancellation: Cancellation
  private let answered: AnsweredRequest

  /// - Parameters:
  ///   - target: the destination. Credentials go to its origin only.
  ///   - answered: what the responses are about.
  package init(
    _ target: TargetURI, _ configuration: Configuration, _ cancellation: Cancellation,
    answering answered: AnsweredRequest = .other
  ) {
    self.answered = answered
    self.target = target
    self.configuration = configuration
    self.cancellation = cancellation
    tls = TLSContextCache(configuration.tls, jobs: 1)
  }

  /// The error in the configuration; nil if there is none.
  package var problem: UploadError? { configuration.problem(jobs: 1) }

  /// To redact in what the server says.
  package var secrets: Secrets { RequestComposer(configuration, origin: target.origin).secrets }

  /// Connects, and closes the connection again.
  package func connect() -> ProbeResult { run(nil, target, cut: nil) }

  /// - Parameters:
  ///   - request: if it may expect 100 (Continue), its content is announced but not sent.
  ///   - cut: nil if the request is sent whole.
  package func ask(_ request: HTTPRequest, cut: ProbeCut? = nil) -> ProbeResult {
    var request = request
    var result = run(request, request.target, cut: cut)
    for _ in 0..<Limits.redirectCount {
      guard let target = result.redirection(from: request.target) else { break }
      request.target = target
      result = run(request, target, cut: cut)
      result.redirectedTo = secrets.line(ofURI: target.text)
    }
    return result
  }

  /// Waits, unless the diagnosis is interrupted.
  package func pause(milliseconds: Int64) {
    var entry = shim_poll_entry(descriptor: cancellation.descriptor, events: Readiness.readable.rawValue, ready: 0)
    _ = shim_poll(&entry, 1, milliseconds)
  }

  /// The same, without the interruption that has ended this one: to remove what it has created.
  package func afterInterruption() -> Prober {
    Prober(target, configuration, Cancellation(), answering: answered)
  }

  private func run(_ request: HTTPRequest?, _ target: TargetURI, cut: ProbeCut?) -> ProbeResult {
    let probe: Probe
    do throws(UploadError) {
      let composer = RequestComposer(configuration, origin: self.target.origin)
      probe = Probe(
        request, to: target, configuration, composer, tls: try tls.context(for: target), cut: cut, answered: answered)
    } catch { return ProbeResult(error: error) }
    var next: Probe? = probe
    var failure: UploadError? = .cancelled(hasSentAll: false)
    EventLoop<Probe>(cancellation).run(1) {
      defer { next = nil }
      return next
    } ended: { _, error in
      failure = error
    }
    if let failure { probe.fail(failure) }
    return probe.result
  }
}
