import Uploader

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
    if !isJSON || !isQuiet { warn(message) }
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
    case .serverCannotTell, .hidden: "Use --trust-server to remove it anyway."
    case .writersUnknown: "Use --trust-settle to remove it if it has not changed since its delivery."
    case .needed(let upload, _, _):
      "gighive-upload resume " + upload + " continues it, gighive-upload cancel " + upload + " ends it."
    case .otherFileSystem: "Choose a directory on the same file system and mount."
    default: nil
    }
  }
}
