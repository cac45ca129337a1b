/// How a response violates HTTP/1.1. The mistake is the server's, or that of an intermediary.
public enum ResponseError: Error, Equatable {
  /// It does not start with `HTTP/1.` and a status: the peer speaks another protocol.
  case notHTTP
  case headTooLong(limit: Int)
  case tooManyFields(limit: Int)
  /// In bytes.
  case tooManyInterimResponses(limit: Int)
  /// A field line, also of a trailer, with a bad name, white space before the colon, a bare CR, a NUL or obsolete folding (RFC 9112, 5),
  /// or a status line with a bare CR or a NUL.
  case invalidField
  /// A length that is not a number, or contradicts another one (RFC 9112, 6.3).
  case invalidContentLength
  case unsupportedTransferEncoding
  case invalidChunk
  case trailerTooLong(limit: Int)
  /// `101 (Switching Protocols)`, which was not requested.
  case unexpectedUpgrade
  /// The connection ended before the response did.
  case incomplete
}
