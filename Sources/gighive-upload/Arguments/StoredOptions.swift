import Uploader

/// The options of `send` in the record of an upload, for `resume`: `name` or `name=argument`, separated by spaces, with
/// percent-encoded arguments. No option takes a secret as its argument.
enum StoredOptions {
  /// The region of an S3 bucket is kept even if it came from the environment, which may say another one then.
  /// - Parameter eventDate: kept even if it was not given, so that a recording stays with its event after midnight.
  static func text(of options: [GivenOption], eventDate: String?) -> String {
    var words: [String] = []
    // A configuration file gives it to watchers, too.
    let isLive = options.contains { $0.option == .live && $0.isOn }
    for given in options where given.option.has(.kept) && (isLive || !given.option.has(.live)) {
      let name = given.option.name
      let isPath = given.option.isPath && !given.argument.bytes.isEmpty
      let argument = isPath ? given.argument.absolute ?? given.argument : given.withAbsoluteTarget
      words.append(given.option.takesArgument ? name + "=" + Percent.encode(argument.bytes) : name)
    }
    if let eventDate, !options.contains(where: { $0.option == .eventDate }) {
      words.append(Option.eventDate.name + "=" + eventDate)
    }
    if options.contains(where: { $0.option == .s3 }), !options.contains(where: { $0.option == .s3Region }) {
      words.append(Option.s3Region.name + "=" + Percent.encode(Array(ObjectURL.assumedRegion.utf8)))
    }
    return words.joined(separator: " ")
  }

  /// The options of a record, and those given now, which take precedence. Those of configuration files only add to the record.
  /// Credentials are replaced as a whole, because only one kind is allowed; so are lists. A file with header fields stands beside
  /// both.
  static func options(in text: String, with given: [GivenOption]) -> [GivenOption] {
    let replacesCredentials = given.contains { $0.option.has(.credential) }
    let replaced = given.map { $0.option }.filter { $0.has(.list) }
    let stored = options(in: text).filter {
      !(replacesCredentials && $0.option.has(.credential)) && !replaced.contains($0.option)
        && !isTakenBack($0.option, by: given)
    }
    let all = given.filter { $0.place != nil } + stored + given.filter { $0.place == nil }
    return all.filter { $0.isOn }
  }

  private static func isTakenBack(_ option: Option, by others: [GivenOption]) -> Bool {
    others.contains { $0.option == option && !$0.isOn }
  }

  /// The options to keep in the record of an upload that is resumed. Options given now are not kept, except for credentials: if
  /// those of the record no longer work, the next `resume` must not need them again.
  static func text(of note: String, with given: [GivenOption]) -> String {
    let given = given.filter { $0.place == nil && $0.isOn }
    let sources = given.filter { $0.option.has(.credential) || $0.option == .headerFile }
    guard !sources.isEmpty else { return note }
    let replacesCredentials = sources.contains { $0.option.has(.credential) }
    let permission = given.filter { $0.option == .sharedSecrets }
    let kept = note.split(separator: " ").filter { word in
      // Words unknown to this version are kept.
      guard let option = option(ofWord: word) else { return true }
      return !(replacesCredentials && option.has(.credential))
        && !(sources + permission).contains { $0.option == option }
    }
    return (kept.map { String($0) } + [text(of: sources + permission, eventDate: nil)]).joined(separator: " ")
  }

  /// Whether the options in a record name their destination in this way.
  static func name(_ destination: Option, in note: String) -> Bool {
    note.split(separator: " ").contains { option(ofWord: $0) == destination }
  }

  /// Parses stored options. Those that this version does not know, or no longer keeps, are ignored.
  private static func options(in text: String) -> [GivenOption] {
    var options: [GivenOption] = []
    for word in text.split(separator: " ") {
      let argument = Percent.decode(word.drop { $0 != "=" }.dropFirst()) ?? []
      guard let option = option(ofWord: word), option.has(.kept) else { continue }
      options.append(GivenOption(option: option, argument: LocalPath(bytes: argument)))
    }
    return options
  }

  /// - Parameter word: `name` or `name=argument`.
  private static func option(ofWord word: Substring) -> Option? {
    Option(named: Array(word.utf8.prefix { $0 != UInt8(ascii: "=") }))
  }
}
