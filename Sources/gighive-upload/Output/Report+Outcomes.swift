import CShims
import Uploader

/// Outcomes of files.
extension Report {
  func delivered(_ index: Int, _ delivery: Delivery) {
    defer { end(index, isDelivered: true) }
    deliveredCount += 1
    closeLine()
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

  private func reportDeliveredText(_ index: Int, _ delivery: Delivery) {
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
    if isJSON { writeComparisonDue(index) }
  }

  /// An upload of `resume --all` that another process has worked on in the meantime.
  func notStarted(_ index: Int, recordID: String) {
    defer { end(index, isDelivered: true) }
    recorded(index, recordID: recordID)
    notStartedCount += 1
    if isJSON { writeSkipped(index) }
  }

  /// A file that is not, or no longer, the finished recording that its list says it is. Whoever wrote the list offers it again.
  func unsettled(_ index: Int, _ error: UploadError) {
    defer { end(index, isDelivered: false) }
    if isJSON { writeUnsettled(index, message(of: error, index)) } else { printError(message(of: error, index)) }
  }

  func failed(_ index: Int, _ error: UploadError, exitCode: Int32) {
    let nextRetry: Int64? = if case .postponed(_, let until, _) = error { until } else { nil }
    failed(
      index, message(of: error, index), exitCode: exitCode, error.traits.concern, error.traits.reattempt,
      advice: advice(error, entry(index)), nextRetry: nextRetry)
  }

  func failed(
    _ index: Int, _ message: String, exitCode: Int32, _ concern: FailureConcern, _ again: Reattempt = .soon,
    advice: ResumeAdvice? = nil, nextRetry: Int64? = nil
  ) {
    defer { end(index, isDelivered: false) }
    if isJSON { writeFailed(index, message, exitCode: exitCode, concern, again, advice, nextRetry: nextRetry) }
    // A command for people has a line of its own, from which it can be copied.
    let gap = isJSON ? " " : "\n  "
    if !isJSON || !isQuiet { printError(message + (advice.map { " " + $0.words + gap + $0.command } ?? "")) }
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
    if !isJSON || !isQuiet { printError(message) }
  }

  /// A directory that cannot be sent.
  func failed(_ directory: LocalPath, _ message: String, exitCode: Int32) {
    if isJSON { writeFailed(recordID: nil, file: directory.absolute ?? directory, message, exitCode: exitCode) }
    if !isJSON || !isQuiet { printError(message) }
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
