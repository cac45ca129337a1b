import Uploader

/// The command line of `send`, understood and checked.
struct SendArguments {
  enum ProgressStyle { case automatic, bar, plain, none }

  private(set) var files: [FilePath] = []
  private(set) var configuration = Configuration()
  private(set) var credentials = CredentialSources()
  private(set) var progress = ProgressStyle.automatic
  /// The most address space that the process may take, in bytes.
  private(set) var memoryCeiling: Int64?
  private(set) var isJSON = false
  private(set) var isQuiet = false
  private(set) var isVerbose = false
  private(set) var wantsHelp = false

  private var server: TargetURI?
  private var multipartURL: TargetURI?
  private var form = EventForm()
  private var extraFields: [FormField] = []
  private var fileFieldName = "file"
  private var fileName: String?
  private var mediaType: String?
  private var maximumSize: Int64?
  private var computesDigest = false

  init(options: [GivenOption], files: [FilePath]) throws(UsageError) {
    self.files = files
    for given in options { try apply(given) }
    if wantsHelp { return }
    guard (server == nil) != (multipartURL == nil) else {
      throw UsageError("give one destination: --server URL or --multipart-url URL.")
    }
    if configuration.tls.keyFile != nil, configuration.tls.certificateFile == nil {
      throw UsageError("--key needs --cert.")
    }
    guard !files.isEmpty else { throw UsageError("give at least one file.") }
    guard fileName == nil || files.count == 1 else { throw UsageError("--file-name goes with one file only.") }
    guard server != nil else { return }
    do throws(EventFormError) { try form.validate() } catch { throw UsageError(error.message) }
    // Once for all files, so that a night's recordings are of one event.
    form = form.completed(today: EventForm.today())
  }

  /// Where all files go.
  var target: TargetURI {
    guard let target = server ?? multipartURL else { preconditionFailure("checked by init") }
    return target
  }

  /// The request for one of the files.
  func request(for file: FilePath) -> UploadRequest {
    let destination: Destination = multipartURL.map { .multipart($0) } ?? .gigHive(target, form)
    var request = UploadRequest(file: file, destination: destination)
    // Another endpoint gets the fields that were given, and no defaults.
    request.extraFields = (multipartURL == nil ? [] : form.fields) + extraFields
    request.fileFieldName = fileFieldName
    request.fileName = fileName
    request.mediaType = mediaType
    request.maximumSize = maximumSize
    request.computesDigest = computesDigest
    return request
  }

  // MARK: Options

  private mutating func apply(_ given: GivenOption) throws(UsageError) {
    switch given.option {
    case .server: server = try uri(given)
    case .multipartURL: multipartURL = try uri(given)
    case .eventDate, .orgName, .eventType, .label, .participants, .keywords, .location, .rating, .notes:
      applyToForm(given)
    case .field: extraFields.append(try field(given.text))
    case .fileField: fileFieldName = given.text
    case .fileName: fileName = given.text
    case .mime: mediaType = given.text
    case .user, .passwordFile, .netrc, .netrcFile, .bearerFile, .uploadTokenFile: try applyToCredentials(given)
    case .cacert, .capath, .cert, .key, .pin, .insecure: try applyToTLS(given)
    case .connectTimeout: configuration.timeouts.connectMilliseconds = try duration(given)
    case .stallTimeout: configuration.timeouts.stallMilliseconds = try duration(given)
    case .responseTimeout: configuration.timeouts.responseMilliseconds = try duration(given)
    case .maxSize: maximumSize = try size(given)
    case .maxMemory: memoryCeiling = try size(given)
    case .digest: computesDigest = true
    case .ipv4: configuration.addressFamily = .ipv4
    case .ipv6: configuration.addressFamily = .ipv6
    case .progress: progress = try progressStyle(given)
    case .json: isJSON = true
    case .quiet: isQuiet = true
    case .verbose: isVerbose = true
    case .help: wantsHelp = true
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

  private mutating func applyToCredentials(_ given: GivenOption) throws(UsageError) {
    switch given.option {
    case .user: credentials.user = given.text
    case .passwordFile: credentials.passwordFile = given.argument
    case .netrc:
      guard let home = environment("HOME") else { throw UsageError("--netrc needs $HOME; use --netrc-file FILE.") }
      credentials.netrcFile = FilePath(home + "/.netrc")
    case .netrcFile: credentials.netrcFile = given.argument
    case .bearerFile: credentials.bearerFile = given.argument
    case .uploadTokenFile: credentials.uploadTokenFile = given.argument
    default: preconditionFailure("not an option of the credentials")
    }
  }

  private mutating func applyToTLS(_ given: GivenOption) throws(UsageError) {
    switch given.option {
    case .cacert: configuration.tls.trustedCertificatesFile = given.argument
    case .capath: configuration.tls.trustedCertificatesDirectory = given.argument
    case .cert: configuration.tls.certificateFile = given.argument
    case .key: configuration.tls.keyFile = given.argument
    case .pin:
      guard TLSOptions.isPin(given.text) else {
        throw invalid(given, "a pin, which is sha256// and the base 64 of the SHA-256 of the server's key")
      }
      configuration.tls.pins.append(given.text)
    case .insecure: configuration.tls.isInsecure = true
    default: preconditionFailure("not an option of TLS")
    }
  }

  // MARK: Values

  private func uri(_ given: GivenOption) throws(UsageError) -> TargetURI {
    do throws(TargetURIError) { return try TargetURI(given.text) } catch {
      throw UsageError("--" + OptionTable.name(of: given.option) + ": " + SendArguments.text(of: error))
    }
  }

  private static func text(of error: TargetURIError) -> String {
    switch error {
    case .tooLong(let limit): "the URL is longer than " + String(limit) + " bytes."
    case .unsupportedScheme: "the URL must begin with https:// or http://."
    case .missingHost: "the URL has no host."
    case .invalidHost: "the URL's host is not valid."
    case .invalidPort: "the URL's port is not a number from 1 to 65535."
    case .containsUserInformation: "a URL must not hold a user name or password; use --user and --password-file."
    case .invalidCharacter: "the URL has a character that must be percent-encoded."
    }
  }

  private func field(_ text: String) throws(UsageError) -> FormField {
    let bytes = Array(text.utf8)
    guard let equals = bytes.firstIndex(of: UInt8(ascii: "=")), equals > 0 else {
      throw UsageError("--field: write NAME=VALUE.")
    }
    return FormField(
      String(decoding: bytes[..<equals], as: UTF8.self), String(decoding: bytes[(equals + 1)...], as: UTF8.self))
  }

  private func size(_ given: GivenOption) throws(UsageError) -> Int64 {
    guard let size = Quantity.size(given.text) else {
      throw invalid(given, "a size, such as 500M, 6Gi or 1000000")
    }
    return size
  }

  private func duration(_ given: GivenOption) throws(UsageError) -> Int64 {
    guard let duration = Quantity.duration(given.text) else {
      throw invalid(given, "a duration above zero, such as 500ms, 30s or 2m")
    }
    return duration
  }

  private func progressStyle(_ given: GivenOption) throws(UsageError) -> ProgressStyle {
    switch given.text {
    case "auto": return .automatic
    case "bar": return .bar
    case "plain": return .plain
    case "none": return .none
    default: throw invalid(given, "auto, bar, plain or none")
    }
  }

  private func invalid(_ given: GivenOption, _ expected: String) -> UsageError {
    UsageError(
      "--" + OptionTable.name(of: given.option) + ": \"" + PrintableText.line(given.text) + "\" is not " + expected
        + ".")
  }
}
