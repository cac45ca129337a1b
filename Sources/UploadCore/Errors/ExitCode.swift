/// The process's exit codes. Scripts depend on them: a code never changes its meaning.
package enum ExitCode {
  package static let delivered: Int32 = 0
  /// Reported by `CShims/Process/output.c` when Swift traps.
  package static let internalError: Int32 = 1
  package static let usage: Int32 = 2
  package static let inputFile: Int32 = 3
  package static let noConnection: Int32 = 4
  package static let tls: Int32 = 5
  package static let credentialsRefused: Int32 = 6
  package static let refused: Int32 = 7
  package static let tooLarge: Int32 = 8
  package static let serverFailure: Int32 = 9
  package static let integrity: Int32 = 10
  package static let conflict: Int32 = 11
  package static let memoryCeiling: Int32 = 12
  package static let stateDirectory: Int32 = 13
  package static let outputFailed: Int32 = 14
  package static let notEnoughSpace: Int32 = 15
  package static let mayBeStored: Int32 = 16
  package static let interruptedBase: Int32 = 128

  /// Whether others come first: the failure passes without a person doing anything, or everything else has succeeded.
  package static func yields(_ code: Int32) -> Bool {
    [noConnection, serverFailure, conflict, outputFailed].contains(code) || code > interruptedBase
  }

  /// The code of several things, one after the other: that of the first failure that needs a person, or else of the first one.
  package static func combined(_ earlier: Int32, _ later: Int32) -> Int32 {
    if earlier == delivered { return later }
    return yields(earlier) && later != delivered && !yields(later) ? later : earlier
  }
}
