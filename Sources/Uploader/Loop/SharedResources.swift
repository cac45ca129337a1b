import CShims
import UploadCore

/// The resources shared by all uploads of an ``Uploader``.
struct SharedResources {
  let configuration: Configuration
  let tls: TLSSource
  let state = StateSource()

  /// Settings that apply to uploads of all protocols.
  func policy() throws(UploadError) -> UploadPolicy {
    var seed: UInt64 = 0
    guard shim_random(&seed, 8) == 0 else { throw .outOfResources("randomness") }
    var policy = UploadPolicy(retries: configuration.retryPolicy, seed: seed)
    policy.totalMilliseconds = configuration.timeouts.totalMilliseconds
    policy.canRenewCredentials = configuration.refreshCredentials != nil
    return policy
  }
}
