import CShims
import Uploader

/// Tells a person, or with `--json` a program, how the uploads go. Results go to standard output, progress and errors to
/// standard error.
final class Report {
  enum ProgressStyle { case automatic, bar, plain, none }
  private enum Style { case json, bar, plain, none }

  /// One file of the command line.
  private struct Entry {
    let file: FilePath
    var meter = Meter()
    /// How many tenths have been told.
    var tenth: Int64 = 0
    /// The ID of its record.
    var upload: String?
    var isAtWork = false

    var name: String { PrintableText.line(file.lastComponent) }
  }

  private let style: Style
  private let isQuiet: Bool
  private let isJSON: Bool
  /// What a command that is proposed needs besides, to find the record.
  private let stateHint: String
  private var entries: [Entry] = []
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
  }

  /// Announces files.
  /// - Returns: the index of the first of them, for the other calls.
  func add(_ files: [FilePath]) -> Int {
    let first = entries.count
    entries += files.map { Entry(file: $0) }
    return first
  }

  func begin(_ index: Int) {
    entries[index].isAtWork = true
    if isJSON { Console.out(event("start", index).finished()) }
  }

  func recorded(_ index: Int, upload: String) { entries[index].upload = upload }

  // MARK: Progress

  func progress(_ index: Int, _ progress: Progress) {
    entries[index].meter.note(progress, nowMilliseconds: shim_monotonic_milliseconds())
    switch style {
    case .none: break
    case .json: reportJSON(index)
    case .plain: reportPlain(index)
    case .bar: reportBar(index)
    }
  }

  /// Once a second is enough for a program.
  private func reportJSON(_ index: Int) {
    guard entries[index].meter.isDue(everyMilliseconds: 1000) else { return }
    let meter = entries[index].meter
    var line = event("progress", index)
    line.add("bytes", meter.deliveredBytes)
    line.add("total", meter.totalBytes)
    line.add("seconds", milliseconds: meter.elapsedMilliseconds)
    Console.out(line.finished())
  }

  /// A line each 10 %.
  private func reportPlain(_ index: Int) {
    let meter = entries[index].meter
    let tenth = meter.deliveredBytes / max(1, meter.totalBytes / 10)
    guard tenth > entries[index].tenth else { return }
    entries[index].tenth = tenth
    // What was there before a resume is not told.
    if meter.elapsedMilliseconds == 0, tenth < 10 { return }
    let line = [
      String(min(100, tenth * 10)) + " %",
      SizeText.short(meter.deliveredBytes) + " of " + SizeText.short(meter.totalBytes), meter.rateText,
    ].joined(separator: ", ")
    Console.error(entries[index].name + ": " + line + "\n")
  }

  /// One line for all files at work.
  private func reportBar(_ index: Int) {
    let columns = Int(shim_terminal_columns(2))
    let meters = entries.filter { $0.isAtWork }.map { $0.meter }
    let name = meters.count == 1 ? entries[index].name : String(meters.count) + " files"
    let line = ProgressLine.text(name: name, MeterReading(meters), columns: columns > 0 ? columns : 80)
    Console.error("\r" + line + "\u{1B}[K")
    isLineOpen = true
  }

  func retrying(_ index: Int, _ retry: Retry, of retries: Int64) {
    closeLine()
    if isJSON {
      var line = event("retry", index)
      line.add("bytes", entries[index].meter.deliveredBytes)
      line.add("seconds", milliseconds: retry.delayMilliseconds)
      line.add("try", retry.failures)
      line.add("message", retry.error.message)
      Console.out(line.finished())
    } else if !isQuiet {
      let pause = DurationText.seconds(retry.delayMilliseconds / 100 * 100)
      Console.error(
        entries[index].name + ": " + retry.error.message + " Trying again in " + pause + " ("
          + String(retry.failures) + " of " + String(retries) + ").\n")
    }
  }

  // MARK: Sentences

  /// A line about what happens on the wire.
  func diagnose(_ line: String) {
    closeLine()
    Console.error(line + "\n")
  }

  /// What a person should know although the work goes on.
  func warn(_ message: String) { complain("warning: " + message) }

  func complain(_ message: String) {
    closeLine()
    Console.error("gighive-upload: " + message + "\n")
  }

  /// A result in words.
  func say(_ message: String) {
    if !isQuiet, !isJSON { Console.out(message) }
  }

  /// Something was done about the upload of a record.
  func tookBack(_ upload: String, _ event: String, _ words: String) {
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

  /// What several files came to.
  func summarize() {
    guard entries.count > 1 else { return }
    say(String(deliveredCount) + " of " + String(entries.count) + " delivered.")
  }

  private func closeLine() {
    if isLineOpen { Console.error("\r\u{1B}[K") }
    isLineOpen = false
  }

  // MARK: Outcomes

  func delivered(_ index: Int, _ delivery: Delivery) {
    entries[index].isAtWork = false
    deliveredCount += 1
    closeLine()
    if isJSON { return reportDeliveredJSON(index, delivery) }
    if isQuiet { return }
    let receipt = delivery.receipt
    Console.out(entries[index].name + ": " + (receipt.wasAlreadyThere ? "already there" : "delivered"))
    if let assetID = receipt.assetID { Console.out("  asset     " + String(assetID)) }
    if let sha256 = delivery.file.sha256 {
      Console.out(
        "  sha256    " + sha256 + (receipt.isChecksumVerified ? " (verified)" : " (not confirmed by the server)"))
    }
    let sent = delivery.file.size - delivery.resumedFrom
    let before = delivery.resumedFrom > 0 ? "; the server had " + SizeText.short(delivery.resumedFrom) : ""
    Console.out(
      "  sent      " + SizeText.short(sent) + " in " + DurationText.seconds(delivery.durationMilliseconds) + ", "
        + SizeText.rate(bytes: sent, milliseconds: delivery.durationMilliseconds) + before)
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

  /// Another process has delivered it meanwhile.
  func deliveredBefore(_ index: Int, upload: String) {
    entries[index].isAtWork = false
    entries[index].upload = upload
    deliveredCount += 1
    closeLine()
    if isJSON {
      var line = event("delivered", index)
      line.add("already_there", true)
      line.add("exit_code", Int64(ExitCode.delivered))
      Console.out(line.finished())
    } else {
      say(upload + ": delivered already.")
    }
  }

  func failed(_ index: Int, _ error: UploadError, exitCode: Int32) {
    failed(index, message(of: error, index), exitCode: exitCode)
  }

  func failed(_ index: Int, _ message: String, exitCode: Int32) {
    entries[index].isAtWork = false
    if isJSON {
      var line = event("failed", index)
      line.add("bytes", entries[index].meter.deliveredBytes)
      line.add("exit_code", Int64(exitCode))
      line.add("message", message)
      Console.out(line.finished())
    }
    if !isJSON || !isQuiet { complain(message) }
  }

  /// A failure that is of no file in particular.
  func failed(_ error: UploadError, exitCode: Int32) { failed(error.message, exitCode: exitCode) }

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

  /// An interruption is told with what had been sent by then.
  private func message(of error: UploadError, _ index: Int) -> String {
    let entry = entries[index]
    guard case .cancelled(let hasSentAll) = error else {
      // Of several files it has to be said which one.
      let namesFile =
        switch error {
        case .file, .changed: true
        default: entries.count == 1
        }
      return (namesFile ? "" : entry.name + ": ") + error.message + (error.leavesPending ? wayOn(entry) : "")
    }
    if hasSentAll { return entry.name + ": interrupted. " + UploadError.mayBeStored }
    let sent = SizeText.short(entry.meter.deliveredBytes) + " of " + SizeText.short(entry.meter.totalBytes)
    return entry.name + ": interrupted; " + (entry.meter.totalBytes == 0 ? "nothing was sent" : sent + " were sent")
      + ", nothing was delivered." + wayOn(entry)
  }

  private func wayOn(_ entry: Entry) -> String {
    entry.upload.map { " Go on with: gighive-upload resume " + $0 + stateHint } ?? ""
  }

  private func event(_ kind: String, _ index: Int) -> JSONWriter {
    var line = JSONWriter()
    line.add("event", kind)
    line.add("file", entries[index].file.text)
    if let upload = entries[index].upload { line.add("id", upload) }
    return line
  }
}
