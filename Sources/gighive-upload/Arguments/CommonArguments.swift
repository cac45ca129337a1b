import CShims
import Uploader

/// The options that several commands share.
struct CommonArguments {
  private(set) var configuration = Configuration()
  private(set) var credentials = CredentialSources()
  private(set) var proxy = ProxySources()
  private(set) var isJSON = false
  private var givenJSONProgress: JSONProgressInterval?
  private(set) var color = ColorChoice.automatic
  private(set) var isQuiet = false
  private(set) var isVerbose = false
  private(set) var wantsHelp = false
  /// Whether a watcher has started this process.
  private(set) var asksWatcher = false
  private var configurationFile: LocalPath?
  private var stateDirectory: LocalPath?
  /// Where a configuration file gives it, such as "FILE:12: "; nil if none does.
  private(set) var statePlace: String?

  init() {}

  /// Applies the common options, and ignores others.
  init(_ options: [GivenOption]) throws(UsageError) {
    for given in options where given.isOn { _ = try apply(given) }
    try validateOutput()
  }

  /// How often progress is reported with --json.
  var jsonProgress: JSONProgressInterval { givenJSONProgress ?? .every(milliseconds: 1000) }

  /// Checks the options against each other.
  func validate() throws(UsageError) {
    try validateOutput()
    if configuration.tls.keyFile != nil, configuration.tls.certificateFile == nil {
      throw UsageError("--key needs --cert.")
    }
  }

  private func validateOutput() throws(UsageError) {
    if givenJSONProgress != nil, !isJSON { throw UsageError("--json-progress needs --json.") }
  }

  /// The state directory: from --state-dir, systemd, $XDG_STATE_HOME, the system's directory for root, or the home directory; nil
  /// if there is none.
  var statePath: LocalPath? {
    if let chosen = stateDirectory ?? systemdStateDirectory { return chosen }
    if let home = environmentPath("XDG_STATE_HOME"), home.bytes.first == ASCII.slash {
      return home.appending("/gighive-upload")
    }
    if StateOwner.beganAsRoot { return "/var/lib/gighive-upload" }
    return environmentPath("HOME")?.appending("/.local/state/gighive-upload")
  }

  /// The first of the directories that systemd made for a service (StateDirectory=).
  private var systemdStateDirectory: LocalPath? {
    guard let first = environmentPath("STATE_DIRECTORY")?.bytes.prefix(while: { $0 != ASCII.colon }),
      first.first == ASCII.slash
    else { return nil }
    return LocalPath(bytes: Array(first))
  }

  /// Whether files with secrets are accepted that other users can read.
  var allowsSharedSecrets: Bool { credentials.allowsShared }

  /// The --state-dir option to add to a suggested command; empty if none was given.
  var stateHint: String {
    guard let stateDirectory = stateDirectory ?? systemdStateDirectory else { return "" }
    let text = PrintableText.line(stateDirectory.text)
    let isPlain = text.utf8.allSatisfy { ASCII.isLetter($0) || ASCII.isDigit($0) || "/._-".utf8.contains($0) }
    // Shells that support $'…' restore the bytes from it.
    if !stateDirectory.isUTF8 { return " --state-dir $'" + text + "'" }
    return " --state-dir " + (isPlain ? text : "'" + text.split(separator: "'").joined(separator: "'\\''") + "'")
  }

  /// The configuration for the server of a recording, with its credentials. GigHive takes no forms from guests.
  func configuration(for request: UploadRequest, _ report: Report) throws(UsageError) -> Configuration {
    let configuration = try configuration(for: request.base, report)
    if request.isForGigHive, request.uploadProtocol == .multipart, configuration.credentials.areGuests {
      throw UsageError(
        "--protocol multipart cannot be used with a guest's upload token (--upload-token-file, or X-Upload-Token in"
          + " --header-file): GigHive takes guests' recordings only over tus.")
    }
    return configuration
  }

  /// The configuration for a server, with its credentials. RequestTrace and warnings go to `report`.
  /// - Parameter needsS3Keys: whether a request to an S3 server is certain to be signed.
  func configuration(
    for target: TargetURI, _ report: Report, needsS3Keys: Bool = true
  ) throws(UsageError) -> Configuration {
    var configuration = configuration
    var credentials = credentials
    credentials.needsS3Keys = needsS3Keys
    let host = target.host
    configuration.credentials = try credentials.load(host: host)
    if configuration.credentials.fields.isEmpty, environmentBytes("GIGHIVE_PASSWORD") != nil {
      report.warn("ignoring $GIGHIVE_PASSWORD, because --user is missing.")
    }
    var fresh = credentials
    // An upload in progress must not block on a pipe.
    fresh.mayWait = false
    configuration.refreshCredentials = { [fresh] in try? fresh.load(host: host) }
    configuration.proxies = try proxy.load(allowsSharedSecrets: credentials.allowsShared)
    try credentials.complete(&configuration.proxies)
    configuration.stateDirectory = statePath
    configuration.allowsSharedSecrets = credentials.allowsShared
    // The program uploads on its main thread.
    nonisolated(unsafe) let report = report
    if isVerbose { configuration.diagnostics = { report.diagnose($0) } }
    configuration.warnings = { report.warn($0) }
    nonisolated(unsafe) let sections = WatchedSections(
      of: configurationFile, givenState: statePlace == nil ? stateDirectory : nil, ownState: statePath,
      warn: { report.warn($0) })
    let asksWatcher = asksWatcher
    configuration.mayRemove = { asksWatcher ? WatcherQuestion.mayRemove($0, report) : sections.claim($0) }
    if configuration.tls.isInsecure { report.warn("--insecure: the server's certificate is not verified.") }
    if target.scheme == .http, MulticastDNSQuery.isAsked(for: host), !configuration.credentials.fields.isEmpty {
      report.warn(
        "the credentials for " + host
          + " are sent unencrypted, and any machine on this network can answer for that name. Use https.")
    }
    return configuration
  }

  /// Undoes removals of recordings that were interrupted.
  func recoverRemovals(_ report: Report) {
    if let path = statePath { StateDirectory.recoverRemovals(at: path, warn: { report.warn($0) }) }
  }

  /// Reserves what removals need on a full disk.
  /// - Parameter recordings: the directory with the recordings.
  func reserveForRemovals(in recordings: LocalPath) {
    if let path = statePath { StateDirectory.reserveForRemovals(at: path, in: recordings) }
  }

  /// - Returns: false if the option is not one of these.
  mutating func apply(_ given: GivenOption) throws(UsageError) -> Bool {
    switch given.option {
    case .limitRate: configuration.rateLimit = try given.rateSchedule()
    case .liveKeep: configuration.livePercent = try given.percent(AllowedRanges.liveShare)
    case .header: configuration.headers.append(try given.header())
    case .trustOrigin:
      let uri = try given.uri()
      guard uri.scheme == .https, uri.requestTarget == "/" else {
        throw given.invalid("the https URL of a host, such as https://uploads.example.com or https://host:8443")
      }
      configuration.trustedOrigins.append(uri.origin)
    case .proxy: proxy.url = given.text
    case .proxyUser: proxy.user = given.text
    case .proxyPasswordFile: proxy.passwordFile = SecretFile(given)
    case .retry: configuration.retryLimit = try given.retryLimit()
    case .retryMaxDelay: configuration.retryMaximumDelayMilliseconds = try given.duration()
    case .connections:
      configuration.connections = given.text == "auto" ? .automatic : .count(try given.count(AllowedRanges.connections))
    case .congestion:
      guard CongestionControl.isName(given.text) else {
        throw given.invalid("auto or the name of a congestion control algorithm")
      }
      configuration.congestionControl = given.text == "auto" ? .automatic : .named(given.text)
    case .ipv4: configuration.addressFamily = .ipv4
    case .ipv6: configuration.addressFamily = .ipv6
    case .stateDir:
      guard !given.argument.bytes.isEmpty else { throw UsageError(given.label + ": the name is empty.") }
      stateDirectory = given.argument
      statePlace = given.place
    case .json: isJSON = true
    case .jsonProgress: givenJSONProgress = try given.jsonProgress()
    case .color: color = try given.choice([.automatic, .always, .never])
    case .quiet: isQuiet = true
    case .verbose: isVerbose = true
    case .help: wantsHelp = true
    case .asksWatcher: asksWatcher = true
    case .config: configurationFile = given.argument
    default:
      if try applyToTimeouts(given) { return true }
      if try applyToCredentials(given) { return true }
      return try applyToTLS(given)
    }
    return true
  }

  private mutating func applyToTimeouts(_ given: GivenOption) throws(UsageError) -> Bool {
    switch given.option {
    case .connectTimeout:
      let limit = try given.duration()
      configuration.timeouts.resolveMilliseconds = limit
      configuration.timeouts.connectMilliseconds = limit
      configuration.timeouts.handshakeMilliseconds = limit
    case .stallTimeout: configuration.timeouts.stallMilliseconds = try given.duration()
    case .responseTimeout: configuration.timeouts.responseMilliseconds = try given.duration()
    case .maxTime: configuration.timeouts.totalMilliseconds = try given.duration()
    default: return false
    }
    return true
  }

  private mutating func applyToCredentials(_ given: GivenOption) throws(UsageError) -> Bool {
    switch given.option {
    case .user: credentials.user = given.text
    case .passwordFile: credentials.passwordFile = SecretFile(given)
    case .netrc where given.argument.bytes.isEmpty:
      guard let home = environmentPath("HOME") else { throw UsageError("--netrc needs $HOME; use --netrc=FILE.") }
      credentials.netrcFile = SecretFile(home.appending("/.netrc"))
    case .netrc: credentials.netrcFile = SecretFile(given)
    case .bearerFile: credentials.bearerFile = SecretFile(given)
    case .uploadTokenFile: credentials.uploadTokenFile = SecretFile(given)
    case .headerFile: credentials.headerFile = SecretFile(given)
    case .s3Credentials: credentials.s3File = SecretFile(given)
    case .s3Profile: credentials.s3Profile = given.text
    case .s3:
      credentials.isForS3 = true
      return false
    case .sharedSecrets: credentials.allowsShared = true
    default: return false
    }
    return true
  }

  private mutating func applyToTLS(_ given: GivenOption) throws(UsageError) -> Bool {
    switch given.option {
    case .cacert:
      let isDirectory = Batch.isDirectory(given.argument)
      configuration.tls.trustedCertificatesDirectory = isDirectory ? given.argument : nil
      configuration.tls.trustedCertificatesFile = isDirectory ? nil : given.argument
    case .cert: configuration.tls.certificateFile = given.argument
    case .key: configuration.tls.keyFile = given.argument
    case .pin:
      guard TLSOptions.isPin(given.text) else {
        throw given.invalid("a pin (sha256// followed by the Base64 of the SHA-256 of the server's key)")
      }
      configuration.tls.pins.append(given.text)
    case .insecure: configuration.tls.isInsecure = true
    default: return false
    }
    return true
  }
}
