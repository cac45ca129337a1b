import Uploader

/// `watch --dry-run`: says what would be taken of what is there now, and ends.
enum WatchDryRun {
  static func run(_ groups: [WatchArguments], _ report: Report) throws(UsageError) -> Int32 {
    let outcomes = Outcomes(report)
    let cancellation = SignalCancellation.begin()
    report.expectSeveral()
    for group in groups {
      if group.existing == .skip { report.say("--existing skip: what is there at the first start is not taken.") }
      let configuration = try group.sending.common.configuration(for: group.sending.target, report)
      DryRun.run(
        try Batch(group.sending, report, outcomes, cancellation), Uploader(configuration), outcomes, report,
        cancellation)
    }
    report.summarize()
    return outcomes.exitCode
  }
}
