import CShims
import Uploader

/// The events of `--json` about uploads, one line each (docs/json.md). Those about files that were delivered are beside their texts.
extension Report {
  func writeStart(_ index: Int) { Console.out(event("start", index).finished(), .message) }

  func writeProgress(_ index: Int) {
    let meter = entry(index).meter
    var line = event("progress", index)
    line.add("bytes", meter.deliveredBytes)
    line.add("total", meter.totalBytes)
    addElapsed(index, to: &line)
    if let behind = meter.behindMilliseconds { line.add("behind_seconds", behind / 1000) }
    Console.out(line.finished(), .progress)
  }

  func writeRetry(_ index: Int, _ retry: Retry) {
    var line = event("retry", index)
    line.add("bytes", entry(index).meter.deliveredBytes)
    addElapsed(index, to: &line)
    line.add("wait_seconds", milliseconds: retry.delayMilliseconds)
    line.add("try", retry.failures)
    line.add("message", retry.error.explanation(after: entry(index).answer))
    addAnswer(index, to: &line)
    Console.out(line.finished(), .remark)
  }

  func writeDelivered(_ index: Int, _ delivery: SentRecording) {
    var line = event("delivered", index)
    line.add("bytes", delivery.file.size)
    line.add("total", delivery.file.size)
    addElapsed(index, to: &line)
    if let sha256 = delivery.file.sha256 { line.add("checksum_sha256", sha256) }
    line.add("checksum_verified", delivery.receipt.isChecksumVerified)
    line.add("already_there", delivery.receipt.wasAlreadyThere)
    if let assetID = delivery.receipt.assetID { line.add("asset_id", assetID) }
    line.add("exit_code", Int64(ExitCode.delivered))
    addAnswer(index, to: &line)
    Console.out(line.finished())
  }

  /// - Parameter previous: nil for a file that another process is sending.
  func writeSkipped(_ index: Int, _ previous: PreviousDelivery? = nil, isRemovalDue: Bool = false) {
    var line = event("skipped", index)
    if let assetID = previous?.assetID { line.add("asset_id", assetID) }
    if let deliveredAt = previous?.deliveredAt { line.add("delivered", unixSeconds: deliveredAt) }
    if isRemovalDue { line.add("removal_due", true) }
    if let previous, !previous.isCertain { line.add("compared", false) }
    if let event = previous?.otherEvent { line.add("other_event", event) }
    if previous?.isDeleted ?? false { line.add("deleted", true) }
    line.add("exit_code", Int64(ExitCode.delivered))
    Console.out(line.finished())
  }

  /// A file that is not sent now.
  func writeUnsent(_ kind: String, _ index: Int, _ message: String? = nil, exitCode: Int32 = ExitCode.delivered) {
    var line = event(kind, index)
    if let message { line.add("message", message) }
    line.add("exit_code", Int64(exitCode))
    Console.out(line.finished())
  }

  func writeFailed(
    _ index: Int, _ message: String, exitCode: Int32, _ concern: FailureConcern, _ again: Reattempt,
    _ advice: ResumeAdvice?, nextRetry: Int64?
  ) {
    var line = event("failed", index)
    line.add("bytes", entry(index).meter.deliveredBytes)
    addElapsed(index, to: &line)
    line.add("exit_code", Int64(exitCode))
    line.add("concerns", concern.rawValue)
    if concern == .file { line.add("again", again.rawValue) }
    if let nextRetry { line.add("wait_seconds", max(0, nextRetry - shim_unix_seconds())) }
    line.add("message", message)
    if let advice { line.add("resume", advice.command) }
    addAnswer(index, to: &line)
    Console.out(line.finished())
  }

  /// A failure outside of an upload.
  func writeFailed(
    recordID: String?, file: LocalPath?, _ message: String, exitCode: Int32, _ answer: RedactedAnswer? = nil
  ) {
    var line = event("failed", recordID: recordID, file: file)
    line.add("exit_code", Int64(exitCode))
    line.add("message", message)
    if let answer { line.add(answer: answer) }
    Console.out(line.finished())
  }

  /// The start of an event about a file.
  func event(_ kind: String, _ index: Int) -> JSONWriter {
    let entry = entry(index)
    return event(kind, recordID: entry.recordID, file: entry.file.absolute ?? entry.file)
  }

  /// The start of any event: all have a time and an ID, which is null without a record.
  /// - Parameter file: absolute; nil if the event concerns no file.
  func event(_ kind: String, recordID: String?, file: LocalPath?) -> JSONWriter {
    var line = JSONWriter()
    line.add("event", kind)
    line.add("time", unixMilliseconds: shim_unix_milliseconds())
    if let recordID { line.add("id", recordID) } else { line.addNull("id") }
    if let file { line.add(file: file) }
    return line
  }

  /// The time since the upload's `start`.
  private func addElapsed(_ index: Int, to line: inout JSONWriter) {
    let now = shim_monotonic_milliseconds()
    line.add("seconds", milliseconds: now - (entry(index).beganAtMilliseconds ?? now))
  }

  private func addAnswer(_ index: Int, to line: inout JSONWriter) {
    if let answer = entry(index).answer { line.add(answer: answer) }
  }
}
