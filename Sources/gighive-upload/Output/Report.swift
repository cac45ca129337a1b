import CShims
import Uploader

/// Reports on uploads, to a person or, with `--json`, to a program. Results go to standard output, progress and errors
/// to standard error.
final class Report {
  enum ProgressStyle { case automatic, bar, plain, none }
  private enum Style {
    case json(intervalMilliseconds: Int64)
    case bar, plain, none
  }

  /// One file that is being uploaded.
  struct Entry {
    let index: Int
    let file: LocalPath
    /// Whether it was found in a directory, rather than named.
    let isFound: Bool
    /// On the monotonic clock; nil if it has not begun.
    var beganAtMilliseconds: Int64?
    var meter = Meter()
    /// How many tenths have been reported.
    var tenth: Int64 = 0
    var recordID: String?
    /// The response that leads to the next retry or to the outcome.
    var answer: RedactedAnswer?

    var name: String { PrintableText.line(file.lastComponent) }
  }

  private let style: Style
  let isQuiet: Bool
  let isJSON: Bool
  /// Whether a watcher reads the events, so that messages beside them would only be repetitions.
  private let isSilent: Bool
  /// The option that a suggested command needs to find the record; can be empty.
  let stateHint: String
  let stateName: String
  let isVerbose: Bool
  /// Only the files being uploaded, and the next one: there can be very many others.
  private var entries: [Entry] = []
  private(set) var fileCount = 0
  /// Whether nothing is sent, so that the summary says what would be.
  var promises = false
  /// The server's, if nothing proves who responds there.
  var unprovedHost: String?
  /// Whether there is, or will be, more than one file, so that messages must name them.
  var hasSeveral = false
  /// Whether messages name the file even if there is only one.
  var namesFiles = false
  var deliveredCount = 0
  private var skippedCount = 0
  private var notStartedCount = 0
  private var block = ProgressBlock()
  private let outPalette: Palette
  private let errorPalette: Palette

  init(_ arguments: CommonArguments, progress: ProgressStyle) {
    isJSON = arguments.isJSON
    isQuiet = arguments.isQuiet
    isSilent = arguments.isJSON && arguments.asksWatcher
    isVerbose = arguments.isVerbose
    stateHint = arguments.stateHint
    stateName = arguments.statePath.map { PrintableText.line($0.text) } ?? "a state directory"
    outPalette = arguments.color.palette(isTerminal: Console.isOutputTerminal)
    errorPalette = arguments.color.palette(isTerminal: Console.isErrorTerminal)
    style =
      switch progress {
      case _ where arguments.isQuiet && !arguments.isJSON: .none
      case _ where arguments.isJSON:
        switch arguments.jsonProgress {
        case .every(let milliseconds): .json(intervalMilliseconds: milliseconds)
        case .never: .none
        }
      case .none: .none
      case .bar: .bar
      case .plain: .plain
      case .automatic: Console.isErrorTerminal ? .bar : .plain
      }
    if isJSON { Console.writeOutcomesToOutput() }
  }

  /// Announces a file.
  /// - Returns: its index, for the other calls.
  func add(_ file: BatchFile) -> Int {
    entries.append(
      Entry(index: fileCount, file: file.path, isFound: file.isFound, beganAtMilliseconds: nil))
    fileCount += 1
    if fileCount > 1 { hasSeveral = true }
    return fileCount - 1
  }

  func begin(_ index: Int) {
    markBegun(index)
    if isJSON { writeStart(index) }
  }

  /// Keeps the response for the next retry or outcome.
  func answered(_ index: Int, _ answer: RedactedAnswer) { entries[position(index)].answer = answer }

  func recorded(_ index: Int, recordID: String) { entries[position(index)].recordID = recordID }

  private func position(_ index: Int) -> Int {
    guard let position = entries.firstIndex(where: { $0.index == index }) else {
      preconditionFailure("a file that has ended")
    }
    return position
  }

  private func markBegun(_ index: Int) {
    let position = position(index)
    guard entries[position].beganAtMilliseconds == nil else { return }
    entries[position].beganAtMilliseconds = shim_monotonic_milliseconds()
    shim_note_begin()
  }

  func entry(_ index: Int) -> Entry { entries[position(index)] }

  /// Drops the entry of a file that has ended.
  func end(_ index: Int, isDelivered: Bool) {
    markBegun(index)
    shim_note_end(isDelivered ? 1 : 0)
    entries.removeAll { $0.index == index }
  }

  // MARK: Progress

  func progress(_ index: Int, _ progress: UploadProgress) {
    entries[position(index)].meter.add(progress, nowMilliseconds: shim_monotonic_milliseconds())
    switch style {
    case .none: break
    case .json(let interval): reportJSON(index, everyMilliseconds: interval)
    case .plain: reportPlain(index)
    case .bar: reportBar(index)
    }
  }

  private func reportJSON(_ index: Int, everyMilliseconds interval: Int64) {
    if entries[position(index)].meter.isDue(everyMilliseconds: interval) { writeProgress(index) }
  }

  /// One line per 10 %, or per minute while the recording grows. The last one is for a delivery: what has arrived can still be
  /// refused.
  private func reportPlain(_ index: Int) {
    let position = position(index)
    let meter = entries[position].meter
    if let behind = meter.behindMilliseconds {
      if entries[position].meter.isDue(everyMilliseconds: 60_000) {
        writePlain(index, DurationText.clock(behind) + " behind")
      }
      return
    }
    let tenth = meter.deliveredBytes * 10 / max(1, meter.totalBytes)
    guard tenth > entries[position].tenth else { return }
    entries[position].tenth = tenth
    // Progress from before a resume is not reported.
    if meter.elapsedMilliseconds > 0, tenth < 10 { writePlain(index, String(tenth * 10) + " %") }
  }

  private func writePlain(_ index: Int, _ first: String) {
    let meter = entry(index).meter
    let amount = SizeText.short(meter.deliveredBytes) + " of " + SizeText.short(meter.totalBytes)
    let line = [first, amount] + (meter.rateText.map { [$0] } ?? [])
    Console.error(entry(index).name + ": " + line.joined(separator: ", ") + "\n", .progress)
  }

  /// A line for each file being uploaded, as many as fit.
  private func reportBar(_ index: Int) {
    let meter = entry(index).meter
    let isSent = meter.deliveredBytes == meter.totalBytes && meter.behindMilliseconds == nil
    guard block.isDue(nowMilliseconds: shim_monotonic_milliseconds()) || isSent else { return }
    let (columns, rows) = Console.terminalSize(of: 2)
    let active = entries.filter { $0.index == index || $0.meter.totalBytes > 0 }
    // The last row stays free for the cursor of what comes next.
    let most = max(1, rows - 1)
    let own = active.count <= most ? active.count : most - 1
    var readings = active.prefix(own).map { (name: $0.name, reading: MeterReading([$0.meter])) }
    if own < active.count {
      let name = String(active.count - own) + (own == 0 ? " files" : " other files")
      readings.append((name, MeterReading(active.dropFirst(own).map { $0.meter })))
    }
    block.draw(ProgressLine.texts(readings, columns: columns, errorPalette))
  }

  func retrying(_ index: Int, _ retry: Retry, of limit: RetryLimit) {
    closeLine()
    if isJSON {
      writeRetry(index, retry)
    } else if !isQuiet {
      let problem = retry.error.explanation(after: entry(index).answer)
      Console.error(entry(index).name + ": " + problem + " " + retry.text(of: limit) + "\n", .remark)
    }
    entries[position(index)].answer = nil
  }

  // MARK: Messages

  func diagnose(_ line: String) {
    closeLine()
    Console.error(line + "\n", .remark)
  }

  /// A warning. The upload continues.
  func warn(_ message: String) { printError("warning: " + message, .yellow) }

  private func printError(_ message: String, _ color: Palette.Color = .red) {
    closeLine()
    Console.error(errorPalette.text("gighive-upload:", color) + " " + message + "\n")
  }

  func say(_ message: String) {
    if !isQuiet, !isJSON { Console.out(message) }
  }

  /// Reports that an upload was cancelled, deleted or forgotten.
  func reportRemoval(_ record: UploadRecord, _ kind: String, _ words: String) {
    if isJSON {
      var line = event(kind, recordID: record.id, file: record.file.path)
      line.add("exit_code", Int64(ExitCode.delivered))
      Console.out(line.finished())
    } else {
      say(record.id + ": " + words)
    }
  }

  /// The last line when there are several files.
  func summarize() {
    let count = fileCount - notStartedCount
    guard count > 1 || (hasSeveral && count > 0) else { return }
    let skipped = skippedCount > 0 ? ", " + String(skippedCount) + " already delivered" : ""
    let outcome = promises ? " would be sent" : " delivered"
    say(String(deliveredCount) + " of " + String(count) + outcome + skipped + ".")
  }

  private func closeLine() { block.clear() }

  /// A word of a result, coloured.
  func good(_ text: String) -> String { outPalette.text(text, .green) }
}

extension Report {
  func delivered(_ index: Int, _ delivery: SentRecording) {
    defer { end(index, isDelivered: true) }
    deliveredCount += 1
    closeLine()
    if case .plain = style { writePlain(index, "100 %") }
    if isJSON {
      writeDelivered(index, delivery)
    } else if !isQuiet {
      reportDeliveredText(index, delivery)
    }
    let file = entry(index).file
    switch delivery.aftermath {
    case nil: break
    case .removed(let target):
      removed(file, to: target, recordID: delivery.upload, assetID: delivery.receipt.assetID)
    case .kept(let reason): kept(file, reason, recordID: delivery.upload)
    }
  }

  private func reportDeliveredText(_ index: Int, _ delivery: SentRecording) {
    let receipt = delivery.receipt
    var lines = [entry(index).name + ": " + good(receipt.wasAlreadyThere ? "already there" : "delivered")]
    if let assetID = receipt.assetID { lines.append("  asset     " + String(assetID)) }
    if let sha256 = delivery.file.sha256 {
      let remark = receipt.isChecksumVerified ? " (verified)" : " (not confirmed by the server)"
      lines.append("  sha256    " + Report.fitting(sha256, before: remark) + remark)
    }
    let sent = delivery.file.size - delivery.resumedFrom
    let rate = sent > 0 ? ", " + SizeText.rate(bytes: sent, milliseconds: delivery.durationMilliseconds) : ""
    lines.append(
      "  sent      " + SizeText.short(sent) + " in " + DurationText.seconds(delivery.durationMilliseconds) + rate)
    if delivery.resumedFrom > 0 {
      lines.append("  resumed   at " + SizeText.short(delivery.resumedFrom))
    }
    Console.out(lines.joined(separator: "\n"))
  }

  /// A digest, shortened in the middle if it would not fit into a line of the terminal.
  private static func fitting(_ digest: String, before remark: String) -> String {
    guard Console.isOutputTerminal else { return digest }
    let room = Console.terminalSize(of: 1).columns - 12 - remark.utf8.count
    return digest.utf8.count <= room ? digest : digest.prefix(max(8, room - 9)) + "…" + digest.suffix(8)
  }

  /// Reports a file that has been delivered to the same destination before. Nothing was sent.
  /// - Parameters:
  ///   - isNamed: whether the upload was named by its ID, as for `resume`.
  ///   - isRemovalDue: whether its file is still to be removed, which follows at the end.
  func skipped(_ index: Int, _ previous: PreviousDelivery, isNamed: Bool, isRemovalDue: Bool = false) {
    defer { end(index, isDelivered: true) }
    recorded(index, recordID: previous.upload)
    skippedCount += 1
    closeLine()
    if isJSON {
      writeSkipped(index, previous, isRemovalDue: isRemovalDue)
    } else if isNamed || isVerbose || promises || !entry(index).isFound {
      let date = previous.deliveredAt.map { " on " + Timestamp.text(seconds: $0).prefix(10) } ?? ""
      let asset = previous.assetID.map { " as asset " + String($0) } ?? ""
      let event = previous.otherEvent.map { " to the event \"" + PrintableText.line($0) + "\"" } ?? ""
      let deletion = previous.isDeleted ? ", and deleted from the server since" : ""
      let words = (isNamed ? ": already delivered" : ": skipped; already delivered") + event + date + asset + deletion
      let doubt =
        switch previous.evidence {
        case .untouched: "."
        case .comparable: "; its content is not compared yet."
        case .incomparable: "; its content was not compared, because no SHA-256 is known."
        }
      let advice = isNamed ? "" : " Use --again to send it again."
      say(entry(index).name + words + " (upload " + previous.upload + ")" + doubt + advice)
    }
  }

  /// A delivered file whose content has to be compared. Whoever wrote the list asks for that when nothing is left to send.
  func comparisonDue(_ index: Int, _ previous: PreviousDelivery) {
    defer { end(index, isDelivered: true) }
    recorded(index, recordID: previous.upload)
    if isJSON { writeUnsent("comparison_due", index) }
  }

  /// An upload of `resume --all` that another process has worked on in the meantime.
  func notStarted(_ index: Int, recordID: String) {
    defer { end(index, isDelivered: true) }
    recorded(index, recordID: recordID)
    notStartedCount += 1
    if isJSON { writeSkipped(index) }
  }

  /// Whether an empty file is no failure: it was found in a directory, and no watcher asks for it.
  func leavesOutEmptyFile(_ index: Int) -> Bool { entry(index).isFound && !isSilent }

  /// A file of a directory that is not sent.
  func leftOut(_ index: Int, _ error: UploadError) {
    defer { end(index, isDelivered: true) }
    notStartedCount += 1
    let message = message(of: error, index)
    if isJSON { writeUnsent("left_out", index, message) } else { say(message + " It is left out.") }
  }

  /// A file that is not, or no longer, the finished recording that its list says it is. Whoever wrote the list offers it again.
  func unsettled(_ index: Int, _ error: UploadError) {
    defer { end(index, isDelivered: false) }
    let message = message(of: error, index)
    if isJSON {
      writeUnsent("unsettled", index, message, exitCode: ExitCode.inputFile)
    } else {
      printError(message)
    }
  }

  func failed(_ index: Int, _ error: UploadError, exitCode: Int32) {
    let nextRetry: Int64? = if case .postponed(_, let until, _) = error { until } else { nil }
    failed(
      index, message(of: error, index), exitCode: exitCode, error.concern(unprovedHost: unprovedHost),
      error.traits.reattempt, advice: advice(error, entry(index)), nextRetry: nextRetry)
  }

  func failed(
    _ index: Int, _ message: String, exitCode: Int32, _ concern: FailureConcern, _ again: Reattempt = .soon,
    advice: ResumeAdvice? = nil, nextRetry: Int64? = nil
  ) {
    defer { end(index, isDelivered: false) }
    if isJSON { writeFailed(index, message, exitCode: exitCode, concern, again, advice, nextRetry: nextRetry) }
    // A command for people has a line of its own, from which it can be copied.
    let gap = isJSON ? " " : "\n  "
    if !isSilent { printError(message + (advice.map { " " + $0.words + gap + $0.command } ?? "")) }
  }

  /// A failure outside of an upload.
  /// - Parameter record: what it concerns, if anything.
  func failed(_ error: UploadError, exitCode: Int32, about record: UploadRecord? = nil) {
    failed(error.explanation, exitCode: exitCode, about: record)
  }

  func failed(_ message: String, exitCode: Int32, about record: UploadRecord? = nil, answer: RedactedAnswer? = nil) {
    if isJSON {
      let file = record.map { $0.file.path }
      writeFailed(recordID: record?.id, file: file, message, exitCode: exitCode, answer)
    }
    if !isSilent { printError(message) }
  }

  /// A directory that cannot be sent.
  func failed(_ directory: LocalPath, _ message: String, exitCode: Int32) {
    if isJSON { writeFailed(recordID: nil, file: directory.absolute ?? directory, message, exitCode: exitCode) }
    if !isSilent { printError(message) }
  }

  /// The message of an interruption says how much had been sent.
  private func message(of error: UploadError, _ index: Int) -> String {
    let entry = entry(index)
    guard case .cancelled(let hasSentAll) = error else {
      // With several files, or without a command that names it, the message must name the file.
      let namesFile = !(hasSeveral || namesFiles) || error.namesFile
      return (namesFile ? "" : entry.name + ": ") + error.explanation(after: entry.answer)
    }
    if hasSentAll { return entry.name + ": interrupted. " + UploadError.mayBeStoredText }
    let sent = SizeText.short(entry.meter.deliveredBytes) + " of " + SizeText.short(entry.meter.totalBytes)
    let outcome = entry.meter.totalBytes == 0 ? "; nothing was sent." : " at " + sent + "; not delivered."
    return entry.name + ": interrupted" + outcome
  }

  /// nil if resuming would not help, or if there is no record.
  private func advice(_ error: UploadError, _ entry: Entry) -> ResumeAdvice? {
    guard let recordID = entry.recordID else { return nil }
    let command = "gighive-upload resume " + recordID + stateHint
    if case .cancelled(hasSentAll: true) = error { return nil }
    // A program cannot look.
    if case .mayBeStored = error, !isJSON {
      return ResumeAdvice(words: "To send it again:", command: command)
    }
    if case .postponed = error { return ResumeAdvice(words: "To send it now:", command: command) }
    return error.traits.leavesPending ? ResumeAdvice(words: "Resume with:", command: command) : nil
  }
}

/// Reports on files after their delivery, and on what is removed from a server.
extension Report {
  /// Reports that an upload could not be cancelled, or a recording not deleted, and that this is tried again.
  /// - Parameter answer: the response that led to it.
  func retrying(_ record: UploadRecord, _ retry: Retry, of limit: RetryLimit, after answer: RedactedAnswer?) {
    let problem = retry.error.explanation(after: answer)
    if isJSON {
      var line = event("retry", recordID: record.id, file: record.file.path)
      line.add("wait_seconds", milliseconds: retry.delayMilliseconds)
      line.add("try", retry.failures)
      line.add("message", problem)
      if let answer { line.add(answer: answer) }
      Console.out(line.finished(), .remark)
    } else if !isQuiet {
      Console.error(record.id + ": " + problem + " " + retry.text(of: limit) + "\n", .remark)
    }
  }

  /// Asks the watcher about a file (``WatcherQuestion``).
  func removing(_ file: LocalPath) {
    Console.out(event("removing", recordID: nil, file: file.absolute ?? file).finished())
  }

  /// Reports a file that was removed from this machine.
  /// - Parameter target: where it is now; nil if it is gone.
  func removed(_ file: LocalPath, to target: LocalPath?, recordID: String?, assetID: Int64?) {
    if isJSON {
      var line = event("removed", recordID: recordID, file: file.absolute ?? file)
      if let assetID { line.add("asset_id", assetID) }
      if let target { line.add(file: target, as: "to") }
      line.add("exit_code", Int64(ExitCode.delivered))
      return Console.out(line.finished())
    }
    let name = PrintableText.line(file.lastComponent)
    say(name + (target.map { ": moved to " + PrintableText.line($0.text) + "." } ?? ": removed from this machine."))
  }

  /// Reports a file that was delivered, but not removed as it should have been.
  func kept(_ file: LocalPath, _ reason: KeptReason, recordID: String?) {
    kept(file, reason.explanation, isTemporary: reason.isTemporary, isSilence: reason.isSilence, recordID: recordID)
  }

  func kept(
    _ file: LocalPath, _ reason: String, isTemporary: Bool, isSilence: Bool = false, recordID: String?
  ) {
    let message = PrintableText.line(file.lastComponent) + " was kept: " + reason
    if isJSON {
      var line = event("kept", recordID: recordID, file: file.absolute ?? file)
      line.add("message", message)
      line.add("temporary", isTemporary)
      if isSilence { line.add("unanswered", true) }
      Console.out(line.finished())
    }
    if !isSilent { warn(message) }
  }

  /// Reports a file that would be removed.
  func wouldRemove(_ record: UploadRecord) {
    let file = record.file.path
    if isJSON {
      var line = event("would_remove", recordID: record.id, file: file)
      line.add("total", record.file.identity.size)
      line.add("exit_code", Int64(ExitCode.delivered))
      return Console.out(line.finished())
    }
    say(PrintableText.line(file.text) + ": would be removed (" + SizeText.short(record.file.identity.size) + ").")
  }
}

extension KeptReason {
  /// Why the file was kept, and what to do about it at the command line.
  var explanation: String { commandAdvice.map { text + " " + $0 } ?? text }

  private var commandAdvice: String? {
    switch self {
    case .serverCannotTell, .lacking(.hidden): "Use --trust-server to remove it anyway."
    case .writersUnknown: "Use --set trust-settle=yes to remove it if it has not changed since its delivery."
    case .needed(let upload, _, _, let isRenamed):
      (isRenamed
        ? "gighive-upload send to the same destination continues it, "
        : "gighive-upload resume " + upload + " continues it, ")
        + "gighive-upload cancel " + upload + " ends it."
    case .unprovable: "Send such files with --digest."
    case .otherFileSystem: "Choose a directory on the same file system and mount."
    default: nil
    }
  }
}

/// How a person resumes an upload that failed.
struct ResumeAdvice {
  let words: String
  let command: String
}

extension Retry {
  /// "Retrying in 5 s (3 of 5)."
  func text(of limit: RetryLimit) -> String {
    let delay = delayMilliseconds / 100 * 100
    let start = "Retrying " + (delay == 0 ? "now" : "in " + DurationText.seconds(delay))
    let number = String(failures)
    return switch limit {
    case .failures(let count): start + " (" + number + " of " + String(count) + ")."
    case .time: start + " (retry " + number + ", for up to " + DurationText.rough(remainingMilliseconds ?? 0) + ")."
    case .forever: start + " (retry " + number + ")."
    }
  }
}

extension FilePresence {
  /// For a row of `list`; nil if there is nothing to say.
  var remark: String? {
    switch self {
    case .present: nil
    case .gone: "gone"
    case .waitingForMedium: "waiting for its drive"
    case .unknown(let error): "cannot be accessed: " + error.text
    }
  }

  /// For programs.
  var word: String {
    switch self {
    case .present: "present"
    case .gone: "gone"
    case .waitingForMedium: "waiting"
    case .unknown: "unknown"
    }
  }
}
