/// A part of the file to be hashed.
package enum HashRange: Equatable, Sendable {
  /// SHA-256 of the whole file; what was hashed while it was sent is not read again.
  case wholeFile
  /// A checksum of one range, in bytes.
  case range(TusOffer.ChecksumAlgorithm, offset: Int64, length: Int64)
  /// SHA-256 of the whole file as it is now, beside that of what was sent, while the end of the file is held back.
  case wholeFileAgain
}

/// What hashing gave.
package enum HashResult: Equatable, Sendable {
  /// In lower-case hexadecimal digits. `isSteady`: was the file left alone while the rest of it was read?
  case wholeFile(sha256: String, isSteady: Bool = true)
  /// In base 64.
  case range(checksum: String)
  /// In lower-case hexadecimal digits. `isSteady`: was the file left alone meanwhile?
  case wholeFileAgain(sent: String, now: String, isSteady: Bool)
}
