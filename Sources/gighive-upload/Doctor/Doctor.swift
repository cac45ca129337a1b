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
    let needsRecords =
      arguments.request.prefersTus(
        size: size ?? .max, isGuest: configuration.credentials.areGuests) || arguments.request.isForWebDAV
    MachineExamination.run(arguments, needsRecords: needsRecords, findings)
    if let file { findings.add(file) }
    let sendsForm = if case .multipart = arguments.request.destination { true } else { false }
    let prober = Prober(
      arguments.request.base, configuration, cancellation, answering: sendsForm ? .otherForm : .other)
    if let problem = prober.problem {
      findings.add(Finding(.connection, .failure(problem)))
    } else if ConnectionExamination.run(prober, configuration, findings) {
      var examination = ServerExamination(arguments, size, prober, configuration, findings)
      try examination.run()
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

/// The command line of `doctor`, parsed and checked.
final class DoctorArguments {
  private(set) var common = CommonArguments()
  /// What would be sent. Without a file, its path is empty. Where files become objects, its URL is a sample.
  private(set) var request: UploadRequest
  /// Where files go as objects; nil for other destinations.
  private(set) var object: ObjectURL?
  /// How many zeros to send, in bytes; nil for none.
  private(set) var testLength: Int64?
  /// Whether the event's date does not come from the clock.
  private(set) var givesEventDate = false
  private(set) var measuresLink = false

  init(options: [GivenOption], operands: Operands) throws(UsageError) {
    guard operands.count <= 1 else { throw UsageError("doctor takes at most one file.") }
    var uploadProtocol = UploadProtocol.automatic
    var threshold: Int64?
    var overridesMethod = false
    for given in options {
      switch given.option {
      case .protocolChoice: uploadProtocol = try given.uploadProtocol()
      case .threshold: threshold = try given.size(AllowedRanges.fileSize)
      case .methodOverride: overridesMethod = true
      case .eventDate: givesEventDate = EventDay(of: [given])?.isGiven ?? false
      case .sendTest: testLength = try given.size(AllowedRanges.testLength)
      case .link: measuresLink = true
      default: _ = try common.apply(given)
      }
    }
    try common.validate()
    let destinations = options.filter { $0.option.has(.destination) }
    guard destinations.count == 1, let given = destinations.first else {
      throw UsageError(
        "give one destination: --server URL, --tus-url URL, --put-url URL, --put-url-file FILE, --s3 URL, --webdav URL"
          + " or --multipart-url URL.")
    }
    let destination: Destination
    var takesZeros = true
    switch given.option {
    case .server: destination = .gigHive(try given.uri(), EventForm())
    case .tusURL: destination = .tus(try given.uri())
    default:
      takesZeros = false
      if given.option == .multipartURL {
        destination = .multipart(try given.uri())
      } else {
        let object = try ObjectURL(given, options, allowsShared: common.allowsSharedSecrets)
        (destination, self.object) = (try object.sample, object)
      }
    }
    if !takesZeros, testLength != nil || measuresLink {
      let name = (testLength != nil ? Option.sendTest : .link).name
      throw UsageError(
        "--" + name + " needs --server or --tus-url: what it sends elsewhere could not be deleted.")
    }
    request = UploadRequest(file: operands.first ?? "", destination: destination)
    request.uploadProtocol = uploadProtocol
    request.overridesMethod = overridesMethod
    if let threshold { request.tusThreshold = threshold }
  }

  var file: LocalPath? { request.file.bytes.isEmpty ? nil : request.file }
}

enum MachineExamination {
  /// - Parameter needsRecords: whether there are recordings that are not sent without a record.
  static func run(_ arguments: DoctorArguments, needsRecords: Bool, _ findings: Findings) {
    let request = arguments.request
    findings.add(
      MachineChecks.clock(
        now: shim_unix_seconds(), usesTLS: request.base.scheme == .https,
        datesEvents: request.isForGigHive && !arguments.givesEventDate))
    findings.add(MachineChecks.entropy(isReady: shim_has_entropy() != 0))
    let memory = shim_available_memory()
    findings.add(MachineChecks.memory(available: memory < 0 ? nil : memory))
    let count = Limits.descriptorCount + Limits.jobDescriptorCount
    let result = shim_can_open(Int32(count))
    findings.add(MachineChecks.openFiles(count, error: result == 0 ? nil : SystemError(result: result)))
    if let user = StateOwner.user {
      findings.add(Finding(.user, .ok("this runs as " + user)))
    } else if shim_is_root() != 0 {
      findings.add(Finding(.user, .ok("this runs as root; a watcher needs only a user of its own")))
    }
    examineState(arguments.common.statePath, isNeeded: needsRecords, findings)
    examineLeftovers(arguments.common.statePath, of: request.base.origin, findings)
  }

  private static let shownLeftovers = 5

  /// Looks for uploads to this server that nothing continues.
  private static func examineLeftovers(_ path: LocalPath?, of origin: String, _ findings: Findings) {
    var (ids, count, undeleted): ([String], Int, Int) = ([], 0, 0)
    do throws(StateError) {
      guard let path,
        let directory = try StateDirectory(
          existing: path, warn: { findings.add(Finding(.stateDirectory, .warning($0, remedy: nil))) })
      else { return }
      undeleted = directory.undeleted.uploads(at: origin).count
      try directory.walk(.open) { record in
        guard record.hasPartOnServer, (try? TargetURI(record.destination.endpoint))?.origin == origin,
          record.phase == .failed || record.locateFile() == .gone
        else { return }
        count += 1
        if count <= shownLeftovers { ids.append(record.id) }
      }
    } catch {
      // What is wrong with the directory has been said.
    }
    if count > 0 { findings.add(MachineChecks.leftovers(ids, of: count)) }
    if undeleted > 0 { findings.add(MachineChecks.undeleted(undeleted)) }
  }

  /// A directory that does not exist is not created.
  private static func examineState(_ path: LocalPath?, isNeeded: Bool, _ findings: Findings) {
    guard let path else { return findings.add(Finding(.stateDirectory, .failure(.state(.noDirectory)))) }
    let (existing, missing) = nearest(to: path)
    var error = missing
    var space: FreeSpace?
    if error == nil, let name = existing.cString {
      let result = shim_may_create_in(name)
      if result < 0 { error = SystemError(result: result) }
      space = FreeSpace(at: existing)
    }
    let noSpace = SystemError(code: SHIM_ENOSPC)
    findings.add(
      MachineChecks.stateDirectory(path, error: error, noSpace: noSpace, space: space, isNeeded: isNeeded))
  }

  /// The directory, or the nearest one above it that exists.
  private static func nearest(to path: LocalPath) -> (LocalPath, SystemError?) {
    var path = path
    while true {
      var status = shim_file_status()
      guard let name = path.cString else { return (path, SystemError(code: SHIM_EINVAL)) }
      let result = shim_stat(name, &status)
      if result == 0 {
        return (path, status.isDirectory ? nil : SystemError(code: SHIM_ENOTDIR))
      }
      guard -result == SHIM_ENOENT, path.bytes.count > 1 else { return (path, SystemError(result: result)) }
      guard let slash = path.bytes.lastIndex(of: ASCII.slash) else { return (".", nil) }
      path = LocalPath(bytes: slash == 0 ? [ASCII.slash] : Array(path.bytes[..<slash]))
    }
  }
}
