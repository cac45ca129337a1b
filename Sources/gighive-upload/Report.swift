import CShims
import Uploader

/// Tells a person, or with `--json` a program, how the uploads go. Results go to standard output, progress and errors to
/// standard error.
final class Report {
  private enum Style { case json, bar, plain, none }

  private let style: Style
  private let isQuiet: Bool
  private let isJSON: Bool
  private var file: FilePath = ""
  private var meter = Meter()
  private var lastTenth: Int64 = 0
  private var isLineOpen = false

  init(_ arguments: SendArguments) {
    isJSON = arguments.isJSON
    isQuiet = arguments.isQuiet
    style =
      switch arguments.progress {
      case _ where arguments.isQuiet && !arguments.isJSON: .none
      case _ where arguments.isJSON: .json
      case .none: .none
      case .bar: .bar
      case .plain: .plain
      case .automatic: Console.isErrorTerminal ? .bar : .plain
      }
  }

  private var name: String { PrintableText.line(file.lastComponent) }

  func begin(_ file: FilePath) {
    self.file = file
    meter = Meter()
    lastTenth = 0
    if isJSON { Console.out(event("start").finished()) }
  }

  // MARK: Progress

  func progress(_ progress: Progress) {
    meter.note(progress, nowMilliseconds: shim_monotonic_milliseconds())
    switch style {
    case .none: break
    case .json: reportJSON(progress)
    case .plain: reportPlain(progress)
    case .bar: reportBar(progress)
    }
  }

  /// Once a second is enough for a program.
  private func reportJSON(_ progress: Progress) {
    guard meter.isDue(everyMilliseconds: 1000) else { return }
    var line = event("progress")
    line.add("bytes", progress.deliveredBytes)
    line.add("total", progress.totalBytes)
    line.add("seconds", milliseconds: meter.elapsedMilliseconds)
    Console.out(line.finished())
  }

  /// A line each 10 %.
  private func reportPlain(_ progress: Progress) {
    let tenth = progress.deliveredBytes / max(1, progress.totalBytes / 10)
    guard tenth > lastTenth else { return }
    lastTenth = tenth
    let line = [
      String(min(100, tenth * 10)) + " %",
      SizeText.short(progress.deliveredBytes) + " of " + SizeText.short(progress.totalBytes), meter.rateText,
    ].joined(separator: ", ")
    Console.error(name + ": " + line + "\n")
  }

  private func reportBar(_ progress: Progress) {
    let columns = Int(shim_terminal_columns(2))
    let line = ProgressLine.text(name: name, progress, meter, columns: columns > 0 ? columns : 80)
    Console.error("\r" + line + "\u{1B}[K")
    isLineOpen = true
  }

  /// A line about what happens on the wire.
  func diagnose(_ line: String) {
    closeLine()
    Console.error(line + "\n")
  }

  private func closeLine() {
    if isLineOpen { Console.error("\r\u{1B}[K") }
    isLineOpen = false
  }

  // MARK: Outcomes

  func delivered(_ delivery: Delivery) {
    closeLine()
    if isJSON { return reportDeliveredJSON(delivery) }
    if isQuiet { return }
    let receipt = delivery.receipt
    Console.out(name + ": " + (receipt.wasAlreadyThere ? "already there" : "delivered"))
    if let assetID = receipt.assetID { Console.out("  asset     " + String(assetID)) }
    if let sha256 = delivery.file.sha256 {
      Console.out(
        "  sha256    " + sha256 + (receipt.isChecksumVerified ? " (verified)" : " (not confirmed by the server)"))
    }
    let rate = SizeText.rate(bytes: delivery.file.size, milliseconds: delivery.durationMilliseconds)
    Console.out(
      "  sent      " + SizeText.short(delivery.file.size) + " in "
        + DurationText.seconds(delivery.durationMilliseconds) + ", " + rate)
  }

  private func reportDeliveredJSON(_ delivery: Delivery) {
    var line = event("delivered")
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

  func failed(_ error: UploadError, exitCode: Int32) {
    closeLine()
    let message = self.message(of: error)
    if isJSON {
      var line = event("failed")
      line.add("bytes", meter.deliveredBytes)
      line.add("exit_code", Int64(exitCode))
      line.add("message", message)
      Console.out(line.finished())
    }
    if !isJSON || !isQuiet { Console.error("gighive-upload: " + message + "\n") }
  }

  /// An interruption is told with what had been sent by then.
  private func message(of error: UploadError) -> String {
    guard case .cancelled(let hasSentAll) = error else { return error.message }
    if hasSentAll { return name + ": interrupted. " + UploadError.mayBeStored }
    let sent = SizeText.short(meter.deliveredBytes) + " of " + SizeText.short(meter.totalBytes)
    return name + ": interrupted; " + (meter.totalBytes == 0 ? "nothing was sent" : sent + " were sent")
      + ", nothing was delivered."
  }

  private func event(_ kind: String) -> JSONWriter {
    var line = JSONWriter()
    line.add("event", kind)
    line.add("file", file.text)
    return line
  }
}
