/// The result of hashing.
package enum HashResult: Equatable, Sendable {
  /// In lower-case hexadecimal digits. `isStable`: whether the file did not change while the rest of it was read.
  case wholeFile(sha256: String, isStable: Bool = true)
  /// In lower-case hexadecimal digits. `isStable`: whether the file has not changed since it was opened.
  case beginning(sha256: String, isStable: Bool = true)
  /// In Base64.
  case range(checksum: String)
  /// In lower-case hexadecimal digits. `isStable`: whether the file did not change in the meantime.
  case wholeFileAgain(sent: String, now: String, isStable: Bool)
}
