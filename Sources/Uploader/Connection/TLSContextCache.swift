import UploadCore

/// The TLS settings, loaded when the first https target needs them.
final class TLSContextCache {
  private let options: TLSOptions
  private let jobs: Int
  private var loaded: TLSContext?

  init(_ options: TLSOptions, jobs: Int) {
    self.options = options
    self.jobs = jobs
  }

  func context(for target: TargetURI) throws(UploadError) -> TLSContext? {
    guard target.scheme == .https else { return nil }
    if let loaded { return loaded }
    do throws(TLSError) {
      let context = try TLSContext(options, jobs: jobs)
      loaded = context
      return context
    } catch { throw .tls(error, host: target.host) }
  }
}
