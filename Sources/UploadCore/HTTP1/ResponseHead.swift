/// A response's status and fields (RFC 9112, 4 and 5).
package struct ResponseHead: Equatable, Sendable {
  /// 0 for HTTP/1.0, 1 for HTTP/1.1.
  package let minorVersion: UInt8
  /// 100 to 599.
  package let status: Int
  package let fields: [Field]
  /// Whether there was a malformed field line. It is ignored, and the connection is not reused.
  package let hasMalformedField: Bool

  package init(minorVersion: UInt8 = 1, status: Int, fields: [Field]) {
    self.minorVersion = minorVersion
    self.status = status
    self.fields = fields
    hasMalformedField = false
  }

  package var isInterim: Bool { status < 200 }
}
