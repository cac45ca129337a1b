import Uploader

/// The options of the configuration files and of the command line, in layers: the files' top parts, the chosen section of
/// each, that of the watched directory, and the command line. An option of a later layer replaces the same option of all earlier ones.
enum ConfiguredOptions {
  /// - Parameters:
  ///   - given: the options of the command line.
  ///   - directory: whose section `[watch DIR]` is used; nil for none.
  static func options(
    with given: [GivenOption], for command: Command, watching directory: LocalPath? = nil
  ) throws(UsageError) -> [GivenOption] {
    let section = given.last { $0.option == .to }?.text
    var tops: [[GivenOption]] = []
    var chosen: [[GivenOption]] = []
    var watched: [[GivenOption]] = []
    var sections: [String] = []
    for source in sources(given.last { $0.option == .config }?.argument) {
      guard let file = try source.load() else { continue }
      sections += file.sections.compactMap { $0.name }
      let layers = try Layers(file, source, section: section, watching: directory)
      tops.append(layers.top)
      chosen.append(layers.section)
      watched.append(layers.watched)
    }
    if let section, !sections.contains(section) { throw unknown(section, among: sections) }
    var options: [GivenOption] = []
    for layer in tops + chosen + watched { options = merged(options, layer) }
    options.removeAll { !$0.isOn || !command.takes($0.option) }
    // The other commands are about recorded uploads, which keep their destination, form and credentials.
    if ![.send, .watch, .doctor].contains(command) {
      options.removeAll { $0.option.isBoundToDestination || $0.option.isForm }
    }
    // What removes recordings asks the other sections.
    let keepsFile = [.send, .resume, .clean].contains(command)
    let own = given.filter { ($0.option != .config || keepsFile) && $0.option != .to }
    let all = merged(options, own)
    // Those that take back what a record has stay.
    return Commands.recorded.contains(command.set) ? all : all.filter { $0.isOn }
  }

  /// The directories of all sections `[watch DIR]`.
  static func watchedDirectories(with given: [GivenOption]) throws(UsageError) -> [LocalPath] {
    var directories: [LocalPath] = []
    for source in sources(given.last { $0.option == .config }?.argument) {
      for section in try source.load()?.sections ?? [] {
        guard case .watch(let bytes) = section else { continue }
        let path = LocalPath(bytes: bytes)
        if !directories.contains(path) { directories.append(path) }
      }
    }
    return directories
  }

  /// Credentials for one host never reach another: a layer with a destination discards all that belongs to an earlier one.
  static func merged(_ options: [GivenOption], _ layer: [GivenOption]) -> [GivenOption] {
    let hasDestination = layer.contains { $0.option.has(.destination) }
    let hasCredentials = layer.contains { $0.isOn && $0.option.has(.credential) }
    return options.filter { earlier in
      if hasDestination, earlier.option.isBoundToDestination { return false }
      if hasCredentials, earlier.option.has(.credential) { return false }
      return !layer.contains { $0.option == earlier.option }
    } + layer
  }

  private static func sources(_ given: LocalPath?) -> [ConfigurationSource] {
    if let given { return given.bytes.isEmpty ? [] : [ConfigurationSource(path: given, origin: .named)] }
    var sources = [ConfigurationSource(path: "/etc/gighive-upload.conf", origin: .system)]
    if let home = environmentPath("XDG_CONFIG_HOME"), home.bytes.first == ASCII.slash {
      let path = home.appending("/gighive-upload/gighive-upload.conf")
      sources.append(ConfigurationSource(path: path, origin: .home))
    } else if let home = environmentPath("HOME") {
      let path = home.appending("/.config/gighive-upload/gighive-upload.conf")
      sources.append(ConfigurationSource(path: path, origin: .home))
    }
    return sources
  }

  private static func unknown(_ section: String, among sections: [String]) -> UsageError {
    UsageError(
      "--to: the configuration has no section [" + PrintableText.line(section) + "]."
        + Suggestion.question(about: section.utf8, among: sections))
  }
}

/// The options of one configuration file.
private struct Layers {
  private(set) var top: [GivenOption] = []
  private(set) var section: [GivenOption] = []
  /// Those of `[watch DIR]`.
  private(set) var watched: [GivenOption] = []

  /// Checks the names of all options, and keeps those of the top part and both sections.
  init(
    _ file: ConfigurationFile, _ source: ConfigurationSource, section: String?, watching directory: LocalPath?
  ) throws(UsageError) {
    var seen: [(section: Int?, option: Option)] = []
    for entry in file.entries {
      let place = source.name + ":" + String(entry.line) + ": "
      let given = try Layers.option(entry, source, place)
      let isRepeated = seen.contains { $0.section == entry.section && $0.option == given.option }
      guard given.option.has(.repeatable) || !isRepeated else {
        throw UsageError(place + given.option.name + " is given twice.")
      }
      seen.append((entry.section, given.option))
      if let index = entry.section {
        switch file.sections[index] {
        case .named(let name): if name == section { self.section.append(given) }
        case .watch(let path): if path == directory?.bytes { watched.append(given) }
        }
      } else {
        top.append(given)
      }
    }
  }

  private static func option(
    _ entry: ConfigurationFile.Entry, _ source: ConfigurationSource, _ place: String
  ) throws(UsageError) -> GivenOption {
    let option = try Option(configurable: entry.name, place: place)
    let given = try GivenOption(option, Array(entry.value), place: place)
    if !given.isOn || given.argument.bytes.isEmpty && !entry.value.isEmpty { return given }
    var argument = given.argument
    if option.isPath {
      argument = try path(argument, option, source, place)
    } else if option == .after, let target = argument.moveTarget {
      argument = argument.replacingTarget(with: try path(target, option, source, place))
    }
    return given.located(at: argument)
  }

  /// Relative names are relative to the file's directory, unless systemd has the secret.
  private static func path(
    _ path: LocalPath, _ option: Option, _ source: ConfigurationSource, _ place: String
  ) throws(UsageError) -> LocalPath {
    guard let first = path.bytes.first else { throw UsageError(place + option.name + ": the name is empty.") }
    if first == ASCII.slash { return path }
    if path.bytes.starts(with: "~/".utf8) {
      let home = environmentPath("HOME").map { LocalPath(bytes: $0.bytes + path.bytes.dropFirst()) }
      throw UsageError(
        place + option.name + ": \"~\" is not expanded."
          + (home.map { " Did you mean " + PrintableText.line($0.text) + "?" } ?? ""))
    }
    if option.has(.secret) { return CredentialStore.path(of: path, in: source.path) }
    return LocalPath(bytes: source.path.directory.bytes + [ASCII.slash] + path.bytes)
  }
}
