import CShims
import Uploader

/// Directories with the same options, and so with the same destination: one group of `watch`. A class, because copies of something so
/// large take much code.
final class WatchArguments {
  enum Existing { case upload, skip }

  /// Absolute.
  let directories: [LocalPath]
  /// These options as parsed for `send`.
  let sending: SendArguments
  let settings: WatchMachine.Settings
  let existing: Existing
  /// Whether only what is finished now is sent.
  let isOnce: Bool
  /// The network interface without which nothing is sent; nil for any.
  let interface: String?
  /// The state directory. Absolute.
  let statePath: LocalPath
  /// The arguments of the worker, beginning with the name of the program.
  let workerArguments: [[UInt8]]
  /// How much is to be free on the file system of each directory, in bytes; nil for any.
  let keepFree: Int64?
  /// The arguments of the process that frees space, without the directory.
  let cleanerArguments: [[UInt8]]
  /// Files whose change may end a pause.
  let credentialFiles: [LocalPath]

  /// The groups of a command line: its directories, or else those of the configuration.
  static func groups(_ given: [GivenOption], _ operands: Operands) throws(UsageError) -> [WatchArguments] {
    if !operands.isEmpty {
      let options = try ConfiguredOptions.options(with: given, for: .watch)
      return [try WatchArguments(Array(operands), options)]
    }
    let directories = try ConfiguredOptions.watchedDirectories(with: given)
    guard !directories.isEmpty else {
      throw UsageError("give at least one directory, or a [watch DIR] section in the configuration.")
    }
    guard directories.count <= Limits.watchGroupCount else {
      throw UsageError("there are more than " + String(Limits.watchGroupCount) + " [watch DIR] sections.")
    }
    var groups: [WatchArguments] = []
    for directory in directories {
      let options = try ConfiguredOptions.options(with: given, for: .watch, watching: directory)
      groups.append(try WatchArguments([directory], options))
    }
    guard groups.allSatisfy({ $0.statePath == groups[0].statePath }) else {
      throw UsageError("state-dir must be the same for all watched directories.")
    }
    return groups
  }

  private init(_ directories: [LocalPath], _ options: [GivenOption]) throws(UsageError) {
    var paths: [LocalPath] = []
    for directory in directories {
      guard let path = directory.absolute, !directory.bytes.isEmpty, path.cString != nil else {
        throw UsageError("\"" + PrintableText.line(directory.text) + "\" is not a directory name.")
      }
      let trimmed = path.withoutFinalSlashes
      if !paths.contains(trimmed) { paths.append(trimmed) }
    }
    self.directories = paths
    var settings = WatchMachine.Settings(settleMilliseconds: SendArguments.settleMilliseconds)
    var existing = Existing.upload
    var interface: String?
    var keepFree: Int64?
    for given in options {
      switch given.option {
      case .settle: settings.settleMilliseconds = try given.duration()
      case .existing: existing = try given.choice([.upload, .skip])
      case .order:
        settings.order = try given.choice([.oldest, .newest, .smallest, .name])
      case .interface:
        guard !given.text.isEmpty, given.text.utf8.count <= Limits.zoneLength else {
          throw given.invalid("the name of a network interface, such as wlan0")
        }
        interface = given.text
      case .keepFree: keepFree = try given.size()
      default: break
      }
    }
    for given in options where given.option.has(.secret) && !given.argument.bytes.isEmpty {
      try SecretFile.requireRegular(given.argument)
    }
    sending = try SendArguments(options: options, files: Operands(paths), isWatching: true)
    isOnce = options.has(.once)
    guard !sending.common.isJSON || sending.isDryRun || isOnce else {
      throw UsageError("watch supports --json only with --once or --dry-run.")
    }
    let files = options.filter {
      $0.option.isPath && $0.option != .netrc && ($0.option.has(.secret) || $0.option.isBoundToDestination)
    }
    credentialFiles = files.map { $0.argument } + [sending.common.credentials.netrcFile?.path].compactMap { $0 }
    settings.jobs = sending.jobs
    settings.live = sending.joinsParts ? sending.live : nil
    guard !sending.isLive || !isOnce else {
      throw UsageError("--once sends what is finished now. It cannot be combined with --live.")
    }
    settings.restartCommand = CredentialStore.restartCommand(for: credentialFiles)
    self.settings = settings
    self.existing = existing
    self.interface = interface
    self.keepFree = keepFree
    guard let state = sending.common.statePath?.absolute else {
      throw UsageError("there is no home directory to keep upload records in; use --state-dir DIR.")
    }
    statePath = state
    workerArguments = WatchArguments.worker(.send, options, sending, state)
    cleanerArguments = WatchArguments.worker(.clean, options, sending, state)
  }

  /// The names of those options that are others than these, beside `state-dir`.
  func optionsThatNeedRestart(since started: WatchArguments) -> [String] {
    func value(_ option: Option, _ arguments: WatchArguments) -> [UInt8]? {
      arguments.sending.options.last { $0.option == option }?.argument.bytes
    }
    return Option.allCases.filter { $0.has(.wholeWatcher) && value($0, self) != value($0, started) }.map { $0.name }
  }

  /// Whether both do the same. Options of the whole watcher need a restart.
  func isSame(as other: WatchArguments) -> Bool { directories == other.directories && identity == other.identity }

  /// The options of which each change matters.
  var identity: [UInt8] {
    var identity: [UInt8] = []
    for argument in workerArguments { identity += argument + [0] }
    for given in sending.options where !given.option.has(.wholeWatcher) {
      identity += Array(given.option.name.utf8) + [UInt8(ascii: "=")] + given.argument.bytes + [0]
    }
    return identity
  }

  // MARK: The workers

  /// `send --from -` or `clean` with the options of the group. Secrets are in files, whose names are passed on, or in the environment.
  private static func worker(
    _ command: Command, _ options: [GivenOption], _ sending: SendArguments, _ state: LocalPath
  ) -> [[UInt8]] {
    let own = command == .send ? ["--from=-", "--json-progress=5s", "--retry=1m"] : []
    var words = (["gighive-upload", command.rawValue, "--json", "--config=", "--ask-watcher"] + own).map {
      Array($0.utf8)
    }
    words.append(Array("--state-dir=".utf8) + state.bytes)
    // A program that is linked dynamically needs more for its libraries alone.
    let ceiling = Limits.workerMemory(jobs: sending.jobs, connections: sending.mostConnections)
    if sending.memoryCeiling == nil, shim_address_space() < ceiling {
      words.append(Array(("--max-memory=" + String(ceiling)).utf8))
    }
    for given in options where command.takes(given.option) && given.option.has(.passedOn) {
      if given.option.has(.live), !sending.isLive { continue }
      if given.option.has(.fileOnly) {
        let value = given.option.takesArgument ? given.argument.bytes : Array("yes".utf8)
        words.append(Array(("--set=" + given.option.name + "=").utf8) + value)
      } else {
        words.append(Array("--".utf8) + given.words)
      }
    }
    return words
  }
}

extension Limits {
  /// Groups of directories, each with a worker.
  static let watchGroupCount = 16
  /// The memory ceiling of a worker, in bytes: what an upload needs, 1 MiB for all those that wait for their recordings, and more for each
  /// of several jobs or connections.
  static func workerMemory(jobs: Int, connections: Int) -> Int64 {
    memoryNeeded + 1 << 20 + Int64(jobs - 1) * (256 << 10) + Int64(connections - 1) * connectionMemory
  }
}
