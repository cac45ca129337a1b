import Uploader

/// The options of `send` in the record of an upload, for `resume`: `name` or `name=argument`, separated by spaces, with
/// percent-encoded arguments. No option takes a secret as its argument.
enum StoredOptions {
  /// - Parameter eventDate: kept even if it was not given, so that a recording stays with its event after midnight.
  static func text(of options: [GivenOption], eventDate: String?) -> String {
    var words: [String] = []
    for given in options where isKept(given.option) {
      let name = OptionTable.name(of: given.option)
      let argument = isPath(given.option) ? given.argument.absolute ?? given.argument : given.argument
      words.append(takesArgument(given.option) ? name + "=" + Percent.encode(argument.bytes) : name)
    }
    if let eventDate, !options.contains(where: { $0.option == .eventDate }) {
      words.append(OptionTable.name(of: .eventDate) + "=" + eventDate)
    }
    return words.joined(separator: " ")
  }

  /// The options of a record, and those given now, which take precedence. Credentials are replaced as a whole, because only one
  /// kind is allowed.
  static func options(in text: String, with given: [GivenOption]) -> [GivenOption] {
    let replacesCredentials = given.contains { isCredential($0.option) }
    let replacesPins = given.contains { $0.option == .pin }
    return options(in: text).filter {
      !(replacesCredentials && isCredential($0.option)) && !(replacesPins && $0.option == .pin)
    } + given
  }

  private static func isCredential(_ option: Option) -> Bool {
    switch option {
    case .user, .passwordFile, .netrc, .netrcFile, .bearerFile, .uploadTokenFile: true
    default: false
    }
  }

  /// Parses stored options. Options unknown to this version are ignored.
  private static func options(in text: String) -> [GivenOption] {
    var options: [GivenOption] = []
    for word in text.split(separator: " ") {
      let name = String(word.prefix { $0 != "=" })
      let argument = Percent.decode(word.dropFirst(name.count + 1)) ?? []
      guard let description = OptionTable.all.first(where: { $0.name == name }) else { continue }
      options.append(GivenOption(option: description.option, argument: LocalPath(bytes: argument)))
    }
    return options
  }

  private static func isKept(_ option: Option) -> Bool {
    switch option {
    case .jobs, .stateDir, .progress, .json, .quiet, .verbose, .help, .all, .forget, .maxMemory: false
    default: true
    }
  }

  private static func takesArgument(_ option: Option) -> Bool {
    OptionTable.all.first { $0.option == option }?.argument != nil
  }

  private static func isPath(_ option: Option) -> Bool {
    switch option {
    case .passwordFile, .netrcFile, .bearerFile, .uploadTokenFile, .cacert, .capath, .cert, .key,
      .proxyPasswordFile:
      true
    default: false
    }
  }
}
