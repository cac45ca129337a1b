/// The Retry-After field (RFC 9110, 10.2.3).
package enum RetryAfter {
  /// The delay that the server asks for, in milliseconds; nil if there is none or it cannot be parsed.
  /// - Parameter nowSeconds: since 1970 by this machine's clock. It is used only if the response has no date, because boards
  ///   often do not know the time.
  package static func milliseconds(_ fields: [Field], nowSeconds: Int64) -> Int64? {
    guard let value = fields.first("Retry-After") else { return nil }
    if let seconds = ASCII.decimal(value.utf8) { return min(seconds, Limits.retryAfterMilliseconds / 1000) * 1000 }
    guard let date = HTTPDate.seconds(value) else { return nil }
    let now = fields.first("Date").flatMap { HTTPDate.seconds($0) } ?? nowSeconds
    return min(max(0, date - now), Limits.retryAfterMilliseconds / 1000) * 1000
  }
}
