import UploadCore

/// The resources shared by all uploads of an ``Uploader``.
struct SharedResources {
  let configuration: Configuration
  let tls: TLSSource
  let state = StateSource()

  /// Settings that apply to uploads of all protocols.
  func policy() throws(UploadError) -> UploadPolicy {
    var policy = UploadPolicy(retries: configuration.retryPolicy, seed: try RandomBytes.number())
    policy.totalMilliseconds = configuration.timeouts.totalMilliseconds
    policy.canRenewCredentials = configuration.refreshCredentials != nil
    return policy
  }
}
