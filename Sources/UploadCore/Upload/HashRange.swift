/// A part of the file to be hashed.
package enum HashRange: Equatable, Sendable {
  /// SHA-256 of the whole file. Bytes that were hashed while they were sent are not read again.
  case wholeFile
  /// A checksum of one range, in bytes.
  case range(TusCapabilities.ChecksumAlgorithm, offset: Int64, length: Int64)
  /// SHA-256 of the first bytes, which an earlier process has sent. They count for the whole file's.
  case beginning(length: Int64)
  /// SHA-256 of the whole file as it is now, and of what was sent, while the end of the file is held back.
  case wholeFileAgain
}
