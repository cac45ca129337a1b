import CShims
import Uploader

/// The arguments of the process.
enum CommandLineArguments {
  static var count: Int { Int(shim_argument_count()) }

  static func text(at index: Int) -> String { String(cString: shim_argument(Int32(index))) }

  static func isHelp(at index: Int) -> Bool { index < count && ["--help", "-h"].contains(text(at: index)) }

  /// Parses options and operands from argument 2 on. They can be mixed (getopt_long).
  static func parse(for command: Command) throws(UsageError) -> (options: [GivenOption], operands: Operands) {
    for description in OptionTable.all {
      // The names live as long as the process; getopt_long keeps pointers to them.
      shim_option_add(
        permanentCString(description.name), description.argument == nil ? 0 : 1, description.option.rawValue)
    }
    shim_option_start(2)
    var options: [GivenOption] = []
    while true {
      let value = shim_option_next()
      if Int(value) == SHIM_OPTION_END { break }
      let option = try option(value)
      guard command.takes(option) else {
        throw UsageError(command.rawValue + " has no option --" + OptionTable.name(of: option) + ".")
      }
      let given = GivenOption(option: option, argument: argument())
      if options.contains(where: { $0.option.alternative == option }) { throw given.excluded }
      options.append(given)
    }
    let first = Int(shim_option_rest())
    return (options, Operands(firstArgument: first, count: count - first))
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
    switch letter {
    case UInt8(ascii: "h"): .help
    case UInt8(ascii: "j"): .jobs
    case UInt8(ascii: "q"): .quiet
    case UInt8(ascii: "r"): .recursive
    case UInt8(ascii: "v"): .verbose
    default: nil
    }
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
    return Suggestion.nearest(to: word, among: OptionTable.all.map { $0.name }).map { " Did you mean --" + $0 + "?" }
      ?? ""
  }

  private static var offender: String { PrintableText.line(String(cString: shim_option_offender())) }
}
