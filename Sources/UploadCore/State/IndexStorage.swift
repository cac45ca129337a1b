/// Where an index is kept: bytes from 0 on, such as a file's.
package protocol IndexStorage: AnyObject {
  /// - Returns: fewer bytes than `count` at the end.
  func read(_ count: Int, at offset: Int64) throws(SystemError) -> [UInt8]
  func write(_ bytes: [UInt8], at offset: Int64) throws(SystemError)
  /// Makes it so long, and all zero.
  func reset(length: Int64) throws(SystemError)
}

/// Why an index cannot be used. What it says can be found out from the records.
package enum IndexError: Error, Equatable {
  case damaged
  case system(SystemError)
}
