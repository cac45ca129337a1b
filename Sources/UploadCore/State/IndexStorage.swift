/// Where an index is read from.
package protocol IndexSource: AnyObject {
  /// - Returns: fewer bytes than `count` at the end.
  func read(_ count: Int, at offset: Int64) throws(SystemError) -> [UInt8]
}

/// The storage of an index, such as a file.
package protocol IndexStorage: IndexSource {
  func write(_ bytes: [UInt8], at offset: Int64) throws(SystemError)
  /// Sets the length, and fills it with zeros.
  func reset(length: Int64) throws(SystemError)
}

/// Why an index cannot be used. It can be rebuilt from the records.
package enum IndexError: Error, Equatable {
  case damaged
  case system(SystemError)
}
