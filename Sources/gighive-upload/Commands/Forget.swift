import CShims
import Uploader

/// `gighive-upload forget ID... | --all` and `gighive-upload prune AGE`: drop records. The server is not asked.
final class Forget {
  private let records: Records
  private let report: Report
  private let isDryRun: Bool
  private var count = 0
  private var exitCode = ExitCode.delivered

  private init(_ records: Records, _ report: Report, isDryRun: Bool) {
    self.records = records
    self.report = report
    self.isDryRun = isDryRun
  }

  static func run(_ command: Command, _ options: [GivenOption], _ operands: Operands) throws(UsageError) -> Int32 {
    let common = try CommonArguments(options)
    let isAll = options.has(.all)
    var age: Int64?
    if command == .prune {
      guard operands.count == 1 else { throw UsageError("give the age of the records to drop, such as 30d.") }
      age = try milliseconds(operands[0].text)
    } else {
      guard isAll != !operands.isEmpty else { throw UsageError("give upload IDs, or --all for all delivered ones.") }
    }
    let report = Report(common, progress: .none)
    guard DescriptorLimit.allows(jobs: 0, report) else { return ExitCode.memoryCeiling }
    guard let records = Records(common, report) else { return ExitCode.stateDirectory }
    // A reader that ends early, such as head, does not stop a change halfway.
    shim_ignore_broken_pipe_signal()
    let forget = Forget(records, report, isDryRun: options.has(.dryRun))
    do throws(StateError) {
      if let age {
        try forget.prune(olderThan: age)
      } else if isAll {
        try forget.all { $0.phase == .delivered }
      } else {
        for record in try records.named(operands) { try forget.drop(record, reportsBusy: true) { _ in true } }
      }
    } catch { return Records.fail(error, report) }
    if age != nil || isAll { forget.summarize() }
    return forget.exitCode
  }

  /// An age of any length.
  private static func milliseconds(_ text: String) throws(UsageError) -> Int64 {
    // Without a unit, "30" would be seconds, and drop what was meant to stay for a month.
    guard !text.utf8.allSatisfy({ ASCII.isDigit($0) }), let age = Quantity.duration(text, upTo: .max) else {
      throw UsageError("\"" + PrintableText.line(text) + "\" is not an age, such as 12h, 30d or 8w.")
    }
    return age
  }

  private func prune(olderThan milliseconds: Int64) throws(StateError) {
    // Rounded up.
    let age = (milliseconds - 1) / 1000 + 1
    let now = shim_unix_seconds()
    try all(reportsBusy: false) { $0.isOver(for: age, now: now) && $0.locateFile() == .gone }
  }

  /// Drops all that the condition is true of. One that cannot be dropped does not stop the others.
  private func all(reportsBusy: Bool = true, where isChosen: (UploadRecord) -> Bool) throws(StateError) {
    var failure: StateError?
    try records.directory.walk(.all) { record in
      guard isChosen(record) else { return }
      do throws(StateError) { try drop(record, reportsBusy: reportsBusy, where: isChosen) } catch {
        failure = failure ?? error
      }
    }
    if let failure { throw failure }
  }

  /// - Parameters:
  ///   - reportsBusy: whether it is an error that another process works on it, such as one that deletes the recording.
  ///   - isChosen: asked again once it is locked.
  private func drop(
    _ record: UploadRecord, reportsBusy: Bool, where isChosen: (UploadRecord) -> Bool
  ) throws(StateError) {
    if isDryRun, !records.directory.isLocked(record.id) { return tell(of: record) }
    switch isDryRun ? .busy : try records.directory.lockRecord(record.id) {
    case .gone: break
    case .busy:
      guard reportsBusy else { break }
      report.failed(UploadError.conflict(upload: record.id), exitCode: ExitCode.conflict, about: record)
      exitCode = ExitCode.conflict
    case .locked(let lock, let current):
      defer { withExtendedLifetime(lock) {} }
      guard isChosen(current) else {
        if current.phase == .delivered { records.directory.removeLock(record.id) }
        break
      }
      try records.directory.remove(record.id)
      tell(of: current)
    }
  }

  private func tell(of record: UploadRecord) {
    count += 1
    let words = (isDryRun ? "would be forgotten (" : "forgotten (") + PrintableText.line(record.file.path.text) + ")."
    report.reportRemoval(record, isDryRun ? "would_forget" : "forgotten", words + Forget.loss(with: record))
  }

  /// What is lost with the record, in sentences.
  private static func loss(with record: UploadRecord) -> String {
    guard let delivery = record.delivery else {
      let hasPart = record.remote != nil || record.unfinished?.formerURL != nil || record.unfinished?.parts != nil
      return hasPart ? " The partial upload stays on the server until that drops it." : ""
    }
    let canDelete = delivery.deleteToken != nil && record.assetID != nil && delivery.deletion != .done
    return (canDelete ? " gighive-upload cannot delete it from the server any more." : "")
      + (record.locateFile() == .present
        ? " Its file is still there: send and watch upload it again if they find it." : "")
  }

  private func summarize() {
    report.say(
      String(count) + (count == 1 ? " record" : " records") + (isDryRun ? " would be dropped." : " dropped."))
  }
}
