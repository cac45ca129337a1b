import CShims
import Uploader

/// `gighive-upload help [COMMAND]`, `COMMAND --help`, and the short `COMMAND -h`.
enum Help {
  static var commands: [String] { CommandRow.all.map { $0.name } }

  /// What is shown without a command.
  /// - Parameter descriptor: where it will be shown.
  static func overview(on descriptor: Int32 = 1) -> String {
    var page = HelpPage(columns: HelpPage.columns(of: descriptor), meaningColumn: 24)
    page.add("", "gighive-upload " + Uploader.version + ": " + purpose + ".", at: 0)
    page.add(verbatim: "\nUsage: gighive-upload COMMAND [options]\n\n")
    for row in CommandRow.all { page.add(row.synopsis.text, row.summary.text) }
    page.add(verbatim: "\nExample:\n" + example + "\n")
    page.add(
      "", "COMMAND -h shows the most useful options of a command, COMMAND --help all.", at: 0)
    return page.text
  }

  private static let purpose = "uploads large recordings in a few megabytes of memory"

  private static let example = """
      gighive-upload send gig.mp4 --server https://gighive --label "First set" \\
        --user uploader --password-file ~/.gighive-password

    """

  /// All about a command, or on one screen what is needed every day.
  static func of(_ command: Command, isBrief: Bool) -> String {
    var page = HelpPage(columns: HelpPage.columns(of: 1), meaningColumn: 30)
    var label = "Usage:"
    for usage in lines(command.row.usage) {
      page.add(label, "gighive-upload " + usage, at: 7)
      label = ""
    }
    let options = Option.documented.filter { command.takes($0) && !$0.has(.fileOnly) }
    if isBrief {
      page.add(verbatim: "\n")
      for option in options where option.has(.everyday) { page.add(option.usage, option.meaning(isBrief: true)) }
      page.add(verbatim: "\n--help shows all " + String(options.count) + " options, and the exit codes.\n")
      return page.text
    }
    for paragraph in paragraphs(of: command.row) {
      page.add(verbatim: "\n")
      page.add("", paragraph, at: 0)
    }
    for group in OptionGroup.allCases {
      let options = options.filter { $0.row.group == group }
      if options.isEmpty { continue }
      page.add(verbatim: "\n")
      page.add("", group.rawValue + ":", at: 0)
      for option in options { page.add(option.usage, option.meaning(isBrief: false)) }
    }
    page.add(verbatim: "\nExit codes:\n")
    page.meaningColumn = 12
    for row in ExitCode.table(of: command) { page.add(row.code, row.meaning) }
    return page.text
  }

  private static func paragraphs(of row: CommandRow) -> [String] {
    lines(row.text) + ["An option without an argument has an opposite, such as --no-json. The last one given counts."]
  }

  @inline(never)
  private static func lines(_ text: StaticString) -> [String] {
    text.text.split(separator: "\n").map { String($0) }
  }

  /// `help --table`: all that the help says, as one JSON object, from which the man pages, the completions and the reference are
  /// made. Not for users.
  static func table() -> String {
    var table = JSONWriter()
    table.add("version", Uploader.version)
    table.add("purpose", purpose)
    table.add("example", example)
    table.add("commands", CommandRow.all.map { json(of: $0) })
    table.add("groups", OptionGroup.allCases.filter { $0 != .none }.map { $0.rawValue })
    table.add("options", Option.documented.map { $0.json })
    return table.finished()
  }

  private static func json(of row: CommandRow) -> JSONWriter {
    var object = JSONWriter()
    object.add("name", row.name)
    object.add("synopsis", row.synopsis.text)
    object.add("summary", row.summary.text)
    guard let command = Command(rawValue: row.name) else { return object }
    object.add("operands", row.operands.rawValue)
    object.add("usage", lines(row.usage))
    object.add("text", paragraphs(of: row))
    let codes = ExitCode.table(of: command)
    object.add("exit_codes", codes.map { $0.code })
    object.add("exit_meanings", codes.map { $0.meaning })
    return object
  }
}

extension Option {
  /// Such as "-j, --jobs N".
  fileprivate var usage: String {
    var text = "--" + name
    let letter = row.letter.text
    if !letter.isEmpty { text = "-" + letter + ", " + text }
    let name = row.argument.name.text
    if row.argument.isOptional { return text + "[=" + name + "]" }
    return takesArgument ? text + " " + name : text
  }

  fileprivate func meaning(isBrief: Bool) -> String {
    let row = row
    var text = row.text.text
    if row.argument.kind == .choice { text += ": " + row.argument.alternatives }
    if isBrief { return text }
    text += row.more.text
    if has(.repeatable) { text += "; can be repeated" }
    if row.alias.utf8CodeUnitCount > 0 { text += "; also --" + row.alias.text }
    if row.standard.utf8CodeUnitCount > 0 { text += " (default: " + row.standard.text + ")" }
    return text
  }

  fileprivate var json: JSONWriter {
    var object = JSONWriter()
    let row = row
    object.add("name", name)
    object.add("letter", row.letter.text)
    object.add("argument", row.argument.name.text)
    object.add("optional", row.argument.isOptional)
    object.add("kind", row.argument.kind.rawValue)
    object.add("words", row.argument.words)
    object.add("group", row.group.rawValue)
    object.add("commands", Command.allCases.filter { $0.takes(self) }.map { $0.rawValue })
    object.add("traits", OptionTraits.names.filter { has($0.trait) }.map { $0.name })
    object.add("text", meaning(isBrief: false))
    object.add("default", row.standard.text)
    return object
  }
}

/// A page of text that fits a terminal.
private struct HelpPage {
  /// Each ends with a line feed.
  private var lines = ""
  let columns: Int
  /// Where the meanings of a list begin.
  var meaningColumn: Int

  init(columns: Int, meaningColumn: Int) {
    self.columns = columns
    self.meaningColumn = meaningColumn
  }

  /// Whoever prints it ends the last line.
  var text: String { String(decoding: lines.utf8.dropLast(), as: UTF8.self) }

  /// How wide a page is: no wider than the terminal, nor than what can be read with ease.
  static func columns(of descriptor: Int32) -> Int {
    let isTerminal = descriptor == 1 ? Console.isOutputTerminal : Console.isErrorTerminal
    return isTerminal ? min(max(Console.terminalSize(of: descriptor).columns, 40), 120) : 80
  }

  mutating func add(verbatim text: String) { lines += text }

  mutating func add(_ term: String, _ meaning: String) { add("  " + term + " ", meaning, at: meaningColumn) }

  /// Words in lines that begin at the column, on the line of their label if it is short enough.
  mutating func add(_ label: String, _ words: String, at column: Int) {
    var line = label
    func startLine() {
      lines += line + "\n"
      line = ""
    }
    if label.utf8.count > column { startLine() }
    var isFirst = true
    for word in words.split(separator: " ") {
      if !isFirst, line.utf8.count + 1 + word.utf8.count > columns {
        startLine()
        isFirst = true
      }
      line += String(repeating: " ", count: isFirst ? max(0, column - line.utf8.count) : 1) + word
      isFirst = false
    }
    startLine()
  }
}

extension ExitCode {
  /// The table of codes in the help of a command.
  fileprivate static func table(of command: Command) -> [(code: String, meaning: String)] {
    let success =
      switch command {
      case .send, .resume: "delivered"
      case .watch: "stopped by a signal; with --dry-run: success"
      default: "success"
      }
    let interruption = command == .watch ? "stopped by a second signal" : "interrupted"
    var failures = failures
    if command == .status { failures[2].meaning = "no watcher is running" }
    return [("0", success)] + failures + [("130, 143", interruption)]
  }

  private static let failures: [(code: String, meaning: String)] = [
    ("1", "internal error"), ("2", "usage error"),
    ("3", "input file: missing, unreadable, empty, not a regular file, too large, or changed while it was sent"),
    ("4", "no connection (unknown name, refused, timeout, lost): try again"),
    ("5", "TLS"), ("6", "credentials refused"),
    ("7", "refused by the server"), ("8", "too large for the server"),
    ("9", "server failure after all retries: try again"),
    ("10", "integrity: checksum or size differs, or no confirmation"),
    ("11", "conflict: another process runs the same upload, the server has locked it, or something else has its URL"),
    ("12", "memory ceiling (--max-memory) reached, or another resource exhausted"),
    ("13", "state directory unusable"),
    ("14", "output failed or was not read; everything else succeeded"),
    ("15", "not enough space could be freed (clean)"),
    ("16", "the recording may already be stored; it is never sent again by itself"),
  ]
}

/// `gighive-upload version [--verbose]`
enum Version {
  static func run() throws(UsageError) -> Int32 {
    var text = "gighive-upload " + Uploader.version
    if CommandLineArguments.count > 2 {
      let argument = CommandLineArguments.text(at: 2)
      guard CommandLineArguments.count == 3, argument == "--verbose" || argument == "-v" else {
        throw UsageError("version takes no arguments except --verbose.")
      }
      text += "\n" + String(cString: shim_library_versions()) + String(cString: shim_components())
    }
    Console.out(text)
    return ExitCode.delivered
  }
}
