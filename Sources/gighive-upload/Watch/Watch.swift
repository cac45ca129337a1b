import CShims
import Uploader

/// `gighive-upload watch [DIR...] [options]`
enum Watch {
  /// Watches until a signal ends it.
  static func run(_ given: [GivenOption], _ operands: Operands) throws(UsageError) -> Int32 {
    let isOnce = given.has(.dryRun) || given.has(.once)
    let signals = isOnce ? nil : SignalCancellation.begin()
    if let signals {
      // Without it, a signal would be noticed only at the next scan.
      guard signals.descriptor >= 0 else {
        Report(CommonArguments(), progress: .none).failed(
          "signals cannot be waited for: " + SystemError(result: signals.descriptor).text + ".",
          exitCode: ExitCode.memoryCeiling)
        return ExitCode.memoryCeiling
      }
      shim_watch_signals(signals.descriptor)
    }
    let groups = try WatchArguments.groups(given, operands)
    let sending = groups[0].sending
    StateOwner.become(for: sending.common, keepsSecrets: false)
    try check(groups)
    MemoryCeiling.prepare(isJSON: sending.common.isJSON)
    let report = Report(sending.common, progress: .none)
    guard let signals else { return try WatchOnce.run(groups, report) }
    let finder: UploadFinder
    do throws(StateError) {
      finder = try UploadFinder(groups[0].statePath, warn: { report.warn($0) })
    } catch {
      let error = UploadError.state(error)
      report.failed(error, exitCode: ExitCode.stateDirectory)
      return error.exitCode()
    }
    let outputs = try WatchOutputs(sending.options, stateDirectory: groups[0].statePath)
    let loop = WatchLoop(given, operands, finder, outputs, signals)
    // A service would only be started again, and say so again, until the other watcher ends.
    if loop.begin(groups), !outputs.hasServiceManager { return ExitCode.conflict }
    loop.run()
    return ExitCode.delivered
  }

  /// Looks for errors that are better reported now than by each worker.
  static func check(_ groups: [WatchArguments]) throws(UsageError) {
    for group in groups {
      try refuseStateDirectory(group)
      // Reads the files with secrets.
      let sending = group.sending
      _ = try sending.common.configuration(for: sending.template, Report(CommonArguments(), progress: .none))
    }
  }

  /// Records must not be uploaded.
  private static func refuseStateDirectory(_ group: WatchArguments) throws(UsageError) {
    for directory in group.directories {
      if let status = shim_file_status(at: directory), group.statePath.relative(to: status) != nil {
        throw UsageError(
          PrintableText.line(directory.text) + " cannot be watched: the state directory "
            + PrintableText.line(group.statePath.text) + " is in it; use --state-dir DIR.")
      }
    }
  }
}
