/// How a response breaks the rules of HTTP/1.1. Each is the server's mistake, or that of something between.
public enum ResponseError: Error, Equatable {
  /// The first bytes are not `HTTP/1.` and a status: another protocol answers here.
  case notHTTP
  case headTooLong(limit: Int)
  case tooManyFields(limit: Int)
  case tooManyInterimResponses(limit: Int)
  /// A field line with a bad name, white space before the colon, a bare CR, a NUL or obsolete folding (RFC 9112, 5).
  case invalidField
  /// Lengths that are not numbers or contradict each other (RFC 9112, 6.3).
  case invalidContentLength
  case unsupportedTransferEncoding
  case invalidChunk
  case trailerTooLong(limit: Int)
  /// `101 (Switching Protocols)`, which was not asked for.
  case unexpectedUpgrade
  /// The connection ended before the response did.
  case incomplete

  /// Is another try worth while?
  var isTransient: Bool {
    switch self {
    case .incomplete: true
    case .notHTTP, .headTooLong, .tooManyFields, .tooManyInterimResponses, .invalidField, .invalidContentLength,
      .unsupportedTransferEncoding, .invalidChunk, .trailerTooLong, .unexpectedUpgrade:
      false
    }
  }
}
