/// Checks numbers set by the caller of the library. One out of range is an error before anything is sent, never a trap, an
/// overflow or an endless wait.
package struct AllowedRanges {
  /// The error of the first number out of range; nil if there is none.
  package private(set) var problem: UploadError?

  package init() {}

  /// - Parameters:
  ///   - field: the property's name, such as `retries`.
  ///   - value: nil if the property is not set.
  package mutating func check(_ field: String, _ value: Int64?, in range: ClosedRange<Int64>) {
    guard problem == nil, let value, !range.contains(value) else { return }
    problem = .invalidConfiguration(field: field, value: value, allowed: range)
  }

  /// Time limits: up to a year, in milliseconds.
  package static let timeoutMilliseconds: ClosedRange<Int64> = 1...Limits.timeoutMilliseconds
  /// Delays: up to a year, in milliseconds. Zero is allowed.
  package static let delayMilliseconds: ClosedRange<Int64> = 0...Limits.timeoutMilliseconds
  /// Rates, in bytes per second.
  package static let rate: ClosedRange<Int64> = 1...Limits.rate
  /// The share of the line for recordings that are still made, in percent.
  package static let liveShare: ClosedRange<Int64> = 1...99
  /// Numbers of retries.
  package static let retries: ClosedRange<Int64> = 0...Limits.retryCount
  /// Numbers of connections for one recording.
  package static let connections: ClosedRange<Int64> = 1...Limits.connectionCount
  /// Times for retries, in milliseconds.
  package static let retryTime: ClosedRange<Int64> = Limits.retryTimeMilliseconds...Limits.timeoutMilliseconds
  /// The length of requests, in bytes.
  package static let chunkLength: ClosedRange<Int64> = 1...Limits.fileSize
  /// File sizes and size thresholds, in bytes.
  package static let fileSize: ClosedRange<Int64> = 0...Limits.fileSize
  /// The length of a test upload, in bytes.
  package static let testLength: ClosedRange<Int64> = 1...Limits.testLength
  /// The length of a caller's context, in bytes of UTF-8.
  static let contextLength: ClosedRange<Int64> = 0...Limits.contextLength
  /// Numbers of concurrent uploads.
  package static let jobs: ClosedRange<Int64> = 1...Limits.jobCount
}

extension Limits {
  /// A caller's context in a record, in bytes: a key of its database, or a few words of JSON. Each record is read as a whole.
  static let contextLength: Int64 = 1 << 10
  /// The most retries that can be set.
  static let retryCount: Int64 = 1_000_000
  /// The shortest time for retries that can be set, in milliseconds.
  static let retryTimeMilliseconds: Int64 = 1000
  /// The largest test upload, in bytes: Apache's default limit.
  static let testLength: Int64 = 1 << 30
}
