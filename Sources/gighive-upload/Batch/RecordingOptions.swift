import CShims
import Uploader

/// What the options say about one recording: the form, and what a server is told about the file.
struct RecordingOptions {
  var form = EventForm()
  private(set) var fields: [FormField] = []
  private(set) var fileName: [UInt8]?

  /// - Parameters:
  ///   - options: templates among them are the same for all files. Options about anything else are ignored.
  ///   - isForGigHive: whether fields of its form are among the others.
  init(_ options: [GivenOption], isForGigHive: Bool) throws(UsageError) {
    for given in options { try apply(try given.literal(), isForGigHive) }
  }

  private mutating func apply(_ given: GivenOption, _ isForGigHive: Bool) throws(UsageError) {
    switch given.option {
    case .eventDate: form.eventDate = given.text
    case .orgName: form.orgName = given.text
    case .eventType: form.eventType = given.text
    case .label: form.label = given.text
    case .field: add(try given.field(), isForGigHive)
    case .fileName: fileName = given.argument.bytes
    default: break
    }
  }

  private mutating func add(_ field: FormField, _ isForGigHive: Bool) {
    let text = String(decoding: field.bytes, as: UTF8.self)
    switch isForGigHive ? field.name : "" {
    case "participants": form.participants = text
    case "keywords": form.keywords = text
    case "location": form.location = text
    case "rating": form.rating = text
    case "notes": form.notes = text
    default: fields.append(field)
    }
  }
}

/// The options that a sidecar or a list may contain: what describes the recording, but never where it goes.
enum DescriptiveOptions {
  /// - Parameter place: for messages, such as "FILE:12: ".
  static func option(_ name: [UInt8], _ place: String) throws(UsageError) -> Option {
    if let option = Option(named: name) {
      if option.has(.sidecar) { return option }
      throw UsageError(
        place + PrintableText.line(String(decoding: name, as: UTF8.self))
          + " is not allowed here, only options that describe the recording.")
    }
    let names = Option.allCases.filter { $0.has(.sidecar) }.map { $0.name }
    throw UsageError(
      place + "unknown option \"" + PrintableText.line(String(decoding: name, as: UTF8.self)) + "\"."
        + Suggestion.question(about: name, among: names))
  }
}

/// The request for each file.
extension SendArguments {
  /// Checks what is said about all recordings, before anything is sent, and prepares the request that most of them share.
  mutating func prepareTemplate() throws(UsageError) {
    now = shim_unix_seconds()
    for given in options {
      if let template = try given.template(), template.constant == nil { sharesTemplate = false }
    }
    let day = EventDay(of: options)
    // Named files get today's date, unless another one is given. Other files each have their own.
    let mayLackDay = isRecursive || list != nil || day == .modified
    var date: String?
    do throws(UsageError) {
      date = try (day ?? .today).date(now: now, modified: nil, dayStart: dayStart)
    } catch {
      if needsDate, !mayLackDay { throw error }
      sharesTemplate = false
    }
    // No value is empty.
    let sample = TemplateValues(
      path: "/dir/name", modified: LocalTime(unixSeconds: now), host: Array("host".utf8))
    var expanded: [GivenOption] = []
    for given in options { expanded.append(try given.expanded(sample)) }
    if let object, try object.isTemplate { sharesTemplate = false }
    // The label may come from the recording's own file. Without one, its request fails later.
    if isForGigHive, !options.contains(where: { $0.option == .label }), mayHaveSidecars {
      expanded.append(GivenOption(option: .label, argument: "-"))
      sharesTemplate = false
    }
    try fill(
      &template, expanded, object: try object?.destination(for: sample), date: date ?? "2000-01-01",
      isDefault: !(day?.isGiven ?? false))
  }

  /// Whether a date is sent: always to GigHive, to other servers only if one was given.
  private var needsDate: Bool { isForGigHive || EventDay(of: options) != nil }

  private var mayHaveSidecars: Bool {
    recordID == nil && (isRecursive || list != nil || files.contains { Sidecar(of: $0).exists })
  }

  /// The request for one of the files.
  /// - Parameter mayHaveSidecar: whether to look for a file beside it.
  func request(for file: BatchFile, mayHaveSidecar: Bool = true) throws(UnsendableFile) -> UploadRequest {
    var request = template
    request.file = file.path
    request.foundBelow = file.foundBelow
    // A watcher and its worker can run for months.
    let isOfWatcher = file.isFound && (isWatching || list != nil)
    request.needsRecord = isOfWatcher
    request.judged = file.judged
    request.defersComparison = !file.isCompared
    let sidecar = recordID == nil && mayHaveSidecar ? try Sidecar(of: file.path, below: file.foundBelow).content() : nil
    request.sidecar = sidecar?.seen
    let own = ConfiguredOptions.merged(sidecar?.options ?? [], file.options)
    let given = own.isEmpty ? options : ConfiguredOptions.merged(options, own)
    let day = EventDay(of: given) ?? (file.isFound ? .modified : .today)
    let hasOwnDay = day == .modified || day == .today && isOfWatcher
    if own.isEmpty, sharesTemplate, !hasOwnDay || !needsDate { return request }
    let seen: FileSighting
    do throws(FileError) { seen = try SendArguments.sighting(of: file.path) } catch {
      // Its record has the values.
      if recordID != nil { return request }
      // A moment later it may be there, and would be sent without them.
      throw .absent(file.path, error)
    }
    request.lastSeen = seen
    do throws(UsageError) {
      let modified = seen.identity.modifiedSeconds
      let path =
        file.path.directoryName == nil
        ? LocalPath(bytes: SendArguments.workingDirectory + file.path.bytes) : file.path
      let values = TemplateValues(
        path: path, below: file.foundBelow, modified: LocalTime(unixSeconds: modified), modifiedSeconds: modified,
        host: SendArguments.hostName)
      var expanded: [GivenOption] = []
      for option in given { expanded.append(try option.expanded(values)) }
      let hasDate = isForGigHive || EventDay(of: given) != nil
      let now = isOfWatcher ? shim_unix_seconds() : now
      let date =
        hasDate ? try day.date(now: now, modified: modified, isFound: file.isFound, dayStart: dayStart) : nil
      try fill(
        &request, expanded, object: try object?.destination(for: values), date: date, isDefault: !day.isGiven)
    } catch { throw UnsendableFile(file.path, error) }
    return request
  }

  /// Describes the recording in a request.
  /// - Parameters:
  ///   - expanded: all options, with templates that are constant.
  ///   - object: where it goes as an object; nil for other destinations.
  ///   - date: of the event, for GigHive, or if it was asked for.
  ///   - isDefault: whether that date is a default.
  private func fill(
    _ request: inout UploadRequest, _ expanded: [GivenOption], object: Destination?, date: String?, isDefault: Bool
  ) throws(UsageError) {
    var recording = try RecordingOptions(expanded, isForGigHive: isForGigHive)
    let asksForDate = !recording.form.eventDate.isEmpty
    if isForGigHive || asksForDate { recording.form.eventDate = date ?? "" }
    if let server {
      do throws(EventFormError) { try recording.form.validate() } catch { throw UsageError(error.explanation) }
      request.hasDefaultEventDate = isDefault
      request.destination = .gigHive(server, recording.form.completed(today: date ?? ""))
    }
    if let object { request.destination = object }
    // Other endpoints get only the fields that were given, without defaults.
    let isForTus = tusURL != nil
    request.extraFields = (isForGigHive ? [] : recording.form.fields) + (isForTus ? [] : recording.fields)
    request.extraMetadata = isForTus ? recording.fields : []
    request.fileNameBytes = recording.fileName
    let hasDate = !recording.form.eventDate.isEmpty
    request.note =
      givenNote
      ?? StoredOptions.text(
        of: expanded.filter { $0.option != .eventDate }, eventDate: hasDate ? recording.form.eventDate : nil)
  }

  private static func sighting(of file: LocalPath) throws(FileError) -> FileSighting {
    do throws(SystemError) { return FileSighting(try file.status.get()) } catch { throw FileError(absence: error) }
  }

  /// With a slash at its end; empty if there is none.
  private static let workingDirectory = LocalPath(bytes: []).absolute?.bytes ?? []

  private static let hostName: [UInt8] = {
    var name = [CChar](repeating: 0, count: Limits.hostNameLength + 1)
    guard shim_host_name(&name, name.count) == 0 else { return [] }
    return LocalPath(cString: name).bytes
  }()
}

extension Option {
  /// Whether its argument is the URL that a file gets.
  fileprivate var isObjectURL: Bool { self == .putURL || self == .webDAV }
}

/// Options whose arguments can be templates, such as `--label '{stem}'`.
extension GivenOption {
  /// The argument's part that is a template, parsed; nil if the option takes none.
  func template() throws(UsageError) -> Template? {
    guard option.has(.template) else { return nil }
    var text = Array(argument.bytes[templateStart...])
    if option == .s3 {
      ObjectURL.completeKey(&text)
    } else if option.isObjectURL {
      ObjectURL.completeName(&text)
    }
    do throws(TemplateError) { return try Template(parsing: text) } catch {
      throw UsageError(label + ": " + GivenOption.text(of: error))
    }
  }

  /// The same option for one file, still as a template.
  func expanded(_ values: TemplateValues) throws(UsageError) -> GivenOption {
    guard let template = try template(), template.constant == nil else { return self }
    var bytes = template.expanded(values, isInURL: option.isObjectURL)
    // A form is text. The name of a file keeps its bytes.
    if option != .fileName { bytes = Array(String(decoding: bytes, as: UTF8.self).utf8) }
    return replacingTemplate(with: Template.escaped(bytes))
  }

  /// The same option with the text that its constant template stands for.
  func literal() throws(UsageError) -> GivenOption {
    guard let text = try template()?.constant else { return self }
    return replacingTemplate(with: text)
  }

  /// Behind NAME= of a field.
  private var templateStart: Int {
    guard option == .field else { return 0 }
    return argument.bytes.firstIndex(of: UInt8(ascii: "=")).map { $0 + 1 } ?? argument.bytes.count
  }

  private func replacingTemplate(with bytes: [UInt8]) -> GivenOption {
    GivenOption(
      option: option, argument: LocalPath(bytes: argument.bytes[..<templateStart] + bytes), place: place, isOn: isOn)
  }

  private static func text(of error: TemplateError) -> String {
    let names = Template.names.map { "{" + $0 + "}" }.joined(separator: ", ")
    switch error {
    case .unknownName(let name):
      return "unknown placeholder {" + PrintableText.line(String(decoding: name, as: UTF8.self)) + "}; use " + names
        + ". For a literal brace, write {{ or }}."
    case .strayBrace(let byte):
      let brace = byte == UInt8(ascii: "{") ? "{" : "}"
      return "\"" + brace + "\" is not part of a placeholder (" + names + "). For a literal brace, write " + brace
        + brace + "."
    }
  }
}

extension Limits {
  /// The name of this machine, in bytes (HOST_NAME_MAX of Linux).
  static let hostNameLength = 64
}
