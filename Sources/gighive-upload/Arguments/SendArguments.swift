import Uploader

/// The command line of `send`, parsed and checked. `resume` builds one from the options in a record.
struct SendArguments {
  private(set) var common = CommonArguments()
  /// The options that `common` comes from.
  private var commonOptions: [GivenOption] = []
  private(set) var files = Operands()
  private(set) var progress = Report.ProgressStyle.automatic
  private var givenJobs: Int?
  /// How many files are sent at a time.
  var jobs: Int { givenJobs ?? (isLive ? Limits.growingJobs : 1) }
  private(set) var isRecursive = false
  /// The list of files, or "-" for standard input.
  private(set) var list: LocalPath?
  private(set) var isDryRun = false
  /// As given, for messages.
  private(set) var patterns: [GivenOption] = []
  private var exclusions: [GivenOption] = []
  /// Smaller files of directories are left out, in bytes; nil for none.
  private(set) var minimumSize: Int64?
  /// The files of directories that are left out; nil for none.
  private(set) var existing: ExistingList?
  /// How long a file of directories must not have changed, in milliseconds; nil if it is sent as it is.
  private(set) var settleMilliseconds: Int64?
  /// Which files of directories are sent.
  private(set) var selection = FileSelection(patterns: [], selectsRecordings: false)
  /// The most address space that the process may use, in bytes.
  private(set) var memoryCeiling: Int64?

  private(set) var server: TargetURI?
  private var multipartURL: TargetURI?
  private(set) var tusURL: TargetURI?
  private var putOptions: [GivenOption] = []
  /// Where files go with PUT, also over WebDAV; nil for other destinations.
  private(set) var object: ObjectURL?
  /// When a day starts, in minutes after midnight.
  private(set) var dayStart = 0
  /// The options to keep in the record; nil for those given.
  let givenNote: String?
  let options: [GivenOption]
  /// When the command began, in seconds since 1970, so that a night's recordings belong to one event.
  var now: Int64 = 0
  /// Whether the files are those that a watcher sees, for as long as it runs.
  let isWatching: Bool
  /// Whether files share a request, unless one of them has a description of its own.
  var sharesTemplate = true
  /// The request for any of the files, without the file itself.
  var template = UploadRequest(file: "", destination: .multipart(anyTarget))

  /// - Parameters:
  ///   - recordID: the ID of the upload to resume; nil for a new one.
  ///   - note: the options to keep in its record; nil for those given.
  ///   - isWatching: whether the files are those of directories, which another process gets one by one.
  init(
    options: [GivenOption], files: Operands, recordID: String? = nil, note: String? = nil, isWatching: Bool = false
  ) throws(UsageError) {
    isRecursive = isWatching
    self.isWatching = isWatching
    self.options = options
    givenNote = note
    self.files = files
    template.upload = recordID
    for given in options { try apply(given) }
    if common.wantsHelp { return }
    guard [server, multipartURL, tusURL].filter({ $0 != nil }).count + putOptions.count == 1 else {
      throw UsageError(SendArguments.destinations)
    }
    if let given = putOptions.first { try take(object: given) }
    for given in options where given.place == nil && [.s3Endpoint, .s3Region, .overwrite].contains(given.option) {
      let replaces = given.option == .overwrite
      if putOptions.first?.option == .s3 || replaces && object.map({ !$0.isUpload }) ?? false { continue }
      throw UsageError(given.label + (replaces ? " needs --s3, --webdav or --put-url." : " needs --s3."))
    }
    guard tusURL == nil || template.uploadProtocol != .multipart,
      multipartURL == nil || template.uploadProtocol != .tus
    else { throw UsageError("--protocol conflicts with the destination.") }
    if tusURL != nil { for given in options where given.option == .field { _ = try given.metadata() } }
    try common.validate()
    guard list == nil || (files.isEmpty && !isRecursive) else {
      throw UsageError("--from cannot be combined with file arguments or --recursive.")
    }
    guard !files.isEmpty || list != nil else { throw UsageError("give at least one file.") }
    guard !files.contains(where: { $0.bytes.isEmpty }) else { throw UsageError("\"\" is not a file name.") }
    if !isLive, !isWatching,
      let given = options.last(where: { $0.place == nil && $0.option.has(.live) })
    {
      throw UsageError(given.label + " needs --live.")
    }
    selection = try fileSelection()
    if let given = options.last(where: { $0.option == .fileName }), try given.template()?.constant != nil,
      hasSeveral
    {
      throw UsageError("--file-name needs exactly one file, or a name with {name} or {stem}.")
    }
    if server == nil { template.destination = tusURL.map { .tus($0) } ?? .multipart(multipartURL ?? anyTarget) }
    try prepareTemplate()
  }

  /// Whether recordings are sent while they are made.
  var isLive: Bool { live != nil }
  var live: LiveSending? { template.live }

  /// Whether the server may take recordings in parts.
  var joinsParts: Bool { object.map { (try? $0.sample)?.joinsParts ?? false } ?? template.joinsParts }

  /// How long a recording has not changed when it has ended, unless another time is given.
  static let settleMilliseconds: Int64 = 30_000

  /// For messages.
  static let destinations =
    """
    give one destination: --server URL, --tus-url URL, --upload-url URL, --upload-url-file FILE, --put-url URL, \
    --put-url-file FILE, --s3 URL, --webdav URL or --multipart-url URL.
    """

  private mutating func take(object given: GivenOption) throws(UsageError) {
    let object = try ObjectURL(given, options, allowsShared: common.allowsSharedSecrets)
    guard template.uploadProtocol == .automatic else { throw UsageError("--protocol conflicts with the destination.") }
    let fields: [Option] = [.field, .fileField, .fileName]
    if let other = options.first(where: { $0.place == nil && fields.contains($0.option) }) {
      throw UsageError(
        other.label
          + (object.isUpload
            ? ": the file was described when the upload was created." : " works only with forms and tus."))
    }
    let isTemplate = try object.isTemplate
    guard !hasSeveral || isTemplate else {
      if object.isUpload { throw UsageError(given.label + ": an upload is for one file.") }
      throw UsageError(given.label + ": several files need a URL that ends with a slash, or has {name} or {stem}.")
    }
    self.object = object
  }

  /// The same for one directory only.
  /// - Parameters:
  ///   - existing: the files that are left out; nil for none.
  ///   - settleMilliseconds: how long a file must not have changed; nil if it is sent as it is.
  func limited(to directory: LocalPath, existing: ExistingList?, settleMilliseconds: Int64?) -> SendArguments {
    var limited = self
    limited.settleMilliseconds = settleMilliseconds
    limited.files = Operands([directory])
    limited.existing = existing
    return limited
  }

  /// Where all files go.
  var target: TargetURI { server ?? template.base }

  /// The same for people, without its query.
  var shownTarget: String { object?.shown ?? PrintableText.withoutSecrets(target.text) }

  var isForGigHive: Bool { server != nil }

  /// The ID of the upload to resume; nil for new ones.
  var recordID: String? { template.upload }

  /// Whether a record is required: without one, a tus upload cannot be resumed, and no file be removed.
  var needsState: Bool { template.requiresTus || template.isForWebDAV || template.afterDelivery.removal != nil }

  /// Whether it can be more than one file.
  var hasSeveral: Bool { files.count > 1 || isRecursive || list != nil }

  var mostConnections: Int {
    let joins = template.isForS3 || template.isForWebDAV
    return common.configuration.connections.number ?? (joins ? common.configuration.connections.most : 1)
  }

  /// The number of files at a time, which is no larger than that of the files.
  var usefulJobs: Int { isRecursive || list != nil ? jobs : min(jobs, files.count) }

  private func fileSelection() throws(UsageError) -> FileSelection {
    // A configuration file also serves commands without directories.
    let isForDirectories: (Option) -> Bool = { [.match, .exclude, .minSize].contains($0) }
    if !isRecursive, let given = options.first(where: { $0.place == nil && isForDirectories($0.option) }) {
      throw UsageError("--" + given.option.name + " needs --recursive.")
    }
    var delivered: LocalPath?
    if case .move(let target)? = template.afterDelivery.removal { delivered = target }
    return FileSelection(
      patterns: try globs(patterns), exclusions: try globs(exclusions), selectsRecordings: server != nil,
      delivered: delivered)
  }

  private func globs(_ patterns: [GivenOption]) throws(UsageError) -> [Glob] {
    guard patterns.count <= Limits.patternCount else {
      throw UsageError(
        patterns[0].label + ": there are more than " + String(Limits.patternCount) + " patterns.")
    }
    var globs: [Glob] = []
    for given in patterns { globs.append(try given.pattern()) }
    return globs
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
    case .putURL, .putURLFile, .s3, .webDAV, .uploadURL, .uploadURLFile: putOptions.append(given)
    case .dayStarts:
      guard let minutes = LocalTime.minutes(given.text) else { throw given.invalid("a time from 00:00 to 23:59") }
      dayStart = minutes
    case .fileField: template.fileFieldName = given.text
    case .mime: template.mediaType = given.text
    case .jobs: givenJobs = Int(try given.count(AllowedRanges.jobs))
    case .maxSize: template.maximumSize = try given.size(AllowedRanges.fileSize)
    case .maxMemory: memoryCeiling = try given.size()
    case .digest: template.computesDigest = true
    case .recursive: isRecursive = true
    case .live:
      let settle = try options.last { $0.option == .settle }?.duration() ?? SendArguments.settleMilliseconds
      var live = LiveSending(settleMilliseconds: settle)
      if let lag = options.last(where: { $0.option == .liveLag }) { live.lag = try lag.size(AllowedRanges.fileSize) }
      if let given = options.last(where: { $0.option == .liveDeleted }) {
        live.isCancelledByRemoval = try given.choice([false, true])
      }
      template.live = live
    case .dryRun: isDryRun = true
    case .from: list = given.argument
    case .match: patterns.append(given)
    case .exclude: exclusions.append(given)
    case .minSize: minimumSize = try given.size(AllowedRanges.fileSize)
    case .again: template.sendsAgain = true
    case .after: template.afterDelivery.removal = try given.removal()
    case .trustServer: template.afterDelivery.trustsServer = true
    case .trustSettle: template.afterDelivery.trustsSettle = true
    case .progress: progress = try given.progressStyle()
    case .protocolChoice: template.uploadProtocol = try given.uploadProtocol()
    case .threshold: template.tusThreshold = try given.size(AllowedRanges.fileSize)
    case .chunkSize: template.chunkLength = try given.size(AllowedRanges.chunkLength)
    case .methodOverride: template.overridesMethod = true
    case .deferLength: template.defersLength = true
    // `RecordingOptions` reads what describes a recording, `WatchArguments` and `WatchOutputs` what the watcher does.
    default: break
    }
  }
}

/// A placeholder until the destination is known.
private let anyTarget = TargetURI(scheme: .http, host: "localhost", zone: nil, port: 80, requestTarget: "/")

extension Limits {
  /// How many uploads there are at a time if recordings are sent while they are made.
  static let growingJobs = 3
}
