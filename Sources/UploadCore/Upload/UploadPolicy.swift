/// Settings that apply to uploads of all protocols.
package struct UploadPolicy: Sendable {
  package var retries: RetryPolicy
  /// The time limit for the whole upload with all retries, in milliseconds; nil for no limit.
  package var totalMilliseconds: Int64?
  /// Whether the credentials can be read again when they are refused.
  package var canRenewCredentials = false
  /// The proxies that requests go through.
  package var proxies = ProxySettings()
  /// The seed for the random part of delays, and for what must be another one each time.
  package var seed: UInt64

  package init(retries: RetryPolicy, seed: UInt64) {
    self.retries = retries
    self.seed = seed
  }
}
