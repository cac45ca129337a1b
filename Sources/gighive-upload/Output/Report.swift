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
    /// The ID of its record.
    var recordID: String?
    /// The response that leads to the next retry or to the outcome.
    var answer: RedactedAnswer?

    var name: String { PrintableText.line(file.lastComponent) }
  }

  private let style: Style
  let isQuiet: Bool
  let isJSON: Bool
  /// The option that a suggested command needs to find the record; can be empty.
  let stateHint: String
  /// The state directory, for messages.
  let stateName: String
  let isVerbose: Bool
  /// Only the files being uploaded, and the next one: there can be very many others.
  private var entries: [Entry] = []
  private(set) var fileCount = 0
  /// Whether nothing is sent, so that the summary says what would be.
  var promises = false
  /// Whether messages must name the file.
  private(set) var hasSeveral = false
  /// Whether messages name the file anyway.
  private(set) var namesFiles = false
  var deliveredCount = 0
  var skippedCount = 0
  var notStartedCount = 0
  private var block = ProgressBlock()
  private let outPalette: Palette
  private let errorPalette: Palette

  init(_ arguments: CommonArguments, progress: ProgressStyle) {
    isJSON = arguments.isJSON
    isQuiet = arguments.isQuiet
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

  /// Messages name the file even if there is only one.
  func nameFiles() { namesFiles = true }

  /// There will be more than one file.
  func expectSeveral() { hasSeveral = true }

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

  /// One line per 10 %.
  private func reportPlain(_ index: Int) {
    let position = position(index)
    let meter = entries[position].meter
    let tenth = meter.deliveredBytes / max(1, meter.totalBytes / 10)
    guard tenth > entries[position].tenth else { return }
    entries[position].tenth = tenth
    // Progress from before a resume is not reported.
    if meter.elapsedMilliseconds == 0, tenth < 10 { return }
    let amount = SizeText.short(meter.deliveredBytes) + " of " + SizeText.short(meter.totalBytes)
    let line = [String(min(100, tenth * 10)) + " %", amount] + (meter.rateText.map { [$0] } ?? [])
    Console.error(entry(index).name + ": " + line.joined(separator: ", ") + "\n", .progress)
  }

  /// A line for each file being uploaded, as many as fit.
  private func reportBar(_ index: Int) {
    let meter = entry(index).meter
    let isSent = meter.deliveredBytes == meter.totalBytes
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

  /// A line of --verbose.
  func diagnose(_ line: String) {
    closeLine()
    Console.error(line + "\n", .remark)
  }

  /// A warning. The upload continues.
  func warn(_ message: String) { printError("warning: " + message, .yellow) }

  func printError(_ message: String, _ color: Palette.Color = .red) {
    closeLine()
    Console.error(errorPalette.text("gighive-upload:", color) + " " + message + "\n")
  }

  /// A result in words.
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

  func closeLine() { block.clear() }

  /// A word of a result, coloured.
  func good(_ text: String) -> String { outPalette.text(text, .green) }
}
