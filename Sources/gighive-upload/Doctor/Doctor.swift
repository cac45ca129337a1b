import CShims
import Uploader

/// `gighive-upload doctor [FILE]`: checks everything between a recording and the server, in the order of the data's path.
enum Doctor {
  /// - Returns: the exit code of the first failure, or 0.
  static func run(_ arguments: DoctorArguments) throws(UsageError) -> Int32 {
    let report = Report(arguments.common, progress: .none)
    let cancellation = SignalCancellation.begin()
    let configuration = try arguments.common.configuration(for: arguments.request, report)
    let findings = Findings(report)
    let (size, file) = examineFile(arguments)
    // Without a file, for the largest recording.
    let needsRecords = arguments.request.prefersTus(
      size: size ?? .max, isGuest: configuration.credentials.areGuests)
    MachineExamination.run(arguments, needsRecords: needsRecords, findings)
    if let file { findings.add(file) }
    let sendsForm = if case .multipart = arguments.request.destination { true } else { false }
    let prober = Prober(
      arguments.request.base, configuration, cancellation, answering: sendsForm ? .otherForm : .other)
    if let problem = prober.problem {
      findings.add(Finding(.connection, .failure(problem)))
    } else if ConnectionExamination.run(prober, configuration, findings) {
      try ServerExamination(arguments, size, prober, configuration, findings).run()
    }
    if cancellation.isCancelled {
      let code = UploadError.cancelled(hasSentAll: false).exitCode(signal: shim_signal_received())
      report.failed("interrupted; the diagnosis is not complete.", exitCode: code)
      return code
    }
    findings.summarize()
    return findings.exitCode
  }

  /// - Returns: the size of the file, nil if there is none or it cannot be sent; and what was found, nil without a file.
  private static func examineFile(_ arguments: DoctorArguments) -> (size: Int64?, Finding?) {
    guard let file = arguments.file else { return (nil, nil) }
    do throws(UploadError) {
      let size = try Uploader.size(of: file, limit: arguments.request.sizeLimit)
      if arguments.request.isForGigHive, let finding = ServerChecks.fileType(of: file) { return (size, finding) }
      return (size, Finding(.file, .ok(PrintableText.line(file.text) + " has " + SizeText.short(size))))
    } catch { return (nil, Finding(.file, .failure(error))) }
  }
}
