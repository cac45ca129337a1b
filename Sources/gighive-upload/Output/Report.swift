import CShims
import Uploader

/// Reports on uploads, to a person or, with `--json`, to a program. Results go to standard output, progress and errors
/// to standard error.
final class Report {
  enum ProgressStyle { case automatic, bar, plain, none }
  private enum Style { case json, bar, plain, none }

  /// One file that is being uploaded.
  private struct Entry {
    let index: Int
    let file: LocalPath
    var meter = Meter()
    /// How many tenths have been reported.
    var tenth: Int64 = 0
    /// The ID of its record.
    var upload: String?

    var name: String { PrintableText.line(file.lastComponent) }
  }

  private let style: Style
  private let isQuiet: Bool
  private let isJSON: Bool
  /// The option that a suggested command needs to find the record; can be empty.
  private let stateHint: String
  /// Only the files being uploaded: there can be very many others.
  private var entries: [Entry] = []
  /// The files announced last, and the index of the first of them.
  private var files = Operands()
  private var firstIndex = 0
  private var fileCount = 0
  private var deliveredCount = 0
  private var isLineOpen = false

  init(_ arguments: CommonArguments, progress: ProgressStyle) {
    isJSON = arguments.isJSON
    isQuiet = arguments.isQuiet
    stateHint = arguments.stateHint
    style =
      switch progress {
      case _ where arguments.isQuiet && !arguments.isJSON: .none
      case _ where arguments.isJSON: .json
      case .none: .none
      case .bar: .bar
      case .plain: .plain
      case .automatic: Console.isErrorTerminal ? .bar : .plain
      }
    if isJSON { Console.putOutcomesOut() }
  }

  /// Announces files. All files announced earlier must have ended.
  /// - Returns: the index of the first file, for the other calls.
  func add(_ files: Operands) -> Int {
    self.files = files
    firstIndex = fileCount
    fileCount += files.count
    return firstIndex
  }

  func begin(_ index: Int) {
    _ = position(index)
    if isJSON { Console.out(event("start", index).finished(), .message) }
  }

  func recorded(_ index: Int, upload: String) { entries[position(index)].upload = upload }

  /// The position of the file's entry, which is created if needed.
  private func position(_ index: Int) -> Int {
    if let position = entries.firstIndex(where: { $0.index == index }) { return position }
    entries.append(Entry(index: index, file: files[index - firstIndex]))
    shim_note_begin()
    return entries.count - 1
  }

  private func entry(_ index: Int) -> Entry { entries[position(index)] }

  /// Drops the entry of a file that has ended.
  private func end(_ index: Int, isDelivered: Bool) {
    _ = position(index)
    shim_note_end(isDelivered ? 1 : 0)
    entries.removeAll { $0.index == index }
  }

  // MARK: UploadProgress

  func progress(_ index: Int, _ progress: UploadProgress) {
    entries[position(index)].meter.note(progress, nowMilliseconds: shim_monotonic_milliseconds())
    switch style {
    case .none: break
    case .json: reportJSON(index)
    case .plain: reportPlain(index)
    case .bar: reportBar(index)
    }
  }

  /// At most once a second.
  private func reportJSON(_ index: Int) {
    let position = position(index)
    guard entries[position].meter.isDue(everyMilliseconds: 1000) else { return }
    let meter = entries[position].meter
    var line = event("progress", index)
    line.add("bytes", meter.deliveredBytes)
    line.add("total", meter.totalBytes)
    line.add("seconds", milliseconds: meter.elapsedMilliseconds)
    Console.out(line.finished(), .progress)
  }

  /// One line per 10 %.
  private func reportPlain(_ index: Int) {
    let position = position(index)
    let meter = entries[position].meter
    let tenth = meter.deliveredBytes / max(1, meter.totalBytes / 10)
    guard tenth > entries[position].tenth else { return }
    entries[position].tenth = tenth
    // Progress from before a resume is not reported.
    if meter.elapsedMilliseconds == 0, tenth < 10 { return }
    let line = [
      String(min(100, tenth * 10)) + " %",
      SizeText.short(meter.deliveredBytes) + " of " + SizeText.short(meter.totalBytes), meter.rateText,
    ].joined(separator: ", ")
    Console.error(entry(index).name + ": " + line + "\n", .progress)
  }

  /// One line for all files being uploaded.
  private func reportBar(_ index: Int) {
    let columns = Int(shim_terminal_columns(2))
    let meters = entries.map { $0.meter }
    let name = meters.count == 1 ? entry(index).name : String(meters.count) + " files"
    let line = ProgressLine.text(name: name, MeterReading(meters), columns: columns > 0 ? columns : 80)
    Console.error("\r" + line + "\u{1B}[K", .progress)
    isLineOpen = true
  }

  func retrying(_ index: Int, _ retry: Retry, of retries: Int64) {
    closeLine()
    if isJSON {
      var line = event("retry", index)
      line.add("bytes", entry(index).meter.deliveredBytes)
      line.add("seconds", milliseconds: retry.delayMilliseconds)
      line.add("try", retry.failures)
      line.add("message", retry.error.explanation)
      Console.out(line.finished(), .remark)
    } else if !isQuiet {
      let pause = DurationText.seconds(retry.delayMilliseconds / 100 * 100)
      Console.error(
        entry(index).name + ": " + retry.error.explanation + " Retrying in " + pause + " ("
          + String(retry.failures) + " of " + String(retries) + ").\n", .remark)
    }
  }

  // MARK: Messages

  /// A line of --verbose.
  func diagnose(_ line: String) {
    closeLine()
    Console.error(line + "\n", .remark)
  }

  /// A warning. The upload continues.
  func warn(_ message: String) { complain("warning: " + message) }

  func complain(_ message: String) {
    closeLine()
    Console.error("gighive-upload: " + message + "\n")
  }

  /// A result in words.
  func say(_ message: String) {
    if !isQuiet, !isJSON { Console.out(message) }
  }

  /// Reports that an upload was cancelled, deleted or forgotten.
  func reportRemoval(_ upload: String, _ event: String, _ words: String) {
    if isJSON {
      var line = JSONWriter()
      line.add("event", event)
      line.add("id", upload)
      line.add("exit_code", Int64(ExitCode.delivered))
      Console.out(line.finished())
    } else {
      say(upload + ": " + words)
    }
  }

  /// The last line when there are several files.
  func summarize() {
    guard fileCount > 1 else { return }
    say(String(deliveredCount) + " of " + String(fileCount) + " delivered.")
  }

  private func closeLine() {
    if isLineOpen { Console.error("\r\u{1B}[K") }
    isLineOpen = false
  }

  // MARK: Outcomes

  func delivered(_ index: Int, _ delivery: Delivery) {
    defer { end(index, isDelivered: true) }
    deliveredCount += 1
    closeLine()
    if isJSON { return reportDeliveredJSON(index, delivery) }
    if isQuiet { return }
    let receipt = delivery.receipt
    var lines = [entry(index).name + ": " + (receipt.wasAlreadyThere ? "already there" : "delivered")]
    if let assetID = receipt.assetID { lines.append("  asset     " + String(assetID)) }
    if let sha256 = delivery.file.sha256 {
      lines.append(
        "  sha256    " + sha256 + (receipt.isChecksumVerified ? " (verified)" : " (not confirmed by the server)"))
    }
    let sent = delivery.file.size - delivery.resumedFrom
    let before = delivery.resumedFrom > 0 ? "; the server had " + SizeText.short(delivery.resumedFrom) : ""
    lines.append(
      "  sent      " + SizeText.short(sent) + " in " + DurationText.seconds(delivery.durationMilliseconds) + ", "
        + SizeText.rate(bytes: sent, milliseconds: delivery.durationMilliseconds) + before)
    Console.out(lines.joined(separator: "\n"))
  }

  private func reportDeliveredJSON(_ index: Int, _ delivery: Delivery) {
    var line = event("delivered", index)
    line.add("bytes", delivery.file.size)
    line.add("total", delivery.file.size)
    line.add("seconds", milliseconds: delivery.durationMilliseconds)
    if let sha256 = delivery.file.sha256 { line.add("checksum_sha256", sha256) }
    line.add("checksum_verified", delivery.receipt.isChecksumVerified)
    line.add("already_there", delivery.receipt.wasAlreadyThere)
    if let assetID = delivery.receipt.assetID { line.add("asset_id", assetID) }
    line.add("exit_code", Int64(ExitCode.delivered))
    Console.out(line.finished())
  }

  /// Reports a file that another process has delivered in the meantime.
  func deliveredBefore(_ index: Int, upload: String) {
    defer { end(index, isDelivered: true) }
    recorded(index, upload: upload)
    deliveredCount += 1
    closeLine()
    if isJSON {
      var line = event("delivered", index)
      line.add("already_there", true)
      line.add("exit_code", Int64(ExitCode.delivered))
      Console.out(line.finished())
    } else {
      say(upload + ": already delivered.")
    }
  }

  func failed(_ index: Int, _ error: UploadError, exitCode: Int32) {
    failed(index, message(of: error, index), exitCode: exitCode)
  }

  func failed(_ index: Int, _ message: String, exitCode: Int32) {
    defer { end(index, isDelivered: false) }
    if isJSON {
      var line = event("failed", index)
      line.add("bytes", entry(index).meter.deliveredBytes)
      line.add("exit_code", Int64(exitCode))
      line.add("message", message)
      Console.out(line.finished())
    }
    if !isJSON || !isQuiet { complain(message) }
  }

  /// A failure that concerns no particular file.
  func failed(_ error: UploadError, exitCode: Int32) { failed(error.explanation, exitCode: exitCode) }

  func failed(_ message: String, exitCode: Int32) {
    if isJSON {
      var line = JSONWriter()
      line.add("event", "failed")
      line.add("exit_code", Int64(exitCode))
      line.add("message", message)
      Console.out(line.finished())
    }
    if !isJSON || !isQuiet { complain(message) }
  }

  /// The message of an interruption says how much had been sent.
  private func message(of error: UploadError, _ index: Int) -> String {
    let entry = entry(index)
    guard case .cancelled(let hasSentAll) = error else {
      // With several files, the message must name the file.
      let namesFile = fileCount == 1 || error.namesFile
      return (namesFile ? "" : entry.name + ": ") + error.explanation + (error.leavesPending ? wayOn(entry) : "")
    }
    if hasSentAll { return entry.name + ": interrupted. " + UploadError.mayBeStored }
    let sent = SizeText.short(entry.meter.deliveredBytes) + " of " + SizeText.short(entry.meter.totalBytes)
    return entry.name + ": interrupted; " + (entry.meter.totalBytes == 0 ? "nothing was sent" : sent + " were sent")
      + ", nothing was delivered." + wayOn(entry)
  }

  private func wayOn(_ entry: Entry) -> String {
    entry.upload.map { " Resume with: gighive-upload resume " + $0 + stateHint } ?? ""
  }

  private func event(_ kind: String, _ index: Int) -> JSONWriter {
    var line = JSONWriter()
    line.add("event", kind)
    line.add(file: entry(index).file)
    if let upload = entry(index).upload { line.add("id", upload) }
    return line
  }
}
