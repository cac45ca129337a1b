import CShims
import UploadCore

/// The resources shared by all uploads of an ``Uploader``.
struct SharedResources {
  let configuration: Configuration
  let tls: TLSContextCache
  let state = StateDirectoryCache()
  let fileSystems = FileSystemCache()
  let silentServers = SilentServers()
  let refusedCredentials = RefusedCredentials()
  let routes = Routes()

  /// The earlier delivery of a file that nothing has touched since; nil if none is found. It costs three system calls.
  func untouchedDelivery(of request: UploadRequest) -> PreviousDelivery? {
    guard request.endsWithDelivery, let path = configuration.stateDirectory,
      let seen = request.lastSeen ?? FileSighting(at: request.file),
      fileSystems.kind(device: seen.identity.device) == .stable
    else { return nil }
    do throws(StateError) { return try openState(path).untouchedDelivery(of: request, seen) } catch { return nil }
  }

  func openState(_ path: LocalPath) throws(StateError) -> StateDirectory {
    let warnings = configuration.warnings
    return try state.open(path, warn: { warnings?($0) })
  }

  /// Settings that apply to uploads of all protocols.
  func policy() throws(UploadError) -> UploadPolicy {
    var policy = UploadPolicy(retries: configuration.retryPolicy, seed: try RandomBytes.number())
    policy.totalMilliseconds = configuration.timeouts.totalMilliseconds
    policy.proxies = configuration.proxies
    policy.canRenewCredentials = configuration.refreshCredentials != nil
    return policy
  }

  /// The same for a part that another connection sends: what fails is left to the upload.
  func partPolicy() throws(UploadError) -> UploadPolicy {
    var policy = try policy()
    policy.totalMilliseconds = nil
    policy.canRenewCredentials = false
    policy.retries = RetryPolicy(
      .failures(0), maximumDelayMilliseconds: configuration.retryMaximumDelayMilliseconds)
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

/// The servers that did not answer when they were asked about a delivered recording. An upload waits while they are asked.
final class SilentServers {
  private var servers: [(origin: String, silence: ServerSilence, error: UploadError)] = []

  /// Why the server is not asked now; nil if it is.
  func error(of origin: String, _ now: Int64) -> UploadError? {
    servers.first { $0.origin == origin && !$0.silence.allowsQuestion(now) }?.error
  }

  func note(_ error: UploadError, of origin: String, _ now: Int64) {
    if let index = servers.firstIndex(where: { $0.origin == origin }) {
      servers[index].silence.note(now)
      servers[index].error = error
    } else {
      servers.append((origin, ServerSilence(), error))
      servers[servers.count - 1].silence.note(now)
    }
  }

  func noteAnswer(of origin: String) { servers.removeAll { $0.origin == origin } }
}

/// The servers that have just refused the credentials. They are not tried again with each file: a Nextcloud locks the address out after
/// eleven attempts.
final class RefusedCredentials {
  private var refusals: [(origin: String, error: UploadError, untilMilliseconds: Int64)] = []

  /// Why a server is not asked now; nil if it is.
  func error(of origin: String, nowMilliseconds now: Int64) -> UploadError? {
    refusals.first { $0.origin == origin && now < $0.untilMilliseconds }?.error
  }

  /// - Parameter error: that of an upload, whatever it is.
  func note(_ error: UploadError, of origin: String, nowMilliseconds now: Int64) {
    guard error.traits.exitCode == ExitCode.credentialsRefused, error.traits.concern == .destination else { return }
    refusals.removeAll { $0.origin == origin }
    refusals.append((origin, error, now + Limits.refusedCredentialsMilliseconds))
  }
}

extension Limits {
  /// How long GigHive may take to say whether it still has a recording, in milliseconds. Without a response the file stays, which only
  /// costs space.
  static let examinationMilliseconds: Int64 = 10_000
  /// How long nothing is sent to a server that has refused the credentials, in milliseconds.
  static let refusedCredentialsMilliseconds: Int64 = 60_000
}
