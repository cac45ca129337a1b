import CShims
import Uploader

/// `watch --once`: sends what is finished now, as `send` would, and ends. `watch --dry-run` says what would be sent.
final class WatchOnce {
  private let report: Report
  private let outcomes: OutcomeReporter
  private let cancellation: Cancellation
  private let roots = WatchedRoots()
  /// Locked until the end.
  private var directories: [WatchedDirectory] = []

  private init(_ report: Report) {
    self.report = report
    outcomes = OutcomeReporter(report)
    cancellation = SignalCancellation.beginWithFinish()
  }

  /// - Returns: the exit code that `send` would have.
  static func run(_ groups: [WatchArguments], _ report: Report) throws(UsageError) -> Int32 {
    try refuseRemovalsOfShared(groups)
    let sending = groups[0].sending
    if let ceiling = sending.memoryCeiling, !MemoryCeiling.set(ceiling, isJSON: sending.common.isJSON) {
      return ExitCode.memoryCeiling
    }
    let jobs = groups.reduce(1) { max($0, $1.sending.jobs) }
    guard DescriptorLimit.allows(jobs: jobs, report) else { return ExitCode.memoryCeiling }
    report.hasSeveral = true
    let once = WatchOnce(report)
    for group in groups {
      if sending.isDryRun { try once.preview(group) } else { try once.deliver(group) }
    }
    report.summarize()
    if !sending.isDryRun { for group in groups { try once.freeSpace(for: group) } }
    return once.outcomes.exitCode
  }

  /// What one group removes may have to be sent by another, which a watcher makes sure of.
  private static func refuseRemovalsOfShared(_ groups: [WatchArguments]) throws(UsageError) {
    for group in groups
    where group.isOnce && (group.sending.template.afterDelivery.removal != nil || group.keepFree != nil) {
      for other in groups where other !== group {
        for (one, another) in group.directories.flatMap({ one in other.directories.map { (one, $0) } })
        where isShared(one, another) || isShared(another, one) {
          throw UsageError(
            "--once removes nothing from a directory of two sections: " + PrintableText.line(one.text) + " and "
              + PrintableText.line(another.text) + ". Use watch, or leave out --after and --keep-free.")
        }
      }
    }
  }

  /// Whether the other directory is the same, or below.
  private static func isShared(_ directory: LocalPath, _ other: LocalPath) -> Bool {
    shim_file_status(at: directory).map { other.relative(to: $0) != nil } ?? false
  }

  private func preview(_ group: WatchArguments) throws(UsageError) {
    for directory in group.directories {
      var existing: ExistingList?
      if group.existing == .skip {
        do throws(ExistingList.Problem) {
          existing = try ExistingList.open(of: directory, in: group.statePath)
        } catch { throw UsageError(PrintableText.line(directory.text) + " cannot be watched: " + error.text + ".") }
        // This start would be the first one.
        if existing == nil { continue }
      }
      let settle = group.isOnce ? group.settings.settleMilliseconds : nil
      let sending = group.sending.limited(to: directory, existing: existing, settleMilliseconds: settle)
      try Send.deliver(sending, report, outcomes, cancellation)
    }
  }

  private func deliver(_ group: WatchArguments) throws(UsageError) {
    if shim_unix_seconds() < Limits.builtOn { return report.say("nothing is sent until the clock is set.") }
    if let interface = group.interface, shim_interface_is_up(interface) == 0 {
      return report.say("nothing is sent, because " + PrintableText.line(interface) + " is down.")
    }
    for path in group.directories {
      let directory = WatchedDirectory(path, roots)
      if let problem = directory.open(group) {
        note(problem, path)
        continue
      }
      directories.append(directory)
      let sending = group.sending.limited(
        to: path, existing: directory.existing, settleMilliseconds: group.settings.settleMilliseconds)
      try Send.deliver(sending, report, outcomes, cancellation)
    }
  }

  private func freeSpace(for group: WatchArguments) throws(UsageError) {
    let open = directories.map { $0.path }.filter { group.directories.contains($0) }
    guard group.keepFree != nil, !open.isEmpty, !cancellation.isCancelled else { return }
    let options = group.sending.options.filter { Command.clean.takes($0.option) }
    outcomes.keepExitCode(try Clean.run(options, Operands(open)), of: report.fileCount)
  }

  /// Whoever watches the directory delivers what is in it.
  private func note(_ problem: DirectoryProblem, _ path: LocalPath) {
    let notice = problem.notice(of: path)
    if problem == .locked { return report.say(notice.message) }
    let message = problem == .missing ? PrintableText.line(path.text) + " does not exist." : notice.message
    report.failed(path, message, exitCode: ExitCode.inputFile)
    outcomes.keepExitCode(ExitCode.inputFile, of: report.fileCount)
  }
}
