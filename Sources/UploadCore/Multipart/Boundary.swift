/// The line that separates the parts of a multipart body (RFC 2046, 5.1.1). It has 128 random bits, so that no file or field
/// can contain it on purpose. 70 characters are allowed; it has 44.
package struct Boundary: Equatable, Sendable {
  package let text: String

  /// - Parameter random: 16 unpredictable bytes.
  package init(random: [UInt8]) {
    precondition(random.count == 16)
    text = "----GigHive-" + ASCII.hex(random)
  }
}
