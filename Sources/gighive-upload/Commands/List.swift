import CShims
import Uploader

/// `gighive-upload list [--json]`
enum List {
  static func run(_ options: [GivenOption], _ operands: Operands) throws(UsageError) -> Int32 {
    let common = try CommonArguments(options)
    guard operands.isEmpty else { throw UsageError("list takes no arguments.") }
    let report = Report(common, progress: .none)
    guard DescriptorLimit.allows(jobs: 0, report) else { return ExitCode.memoryCeiling }
    guard let records = Records(common, report) else { return ExitCode.stateDirectory }
    do throws(StateError) {
      var isEmpty = true
      let hasUnfinished = try records.directory.openCount() > 0
      try records.directory.walk(.all) { record in
        isEmpty = false
        let isDelivered = record.phase == .delivered
        let isMarked = isDelivered && records.directory.isRemovalDue(record.id)
        let isRemovalDue = isMarked && record.mayHaveFile
        let keeper = hasUnfinished && isDelivered ? records.directory.upload(keepingFileOf: record) : nil
        Console.out(
          common.isJSON
            ? json(record, keptBy: keeper, isRemovalDue, nowSeconds: shim_unix_seconds())
            : row(record, keptBy: keeper, isRemovalDue, absence(of: record, isMarked)))
      }
      if isEmpty { report.say("no uploads in " + report.stateName + ".") }
    } catch { return Records.fail(error, report) }
    return ExitCode.delivered
  }

  // MARK: Output

  /// What became of the file, if it is not there.
  /// - Parameter isMarked: whether it has not been removed by its own upload.
  private static func absence(of record: UploadRecord, _ isMarked: Bool) -> String? {
    let presence = record.locateFile()
    let after = StoredOptions.options(in: record.note, with: []).last { $0.option == .after }
    guard presence == .gone, record.phase == .delivered else { return presence.remark }
    guard !isMarked, let removal = try? after?.removal() else { return "removed or renamed since" }
    // Since then, another option may have applied to it.
    if case .move(let target) = removal, isFile(of: record, in: target) {
      return "moved to " + PrintableText.line(target.text)
    }
    return "removed or moved after its delivery"
  }

  private static func isFile(of record: UploadRecord, in target: LocalPath) -> Bool {
    let file = target.appendingName(Array(record.file.path.lastComponentBytes))
    return shim_file_status(ofLinkAt: file)?.inode == record.file.identity.inode
  }

  /// - Parameters:
  ///   - keeper: an unfinished upload that still needs the file.
  ///   - absence: what became of the file; nil if it is there.
  private static func row(
    _ record: UploadRecord, keptBy keeper: UploadRecord?, _ isRemovalDue: Bool, _ absence: String?
  ) -> String {
    var line = record.id + "  " + padded(name(of: record), 9) + "  " + padded(amount(record), 20) + "  "
    line +=
      PrintableText.line(record.file.path.text) + "  to " + PrintableText.withoutSecrets(record.destination.endpoint)
    if let assetID = record.delivery?.assetID { line += "  (asset " + String(assetID) + ")" }
    if let absence { line += "  (" + absence + ")" }
    if let message = record.unfinished?.message { line += "\n          " + PrintableText.line(message) }
    if let keeper {
      line += "\n          its file is kept: " + KeptReason(neededBy: keeper, record).explanation
    }
    if keeper == nil, isRemovalDue { line += "\n          its file is still to be removed" }
    if let time = record.postponedUntil(now: shim_unix_seconds()) {
      line +=
        "\n          resume --all waits until " + DurationText.moment(time) + "; resume " + record.id + " sends it now"
    }
    if let expires = record.unfinished?.remote?.expires {
      line += "\n          the server keeps it until " + PrintableText.line(expires)
    }
    return line
  }

  private static func amount(_ record: UploadRecord) -> String {
    let size = SizeText.short(record.size)
    if record.phase == .delivered { return size }
    // A process that was killed could not record its offset; only the server knows it.
    let isUnknown = record.offset == 0 && record.remote != nil
    return (isUnknown ? "some" : SizeText.short(record.offset)) + " of " + size
  }

  private static func name(of record: UploadRecord) -> String {
    switch record.phase {
    case .pending, .uploaded: "pending"
    case .delivered: record.delivery?.deletion == .done ? "deleted" : "delivered"
    case .failed: "failed"
    }
  }

  private static func padded(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(0, width - text.count))
  }

  /// One object per line, without the delete token.
  private static func json(
    _ record: UploadRecord, keptBy keeper: UploadRecord?, _ isRemovalDue: Bool, nowSeconds now: Int64
  ) -> String {
    var line = JSONWriter()
    line.add("id", record.id)
    line.add(file: record.file.path)
    line.add("total", record.size)
    line.add(
      "modified", unixSeconds: record.file.identity.modifiedSeconds,
      nanoseconds: record.file.identity.modifiedNanoseconds)
    line.add("file_state", record.locateFile().word)
    line.add("destination", PrintableText.withoutSecrets(record.destination.endpoint))
    line.add("state", name(of: record))
    line.add("created", unixSeconds: record.createdAt)
    line.add("updated", unixSeconds: record.updatedAt)
    if let deliveredAt = record.delivery?.deliveredAt { line.add("delivered", unixSeconds: deliveredAt) }
    // Not negative, even if the clock was set back.
    line.add("age_seconds", now - min(max(record.createdAt, 0), now))
    if let time = record.postponedUntil(now: now) {
      line.add("next_retry", unixSeconds: time)
    } else {
      line.addNull("next_retry")
    }
    line.add("bytes", record.offset)
    if let message = record.unfinished?.message { line.add("message", message) }
    if let sha256 = record.delivery?.sha256 { line.add("checksum_sha256", sha256) }
    if let assetID = record.assetID { line.add("asset_id", assetID) }
    line.add("can_delete", record.delivery?.deleteToken != nil && record.assetID != nil)
    if let expires = record.remote?.expires { line.add("expires", expires) }
    if let keeper { line.add("kept_by", keeper.id) }
    if isRemovalDue { line.add("removal_due", true) }
    return line.finished()
  }
}
