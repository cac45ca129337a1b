import CShims
import Uploader

/// `watch --dry-run`: prints which of the present files would be sent, and ends.
enum WatchDryRun {
  static func run(_ groups: [WatchArguments], _ report: Report) throws(UsageError) -> Int32 {
    let outcomes = OutcomeReporter(report)
    let cancellation = SignalCancellation.begin()
    report.expectSeveral()
    for group in groups {
      let uploader = Uploader(try group.sending.common.configuration(for: group.sending.template, report))
      for directory in group.directories {
        var existing: ExistingList?
        if group.existing == .skip {
          do throws(ExistingList.Problem) {
            existing = try ExistingList.open(of: directory, in: group.statePath)
          } catch { throw UsageError(PrintableText.line(directory.text) + " cannot be watched: " + error.text + ".") }
          // This start would be the first one.
          if existing == nil { continue }
        }
        let batch = try Batch(
          group.sending.limited(to: directory, existing: existing), report, outcomes, cancellation)
        DryRun.run(batch, uploader, outcomes, report, cancellation)
      }
    }
    report.summarize()
    return outcomes.exitCode
  }
}
