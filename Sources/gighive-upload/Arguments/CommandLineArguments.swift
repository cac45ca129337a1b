import CShims
import Uploader

enum CommandLineArguments {
  static var count: Int { Int(shim_argument_count()) }

  static func text(at index: Int) -> String { String(cString: shim_argument(Int32(index))) }

  static func isHelp(at index: Int) -> Bool { index < count && ["--help", "-h"].contains(text(at: index)) }

  /// Parses options and operands from argument 2 on. They can be mixed (getopt_long).
  /// - Returns: also whether help was asked for with -h, which shows less than --help.
  static func parse(
    for command: Command
  ) throws(UsageError) -> (options: [GivenOption], operands: Operands, wantsBriefHelp: Bool) {
    for option in Option.allCases where !option.has(.fileOnly) { add(option) }
    shim_option_start(2)
    var options: [GivenOption] = []
    var wantsBriefHelp = false
    while true {
      let value = shim_option_next()
      if Int(value) == SHIM_OPTION_END { break }
      let isOn = value < opposite
      let option = try option(isOn ? value : value - opposite)
      if option == .help { wantsBriefHelp = value != option.rawValue }
      let argument = argument()
      let given =
        option == .set
        ? try GivenOption(setting: argument) : GivenOption(option: option, argument: argument, isOn: isOn)
      guard command.takes(given.option) else {
        throw UsageError(command.rawValue + " has no option " + given.label + ".")
      }
      // Of --json and --no-json, the last one counts.
      if given.option.hasOpposite { options.removeAll { $0.option == given.option } }
      options.append(given)
    }
    let first = Int(shim_option_rest())
    return (options, Operands(firstArgument: first, count: count - first), wantsBriefHelp)
  }

  /// What is added to the number of an option for its opposite.
  private static let opposite: Int32 = 1 << 16

  private static func add(_ option: Option) {
    let row = option.row
    let takesArgument: Int32 = row.argument.isOptional ? 2 : option.takesArgument ? 1 : 0
    // getopt_long keeps the pointer. A literal lives as long as the process.
    row.name.withCString { shim_option_add($0, Int32(row.letter.bytes.first ?? 0), takesArgument, option.rawValue) }
    if row.alias.utf8CodeUnitCount > 0 {
      row.alias.withCString { shim_option_add($0, 0, takesArgument, option.rawValue) }
    }
    if option.hasOpposite { row.name.withCString { shim_option_add_opposite($0, option.rawValue + opposite) } }
  }

  private static func option(_ value: Int32) throws(UsageError) -> Option {
    switch Int(value) {
    case SHIM_OPTION_NEEDS_VALUE: throw UsageError(offender + " needs a value.")
    case SHIM_OPTION_TAKES_NO_VALUE: throw UsageError(offender + " takes no value.")
    default:
      if let option = Option(rawValue: value) ?? UInt8(exactly: value).flatMap(option(letter:)) { return option }
      throw UsageError("unknown option " + offender + "." + suggestion(for: offender))
    }
  }

  private static func option(letter: UInt8) -> Option? {
    Option.allCases.first { $0.row.letter.bytes.first == letter }
  }

  private static func argument() -> LocalPath {
    guard let argument = shim_option_argument() else { return "" }
    return LocalPath(cString: argument)
  }

  private static func suggestion(for typed: String) -> String {
    let word = Array(typed.utf8.drop { $0 == UInt8(ascii: "-") })
    if word.count == 1, option(letter: word[0]) != nil {
      return " Did you mean -" + String(decoding: word, as: UTF8.self) + "?"
    }
    if let option = Option(named: word), option.has(.fileOnly) {
      return " It is one of configuration files; use --set " + option.name + "=VALUE."
    }
    return Suggestion.question(about: word, among: Option.names, prefix: "--")
  }

  private static var offender: String { PrintableText.line(String(cString: shim_option_offender())) }
}
