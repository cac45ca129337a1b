import Uploader

/// The command line of `send`, parsed and checked. `resume` builds one from the options in a record.
struct SendArguments {
  private(set) var common = CommonArguments()
  /// The options that `common` comes from.
  private var commonOptions: [GivenOption] = []
  private(set) var files = Operands()
  private(set) var progress = Report.ProgressStyle.automatic
  private(set) var jobs = 1
  /// The most address space that the process may use, in bytes.
  private(set) var memoryCeiling: Int64?

  private var server: TargetURI?
  private var multipartURL: TargetURI?
  private var tusURL: TargetURI?
  private var form = EventForm()
  private var extraFields: [FormField] = []
  /// The request for any of the files, without the file itself.
  private var template = UploadRequest(file: "", destination: .multipart(anyTarget))

  /// - Parameters:
  ///   - upload: the ID of the upload to resume; nil for a new one.
  ///   - note: the options to keep in its record; nil for those given.
  init(options: [GivenOption], files: Operands, upload: String? = nil, note: String? = nil) throws(UsageError) {
    self.files = files
    template.upload = upload
    for given in options { try apply(given) }
    if common.wantsHelp { return }
    guard [server, multipartURL, tusURL].filter({ $0 != nil }).count == 1 else {
      throw UsageError("give one destination: --server URL, --tus-url URL or --multipart-url URL.")
    }
    guard tusURL == nil || template.uploadProtocol != .multipart,
      multipartURL == nil || template.uploadProtocol != .tus
    else { throw UsageError("--protocol contradicts the destination.") }
    guard template.extraMetadata.isEmpty || (multipartURL == nil && template.uploadProtocol != .multipart) else {
      throw UsageError("--metadata is for tus; a form takes --field NAME=VALUE.")
    }
    try common.validate()
    guard !files.isEmpty else { throw UsageError("give at least one file.") }
    guard template.fileNameBytes == nil || files.count == 1 else {
      throw UsageError("--file-name needs exactly one file.")
    }
    if let server {
      do throws(EventFormError) { try form.validate() } catch { throw UsageError(error.explanation) }
      template.hasDefaultEventDate = form.eventDate.isEmpty
      // Once for all files, so that a night's recordings belong to one event.
      form = form.completed(today: EventForm.today())
      template.destination = .gigHive(server, form)
    } else {
      // Other endpoints get only the fields that were given, without defaults.
      template.destination = tusURL.map { .tus($0) } ?? .multipart(target)
    }
    template.extraFields = (server == nil ? form.fields : []) + extraFields
    template.note = note ?? StoredOptions.text(of: options, eventDate: server == nil ? nil : form.eventDate)
  }

  /// Where all files go.
  var target: TargetURI { server ?? tusURL ?? multipartURL ?? anyTarget }

  /// Whether a record is required, because a tus upload cannot be resumed without one.
  var needsState: Bool { template.requiresTus }

  /// The request for one of the files.
  func request(for file: LocalPath) -> UploadRequest {
    var request = template
    request.file = file
    return request
  }

  /// Whether both have the same configuration, so that one ``Uploader`` can serve both.
  func sharesConfiguration(with other: SendArguments) -> Bool {
    target.origin == other.target.origin
      && commonOptions.elementsEqual(other.commonOptions) { $0.option == $1.option && $0.argument == $1.argument }
  }

  // MARK: Options

  private mutating func apply(_ given: GivenOption) throws(UsageError) {
    if try common.apply(given) {
      commonOptions.append(given)
      return
    }
    switch given.option {
    case .server: server = try given.uri()
    case .multipartURL: multipartURL = try given.uri()
    case .tusURL: tusURL = try given.uri()
    case .eventDate, .orgName, .eventType, .label, .participants, .keywords, .location, .rating, .notes:
      applyToForm(given)
    case .metadata: template.extraMetadata.append(try given.metadata())
    case .field: extraFields.append(try given.field())
    case .fileField: template.fileFieldName = given.text
    case .fileName: template.fileNameBytes = given.argument.bytes
    case .mime: template.mediaType = given.text
    case .protocolChoice, .threshold, .chunkSize, .methodOverride, .deferLength: try applyToProtocol(given)
    case .jobs: jobs = Int(try given.count(Settings.jobs))
    case .maxSize: template.maximumSize = try given.size(Settings.fileSize)
    case .maxMemory: memoryCeiling = try given.size()
    case .digest: template.computesDigest = true
    case .again: template.sendsAgain = true
    case .progress: progress = try given.progressStyle()
    default: preconditionFailure("an option that send does not have")
    }
  }

  private mutating func applyToForm(_ given: GivenOption) {
    switch given.option {
    case .eventDate: form.eventDate = given.text
    case .orgName: form.orgName = given.text
    case .eventType: form.eventType = given.text
    case .label: form.label = given.text
    case .participants: form.participants = given.text
    case .keywords: form.keywords = given.text
    case .location: form.location = given.text
    case .rating: form.rating = given.text
    case .notes: form.notes = given.text
    default: preconditionFailure("not an option of the form")
    }
  }

  private mutating func applyToProtocol(_ given: GivenOption) throws(UsageError) {
    switch given.option {
    case .protocolChoice:
      template.uploadProtocol =
        try given.choice([("auto", .automatic), ("multipart", .multipart), ("tus", .tus)])
    case .threshold: template.tusThreshold = try given.size(Settings.fileSize)
    case .chunkSize: template.chunkLength = try given.size(Settings.chunkLength)
    case .methodOverride: template.overridesMethod = true
    case .deferLength: template.defersLength = true
    default: preconditionFailure("not an option of the protocol")
    }
  }
}

/// A placeholder until the destination is known.
private let anyTarget: TargetURI = {
  guard let target = try? TargetURI("http://localhost/") else { preconditionFailure("not a URL") }
  return target
}()
