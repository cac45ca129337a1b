import UploadCore

/// Asks a server on behalf of a diagnosis, one request at a time.
package final class Prober {
  package let target: TargetURI
  private let configuration: Configuration
  private let tls: TLSSource
  package let cancellation: Cancellation

  /// - Parameter target: the destination. Credentials go to its origin only.
  package init(_ target: TargetURI, _ configuration: Configuration, _ cancellation: Cancellation) {
    self.target = target
    self.configuration = configuration
    self.cancellation = cancellation
    tls = TLSSource(configuration.tls, jobs: 1)
  }

  /// The error in the configuration; nil if there is none.
  package var problem: UploadError? { configuration.problem(jobs: 1) }

  /// Connects, and closes the connection again.
  package func connect() -> ProbeResult { run(nil, target) }

  /// - Parameter request: if it may expect 100 (Continue), its content is announced but not sent.
  package func ask(_ request: HTTPRequest) -> ProbeResult { run(request, request.target) }

  private func run(_ request: HTTPRequest?, _ target: TargetURI) -> ProbeResult {
    let probe: Probe
    do throws(UploadError) {
      let composer = RequestComposer(configuration, origin: self.target.origin)
      probe = Probe(request, to: target, configuration, composer, tls: try tls.context(for: target))
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
