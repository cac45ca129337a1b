import Uploader

/// Outcomes of files.
extension Report {
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
    if !isJSON || !isQuiet { printError(message) }
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
    if !isJSON || !isQuiet { printError(message) }
  }

  /// The message of an interruption says how much had been sent.
  private func message(of error: UploadError, _ index: Int) -> String {
    let entry = entry(index)
    guard case .cancelled(let hasSentAll) = error else {
      // With several files, the message must name the file.
      let namesFile = fileCount == 1 || error.namesFile
      return (namesFile ? "" : entry.name + ": ") + error.explanation + (error.leavesPending ? resumeHint(entry) : "")
    }
    if hasSentAll { return entry.name + ": interrupted. " + UploadError.mayBeStored }
    let sent = SizeText.short(entry.meter.deliveredBytes) + " of " + SizeText.short(entry.meter.totalBytes)
    let outcome = entry.meter.totalBytes == 0 ? "nothing was sent and" : sent + " were sent, but"
    return entry.name + ": interrupted; " + outcome + " nothing was delivered." + resumeHint(entry)
  }

  private func resumeHint(_ entry: Entry) -> String {
    entry.upload.map { " Resume with: gighive-upload resume " + $0 + stateHint } ?? ""
  }
}
