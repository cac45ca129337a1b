import UploadCore

/// What all uploads of an ``Uploader`` share.
struct SharedResources {
  let configuration: Configuration
  let tls: TLSSource
  let state = StateSource()

  /// What applies to an upload whatever its protocol is.
  func policy() throws(UploadError) -> UploadPolicy {
    var policy = UploadPolicy(retries: configuration.retryPolicy, seed: try RandomBytes.number())
    policy.totalMilliseconds = configuration.timeouts.totalMilliseconds
    policy.canRenewCredentials = configuration.refreshCredentials != nil
    return policy
  }
}
