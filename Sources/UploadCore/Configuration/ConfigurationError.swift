/// Why a configuration file was refused.
package struct ConfigurationError: Error, Equatable {
  package enum Reason: Error, Equatable {
    /// In bytes.
    case fileTooLong(limit: Int)
    /// In bytes.
    case lineTooLong(limit: Int)
    case tooManyLines(limit: Int)
    case controlCharacter
    /// A line without "=".
    case noValue([UInt8])
    case noName
    case unclosedSection
    case sectionName([UInt8])
    case repeatedSection(String)
    /// `[watch DIR]` without an absolute path.
    case watchSection
  }

  /// From 1; nil if it is about the whole file.
  package let line: Int?
  package let reason: Reason

  init(line: Int?, _ reason: Reason) {
    self.line = line
    self.reason = reason
  }
}
