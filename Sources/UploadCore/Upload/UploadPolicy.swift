/// What applies to an upload whatever its protocol is.
package struct UploadPolicy: Sendable {
  package var retries: RetryPolicy
  /// The whole of it, with all its tries, in milliseconds; nil for no limit.
  package var totalMilliseconds: Int64?
  /// Can other credentials be looked for when those in use are refused?
  package var canRenewCredentials = false
  /// Decides how long the pauses between tries are.
  package var seed: UInt64

  package init(retries: RetryPolicy, seed: UInt64) {
    self.retries = retries
    self.seed = seed
  }
}
