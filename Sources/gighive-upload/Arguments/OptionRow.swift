import Uploader

/// One option, as ``Option/row`` describes it. What the row does not say, the option is not: no command takes it, no record keeps
/// it, no file may contain it.
struct OptionRow {
  /// Without "--".
  let name: StaticString
  /// Its short form; empty for none.
  let letter: StaticString
  let argument: OptionArgument
  let group: OptionGroup
  let commands: Commands
  let traits: OptionTraits
  /// What it does, in a few words. The help adds the words to choose from, the default, and whether it can be repeated.
  let text: StaticString
  /// How the whole help goes on; empty if it does not.
  let more: StaticString
  /// What is assumed without it; empty for nothing.
  let standard: StaticString
  /// Another name for those who know it from other programs; empty for none.
  let alias: StaticString

  init(
    _ name: StaticString, letter: StaticString = "", _ argument: OptionArgument, _ group: OptionGroup,
    _ commands: Commands, _ traits: OptionTraits, _ text: StaticString, more: StaticString = "",
    standard: StaticString = "", alias: StaticString = ""
  ) {
    self.name = name
    self.letter = letter
    self.argument = argument
    self.group = group
    self.commands = commands
    self.traits = traits
    self.text = text
    self.more = more
    self.standard = standard
    self.alias = alias
  }
}

struct OptionArgument {
  enum Kind: String {
    case none, text
    /// Text; some of it can be one of the words. A word that ends with "=" is followed by a directory.
    case words
    case choice
    /// The name of a file or directory on this machine.
    case file, directory
    case section
  }

  let kind: Kind
  /// What the help calls it.
  let name: StaticString
  /// Whether it can be left out: --NAME, or --NAME=ARGUMENT.
  var isOptional = false
  /// Separated by spaces.
  private let joinedWords: StaticString

  @inline(never)
  var words: [String] { joinedWords.text.split(separator: " ").map { String($0) } }

  /// What it must be, such as "auto, bar or none".
  @inline(never)
  var alternatives: String {
    let words = words
    return words.dropLast().joined(separator: ", ") + " or " + (words.last ?? "")
  }

  var isPath: Bool { kind == .file || kind == .directory }

  static var none: OptionArgument { OptionArgument(kind: .none, name: "", joinedWords: "") }
  static var file: OptionArgument { OptionArgument(kind: .file, name: "FILE", joinedWords: "") }
  static var optionalFile: OptionArgument {
    OptionArgument(kind: .file, name: "FILE", isOptional: true, joinedWords: "")
  }
  static var fileOrDirectory: OptionArgument { OptionArgument(kind: .file, name: "FILE|DIR", joinedWords: "") }
  static var directory: OptionArgument { OptionArgument(kind: .directory, name: "DIR", joinedWords: "") }
  static var section: OptionArgument { OptionArgument(kind: .section, name: "NAME", joinedWords: "") }

  static func text(_ name: StaticString) -> OptionArgument {
    OptionArgument(kind: .text, name: name, joinedWords: "")
  }

  static func words(_ name: StaticString, _ words: StaticString) -> OptionArgument {
    OptionArgument(kind: .words, name: name, joinedWords: words)
  }

  static func choice(_ name: StaticString, _ words: StaticString) -> OptionArgument {
    OptionArgument(kind: .choice, name: name, joinedWords: words)
  }
}

/// The parts of the help, in its order.
enum OptionGroup: String, CaseIterable {
  case destination = "Destination"
  case form = "Form"
  case credentials = "Credentials (no option takes a secret as its argument)"
  case tls = "TLS"
  case transfer = "Transfer"
  case configuration = "Configuration"
  case selection = "Selection"
  case watching = "Watching"
  case afterDelivery = "After delivery"
  case output = "Output"
  /// Not for people.
  case none = ""
}

struct OptionTraits: OptionSet {
  let rawValue: UInt16

  /// `-h` shows it.
  static let everyday = OptionTraits(rawValue: 1 << 0)
  /// The record of an upload keeps it for `resume`.
  static let kept = OptionTraits(rawValue: 1 << 1)
  /// A configuration file can contain it. The others choose what one command does.
  static let configurable = OptionTraits(rawValue: 1 << 2)
  /// A watcher gives it to the processes that send and clean for it.
  static let passedOn = OptionTraits(rawValue: 1 << 3)
  /// It is about each upload, wherever it is given.
  static let ordinary: OptionTraits = [.kept, .configurable, .passedOn]
  /// It can be given several times, and each one counts.
  static let repeatable = OptionTraits(rawValue: 1 << 4)
  /// Those given to `resume` replace all in the record.
  static let list = OptionTraits(rawValue: 1 << 5)
  /// Its argument can contain placeholders such as {stem}.
  static let template = OptionTraits(rawValue: 1 << 6)
  /// It describes the recording.
  static let form = OptionTraits(rawValue: 1 << 7)
  /// It does so also in a sidecar or a list of files.
  static let sidecar = OptionTraits(rawValue: 1 << 8)
  /// It is the address where recordings go.
  static let destination = OptionTraits(rawValue: 1 << 9)
  /// It says whose credentials to use, or where they are. One of these replaces all earlier ones.
  static let credential = OptionTraits(rawValue: 1 << 10)
  /// It belongs to one destination for another reason: its protocol, or trust in it.
  static let bound = OptionTraits(rawValue: 1 << 11)
  /// Its argument is a file that systemd can pass as a credential.
  static let secret = OptionTraits(rawValue: 1 << 12)

  /// It stands in configuration files and behind --set: few need it, so that no command has an option of that name.
  static let fileOnly = OptionTraits(rawValue: 1 << 13)
  /// It is about recordings that are sent while they are made.
  static let live = OptionTraits(rawValue: 1 << 14)
  /// It is one of the whole watcher, which must be restarted when it changes.
  static let wholeWatcher = OptionTraits(rawValue: 1 << 15)

  /// Those that `help --table` names.
  static let names: [(name: String, trait: OptionTraits)] = [
    ("everyday", .everyday), ("kept", .kept), ("configurable", .configurable), ("passed-on", .passedOn),
    ("repeatable", .repeatable), ("template", .template), ("secret", .secret), ("file-only", .fileOnly),
  ]
}

/// What a row says, for those who ask. Not inlined, because a row is large and many ask.
extension Option {
  /// - Parameter name: without "--".
  @inline(never)
  init?(named name: [UInt8]) {
    func isNamed(_ option: Option) -> Bool {
      let row = option.row
      return row.name.bytes.elementsEqual(name) || !name.isEmpty && row.alias.bytes.elementsEqual(name)
    }
    guard let option = Option.allCases.first(where: isNamed) else { return nil }
    self = option
  }

  /// Whether --no-NAME takes it back.
  @inline(never)
  var hasOpposite: Bool { (!takesArgument || row.argument.isOptional) && row.group != .none && self != .help }

  @inline(never)
  var name: String { row.name.text }

  @inline(never)
  func has(_ traits: OptionTraits) -> Bool { row.traits.contains(traits) }

  @inline(never)
  var takesArgument: Bool { row.argument.kind != .none }

  @inline(never)
  var isPath: Bool { row.argument.isPath }

  /// Those that people can give.
  @inline(never)
  static var documented: [Option] { allCases.filter { $0.row.group != .none } }

  /// The names of options on the command line, with their opposites.
  static var names: [String] {
    let options = documented.filter { !$0.has(.fileOnly) }
    return options.flatMap { $0.hasOpposite ? [$0.name, "no-" + $0.name] : [$0.name] }
  }

  /// The options that a configuration file can contain.
  static var configurable: [Option] { allCases.filter { $0.has(.configurable) } }

  /// Whether it belongs to one destination: its address, protocol, trust and credentials.
  @inline(never)
  var isBoundToDestination: Bool { !row.traits.isDisjoint(with: [.destination, .bound, .credential]) }

  /// Whether it describes the recording.
  var isForm: Bool { !row.traits.isDisjoint(with: [.form, .sidecar]) }
}

/// The texts of rows, which take no code to set up.
extension StaticString {
  @inline(never)
  var text: String { String(decoding: bytes, as: UTF8.self) }

  func withCString(_ body: (UnsafePointer<CChar>) -> Void) {
    UnsafeRawPointer(utf8Start).withMemoryRebound(to: CChar.self, capacity: utf8CodeUnitCount + 1, body)
  }

  var bytes: UnsafeBufferPointer<UInt8> { UnsafeBufferPointer(start: utf8Start, count: utf8CodeUnitCount) }
}
