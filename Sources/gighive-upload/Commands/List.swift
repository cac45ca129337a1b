import CShims
import Uploader

/// `gighive-upload list [--json] [--forget [ID...]]`
enum List {
  static func run(_ options: [GivenOption], _ operands: [FilePath]) throws(UsageError) -> Int32 {
    var common = CommonArguments()
    for given in options { _ = try common.apply(given) }
    let forgets = options.contains { $0.option == .forget }
    guard operands.isEmpty || forgets else { throw UsageError("list takes no IDs, unless with --forget.") }
    let report = Report(common, progress: .none)
    guard let records = Records(common, report) else { return ExitCode.stateDirectory }
    do throws(StateError) {
      if forgets { return try forget(operands, records, report) }
      let all = try records.directory.records(.all)
      if common.isJSON {
        for record in all { Console.out(json(record)) }
      } else if !all.isEmpty {
        for line in table(all) { Console.out(line) }
      } else {
        report.say("no uploads.")
      }
    } catch { return Records.fail(error, report) }
    return ExitCode.delivered
  }

  private static func forget(_ operands: [FilePath], _ records: Records, _ report: Report) throws(StateError) -> Int32 {
    let chosen = operands.isEmpty ? try records.directory.records(.all) : try records.named(operands)
    var exitCode = ExitCode.delivered
    // One that is not delivered is forgotten only if it is named.
    for record in chosen where !operands.isEmpty || record.phase == .delivered {
      guard let lock = try records.directory.lock(record.id) else {
        let error = UploadError.conflict(upload: record.id)
        report.failed(error, exitCode: ExitCode.conflict)
        exitCode = ExitCode.conflict
        continue
      }
      try records.directory.remove(record.id)
      withExtendedLifetime(lock) {}
      let remark = record.uploadURL != nil && record.phase != .delivered
      report.tookBack(
        record.id, "forgotten",
        "forgotten." + (remark ? " The server keeps what it has of it until that expires." : ""))
    }
    return exitCode
  }

  // MARK: Output

  private static func table(_ records: [UploadRecord]) -> [String] {
    records.flatMap { record in
      let isDelivered = record.phase == .delivered
      var line = record.id + "  " + padded(name(of: record), 9) + "  " + padded(amount(record), 20) + "  "
      line += PrintableText.line(FilePath(bytes: record.path).text)
      if isDelivered, let assetID = record.assetID { line += "  (asset " + String(assetID) + ")" }
      var lines = [line]
      if !isDelivered, let message = record.message { lines.append("          " + PrintableText.line(message)) }
      if !isDelivered, let expires = record.expires {
        lines.append("          the server keeps it until " + PrintableText.line(expires))
      }
      return lines
    }
  }

  private static func amount(_ record: UploadRecord) -> String {
    let size = SizeText.short(record.identity.size)
    if record.phase == .delivered { return size }
    // A process that was killed could not write down how far it had come; the server knows.
    let isUnknown = record.offset == 0 && record.uploadURL != nil
    return (isUnknown ? "some" : SizeText.short(record.offset)) + " of " + size
  }

  private static func name(of record: UploadRecord) -> String {
    switch record.phase {
    case .pending, .uploaded: "pending"
    case .delivered: "delivered"
    case .failed: "failed"
    }
  }

  private static func padded(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(0, width - text.count))
  }

  /// One object a line. The delete token stays in the record.
  private static func json(_ record: UploadRecord) -> String {
    var line = JSONWriter()
    line.add("id", record.id)
    line.add("state", name(of: record))
    line.add("file", FilePath(bytes: record.path).text)
    line.add("destination", PrintableText.withoutQuery(record.endpoint))
    line.add("bytes", record.offset)
    line.add("total", record.identity.size)
    line.add("created_at", record.createdAt)
    line.add("updated_at", record.updatedAt)
    if let message = record.message { line.add("message", message) }
    if let expires = record.expires { line.add("expires", expires) }
    if let sha256 = record.sha256 { line.add("checksum_sha256", sha256) }
    if let assetID = record.assetID { line.add("asset_id", assetID) }
    line.add("can_delete", record.deleteToken != nil && record.assetID != nil)
    return line.finished()
  }
}
