/// Numbers that a caller of the library sets. One outside of its range is an error before anything is sent, and never
/// a trap, an overflow or an endless wait.
package struct Settings {
  /// What is wrong with the first number that is out of its range.
  package private(set) var problem: UploadError?

  package init() {}

  /// - Parameters:
  ///   - field: the property's name, such as `retries`.
  ///   - value: nil where the property is not set.
  package mutating func check(_ field: String, _ value: Int64?, in range: ClosedRange<Int64>) {
    guard problem == nil, let value, !range.contains(value) else { return }
    problem = .invalidConfiguration(field: field, value: value, allowed: range)
  }

  /// Time limits: up to a year, in milliseconds.
  package static let timeoutMilliseconds: ClosedRange<Int64> = 1...Limits.timeoutMilliseconds
  /// Pauses: up to a year, in milliseconds. None at all is allowed.
  package static let delayMilliseconds: ClosedRange<Int64> = 0...Limits.timeoutMilliseconds
  /// In bytes a second.
  package static let rate: ClosedRange<Int64> = 1...Limits.rate
  /// Tries after the first one.
  package static let retries: ClosedRange<Int64> = 0...Limits.retryCount
  /// The length of requests, in bytes.
  package static let chunkLength: ClosedRange<Int64> = 1...Limits.fileSize
  /// A file's size, in bytes, and a size from which something applies.
  package static let fileSize: ClosedRange<Int64> = 0...Limits.fileSize
  /// Uploads at a time.
  package static let jobs: ClosedRange<Int64> = 1...Limits.jobCount
}
