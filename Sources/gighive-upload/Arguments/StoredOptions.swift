import Uploader

/// The options of `send` in the record of an upload, for `resume`: `name` or `name=argument`, separated by spaces, with
/// percent-encoded arguments. No option takes a secret as its argument.
enum StoredOptions {
  /// - Parameter eventDate: kept even if it was not given, so that a recording stays with its event after midnight.
  static func text(of options: [GivenOption], eventDate: String?) -> String {
    var words: [String] = []
    for given in options where isKept(given.option) {
      let name = OptionTable.name(of: given.option)
      let isPath = description(of: given.option)?.isPath ?? false
      let argument = isPath ? given.argument.absolute ?? given.argument : given.withAbsoluteTarget
      words.append(takesArgument(given.option) ? name + "=" + Percent.encode(argument.bytes) : name)
    }
    if let eventDate, !options.contains(where: { $0.option == .eventDate }) {
      words.append(OptionTable.name(of: .eventDate) + "=" + eventDate)
    }
    return words.joined(separator: " ")
  }

  /// The options of a record, and those given now, which take precedence. Those of configuration files only add to the record.
  /// Credentials are replaced as a whole, because only one kind is allowed; so are lists. A file with header fields stands beside
  /// both.
  static func options(in text: String, with given: [GivenOption]) -> [GivenOption] {
    let replacesCredentials = given.contains { $0.option.isCredential }
    let replaced = given.map { $0.option }.filter { isList($0) }
    let stored = options(in: text).filter {
      !(replacesCredentials && $0.option.isCredential) && !replaced.contains($0.option)
        && !isReplaced($0.option, by: given)
    }
    return given.filter { $0.place != nil && !isReplaced($0.option, by: stored) } + stored
      + given.filter { $0.place == nil }
  }

  /// Whether the alternative of the option is given on the command line.
  private static func isReplaced(_ option: Option, by others: [GivenOption]) -> Bool {
    others.contains { $0.place == nil && $0.option.alternative == option }
  }

  /// The options to keep in the record of an upload that is resumed. Options given now are not kept, except for credentials: if
  /// those of the record no longer work, the next `resume` must not need them again.
  static func text(of note: String, with given: [GivenOption]) -> String {
    let sources = given.filter { $0.place == nil && ($0.option.isCredential || $0.option == .headerFile) }
    guard !sources.isEmpty else { return note }
    let replacesCredentials = sources.contains { $0.option.isCredential }
    let permission = given.filter { $0.place == nil && $0.option == .sharedSecrets }
    let kept = note.split(separator: " ").filter { word in
      // Words unknown to this version are kept.
      guard let option = description(ofWord: word)?.option else { return true }
      return !(replacesCredentials && option.isCredential) && !(sources + permission).contains { $0.option == option }
    }
    return (kept.map { String($0) } + [text(of: sources + permission, eventDate: nil)]).joined(separator: " ")
  }

  /// Whether the options in a record name their destination in this way.
  static func name(_ destination: Option, in note: String) -> Bool {
    note.split(separator: " ").contains { description(ofWord: $0)?.option == destination }
  }

  /// Options that can be repeated, and that replace those of a record.
  private static func isList(_ option: Option) -> Bool {
    switch option {
    case .pin, .header, .metadata: true
    default: false
    }
  }

  /// Parses stored options. Those that this version does not know, or no longer keeps, are ignored.
  private static func options(in text: String) -> [GivenOption] {
    var options: [GivenOption] = []
    for word in text.split(separator: " ") {
      let argument = Percent.decode(word.drop { $0 != "=" }.dropFirst()) ?? []
      guard let description = description(ofWord: word), isKept(description.option) else { continue }
      options.append(GivenOption(option: description.option, argument: LocalPath(bytes: argument)))
    }
    return options
  }

  private static func isKept(_ option: Option) -> Bool {
    switch option {
    case .jobs, .stateDir, .progress, .color, .json, .jsonProgress, .quiet, .verbose, .help, .again, .all, .strict,
      .forget, .prune, .keepFree, .maxMemory, .config, .to, .recursive, .match, .exclude, .minSize, .from, .dryRun,
      .dayStarts, .onEvent,
      .metrics:
      false
    default: true
    }
  }

  private static func takesArgument(_ option: Option) -> Bool {
    description(of: option)?.argument != nil
  }

  /// - Parameter word: `name` or `name=argument`.
  private static func description(ofWord word: Substring) -> OptionDescription? {
    let name = String(word.prefix { $0 != "=" })
    return OptionTable.all.first { $0.name == name }
  }

  private static func description(of option: Option) -> OptionDescription? {
    OptionTable.all.first { $0.option == option }
  }
}
