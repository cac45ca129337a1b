import Uploader

/// `--dry-run`: examines every file and says what would be sent. Nothing is sent.
enum DryRun {
  static func run(
    _ batch: Batch, _ uploader: Uploader, _ outcomes: OutcomeReporter, _ report: Report, _ cancellation: Cancellation
  ) {
    report.promises = true
    var number = 0
    while !cancellation.isCancelled, let request = batch.next() {
      let index = batch.index(of: number)
      do throws(UploadError) {
        switch try uploader.preview(request) {
        case .send(let size, let usesTus, let recordID):
          report.wouldSend(index, request, size: size, usesTus: usesTus, recordID: recordID)
        case .deliveredBefore(let previous): report.skipped(index, previous, isNamed: false)
        }
      } catch { outcomes.fail(index, error) }
      batch.end(number)
      number += 1
    }
  }
}

extension Report {
  func wouldSend(_ index: Int, _ request: UploadRequest, size: Int64, usesTus: Bool, recordID: String?) {
    defer { end(index, isDelivered: true) }
    deliveredCount += 1
    if let recordID = recordID { recorded(index, recordID: recordID) }
    let destination = PrintableText.withoutSecrets(request.endpoint)
    let way =
      switch request.destination {
      case .put: "put"
      case .s3: "s3"
      case .webDAV: "webdav"
      case .gigHive, .multipart, .tus, .tusUpload: usesTus ? "tus" : "multipart"
      }
    if isJSON {
      var line = event("would_send", index)
      line.add("total", size)
      line.add("destination", destination)
      line.add("protocol", way)
      line.add("file_name", String(decoding: request.filePart.fileName, as: UTF8.self))
      if case .gigHive(_, let form) = request.destination {
        line.add("event_date", form.eventDate)
        line.add("event_type", form.eventType)
        if !form.orgName.isEmpty { line.add("org_name", form.orgName) }
        line.add("label", form.label)
      }
      line.add("exit_code", Int64(ExitCode.delivered))
      return Console.out(line.finished())
    }
    var text = entry(index).name + ": would be sent to " + PrintableText.line(destination) + " (" + way + ", "
    text += SizeText.short(size) + ")"
    if case .gigHive(_, let form) = request.destination {
      let event = [form.eventDate, form.orgName].filter { !$0.isEmpty }.joined(separator: " ")
      text += " as \"" + PrintableText.line(form.label) + "\" of " + PrintableText.line(event)
    }
    if let recordID = recordID { text += ", resuming upload " + recordID }
    say(text + ".")
  }
}
