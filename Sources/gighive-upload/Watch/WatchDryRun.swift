import CShims
import Uploader

/// `watch --dry-run`: prints which of the present files would be sent, and ends.
enum WatchDryRun {
  static func run(_ groups: [WatchArguments], _ report: Report) throws(UsageError) -> Int32 {
    let outcomes = OutcomeReporter(report)
    let cancellation = SignalCancellation.begin()
    report.expectSeveral()
    for group in groups {
      let uploader = Uploader(try group.sending.common.configuration(for: group.sending.target, report))
      for directory in group.directories {
        // Without an earlier start, this one would be the first.
        let firstStart =
          group.existing == .upload
          ? nil : WatchedDirectory.firstStart(of: directory, in: group.statePath) ?? shim_unix_seconds()
        let batch = try Batch(
          group.sending.limited(to: directory, firstStart: firstStart), report, outcomes, cancellation)
        DryRun.run(batch, uploader, outcomes, report, cancellation)
      }
    }
    report.summarize()
    return outcomes.exitCode
  }
}
