/// The line that separates the parts of a multipart body (RFC 2046, 5.1.1): 128 random bits, so that nobody can plant it
/// in a file or a field. At most 70 characters are allowed; it has 44.
package struct Boundary: Equatable, Sendable {
  package let text: String

  /// - Parameter random: 16 bytes nobody can guess.
  package init(random: [UInt8]) {
    precondition(random.count == 16)
    text = "----GigHive-" + ASCII.hex(random)
  }
}
