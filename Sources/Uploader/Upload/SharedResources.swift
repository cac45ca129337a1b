import CShims
import UploadCore

/// The resources shared by all uploads of an ``Uploader``.
struct SharedResources {
  let configuration: Configuration
  let tls: TLSContextCache
  let state = StateDirectoryCache()
  let fileSystems = FileSystemCache()
  let silentServers = SilentServers()
  let routes = Routes()

  /// The earlier delivery of a file that nothing has touched since; nil if none is found. It costs three system calls.
  func untouchedDelivery(of request: UploadRequest) -> PreviousDelivery? {
    guard request.endsWithDelivery, let path = configuration.stateDirectory,
      let seen = request.lastSeen ?? FileSighting(at: request.file),
      fileSystems.kind(device: seen.identity.device) == .stable
    else { return nil }
    let warnings = configuration.warnings
    do throws(StateError) {
      return try state.open(path, warn: { warnings?($0) }).untouchedDelivery(of: request, seen)
    } catch { return nil }
  }

  /// Settings that apply to uploads of all protocols.
  func policy() throws(UploadError) -> UploadPolicy {
    var policy = UploadPolicy(retries: configuration.retryPolicy, seed: try RandomBytes.number())
    policy.totalMilliseconds = configuration.timeouts.totalMilliseconds
    policy.proxies = configuration.proxies
    policy.canRenewCredentials = configuration.refreshCredentials != nil
    return policy
  }

  /// The same for a question about a recording that is delivered: it holds the place of an upload, so it is asked once, and not for long.
  func examinationPolicy() throws(UploadError) -> UploadPolicy {
    var policy = try policy()
    policy.totalMilliseconds = min(policy.totalMilliseconds ?? .max, Limits.examinationMilliseconds)
    policy.retries = RetryPolicy(
      .failures(0), maximumDelayMilliseconds: configuration.retryMaximumDelayMilliseconds)
    return policy
  }
}
