import Uploader

/// `gighive-upload resume [ID... | --all] [options]`
enum Resume {
  /// Resumes uploads with the options in their records and those given now.
  static func run(_ options: [GivenOption], _ operands: Operands) throws(UsageError) -> Int32 {
    let common = try CommonArguments(options)
    let isAll = options.contains { $0.option == .all }
    guard isAll != !operands.isEmpty else { throw UsageError("give upload IDs or --all.") }
    let own = options.filter { $0.option != .all }
    let ceiling = try own.last { $0.option == .maxMemory }?.size()
    if let ceiling, !MemoryCeiling.set(ceiling, isJSON: common.isJSON) { return ExitCode.memoryCeiling }

    let progress = try own.last { $0.option == .progress }?.progressStyle() ?? .automatic
    let report = Report(common, progress: progress)
    guard DescriptorLimit.allows(jobs: 1, report) else { return ExitCode.memoryCeiling }
    guard let records = Records(common, report) else { return ExitCode.stateDirectory }
    let cancellation = SignalCancellation.begin()
    var exitCode = ExitCode.delivered
    var count = 0
    var passedOver = PassedOver()
    func resume(_ record: UploadRecord) {
      count += 1
      let code = Resume.resume(record, own, report, cancellation)
      if exitCode == ExitCode.delivered { exitCode = code }
    }
    do throws(StateError) {
      if isAll {
        try records.directory.walk(.open) { record in
          // A recording that may be stored is sent again only when its ID is given.
          if !record.mayBeStored, !passedOver.take(record) { resume(record) }
        }
      } else {
        for record in try records.named(operands) { resume(record) }
      }
    } catch { return Records.fail(error, report) }
    if let text = passedOver.text { report.say(text) } else if count == 0 { report.say("nothing to resume.") }
    report.summarize()
    return exitCode
  }

  private static func resume(
    _ record: UploadRecord, _ own: [GivenOption], _ report: Report, _ cancellation: Cancellation
  ) -> Int32 {
    do throws(UsageError) {
      let options = StoredOptions.options(in: record.note, with: own)
      let arguments = try SendArguments(
        options: options, files: Operands([LocalPath(bytes: record.path)]), upload: record.id)
      return try Send.deliver(arguments, report, cancellation)
    } catch {
      // An upload that lacks something, such as its password, does not stop the others.
      let index = report.add(Operands([LocalPath(bytes: record.path)]))
      report.recorded(index, upload: record.id)
      report.failed(index, record.id + ": " + error.message, exitCode: ExitCode.usage)
      return ExitCode.usage
    }
  }
}
