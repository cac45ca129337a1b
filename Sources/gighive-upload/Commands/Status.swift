import Uploader

/// `gighive-upload status [--json]`: what the watcher of a state directory is doing, and what its records say.
enum Status {
  static func run(_ options: [GivenOption], _ operands: Operands) throws(UsageError) -> Int32 {
    let common = try CommonArguments(options)
    guard operands.isEmpty else {
      throw UsageError("status takes no arguments; use --state-dir DIR for the watcher's state directory.")
    }
    let report = Report(common, progress: .none)
    do throws(StateError) {
      guard let path = common.statePath else { throw .noDirectory }
      var status = try StatusFile.read(in: path)
      if let records = try StateDirectory(existing: path, warn: { report.warn($0) }) {
        try records.walk(.open) { record in
          if record.phase == .failed { status.failedCount += 1 } else { status.pendingCount += 1 }
        }
        status.removalDueCount = try records.removalDueCount()
      }
      if common.isJSON {
        Console.out(status.json)
      } else {
        let hint = "gighive-upload list" + common.stateHint
        for line in status.lines(stateDirectory: path, recordsHint: hint) { Console.out(line) }
      }
      return status.isWatching ? ExitCode.delivered : ExitCode.inputFile
    } catch { return Records.fail(error, report) }
  }
}
