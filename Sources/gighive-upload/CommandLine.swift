import CShims
import Uploader

/// An invalid command line.
struct UsageError: Error {
  let message: String

  init(_ message: String) { self.message = message }
}

/// One option as given on the command line.
struct GivenOption {
  let option: Option
  /// Empty if the option takes no argument.
  let argument: LocalPath

  /// The argument as text; bytes that are not UTF-8 become "�".
  var text: String { String(decoding: argument.bytes, as: UTF8.self) }
}

/// The operands of a command, such as files. They are not copied from the command line, because there can be very many.
struct Operands: RandomAccessCollection {
  let startIndex = 0
  let endIndex: Int
  /// The index of the first operand among the process's arguments; nil if the operands are `paths`.
  private let firstArgument: Int?
  private let paths: [LocalPath]

  init(_ paths: [LocalPath] = []) {
    endIndex = paths.count
    firstArgument = nil
    self.paths = paths
  }

  fileprivate init(firstArgument: Int, count: Int) {
    endIndex = count
    self.firstArgument = firstArgument
    paths = []
  }

  subscript(position: Int) -> LocalPath {
    guard let firstArgument else { return paths[position] }
    precondition(position >= 0 && position < endIndex, "not one of the operands")
    return LocalPath(cString: shim_argument(Int32(firstArgument + position)))
  }
}

/// The arguments of the process.
enum CommandLineArguments {
  static var count: Int { Int(shim_argument_count()) }

  static func text(at index: Int) -> String { String(cString: shim_argument(Int32(index))) }

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
      options.append(GivenOption(option: option, argument: argument()))
    }
    let first = Int(shim_option_rest())
    return (options, Operands(firstArgument: first, count: count - first))
  }

  private static func option(_ value: Int32) throws(UsageError) -> Option {
    switch Int(value) {
    case SHIM_OPTION_UNKNOWN: throw UsageError("unknown option " + offender + "." + suggestion(for: offender))
    case SHIM_OPTION_NEEDS_VALUE: throw UsageError(offender + " needs a value.")
    case SHIM_OPTION_TAKES_NO_VALUE: throw UsageError(offender + " takes no value.")
    case Int(UInt8(ascii: "h")): return .help
    case Int(UInt8(ascii: "j")): return .jobs
    case Int(UInt8(ascii: "q")): return .quiet
    case Int(UInt8(ascii: "v")): return .verbose
    default:
      guard let option = Option(rawValue: value) else { preconditionFailure("an option that is not in the table") }
      return option
    }
  }

  private static func argument() -> LocalPath {
    guard let argument = shim_option_argument() else { return "" }
    return LocalPath(cString: argument)
  }

  private static func suggestion(for typed: String) -> String {
    let word = Array(typed.utf8.drop { $0 == UInt8(ascii: "-") })
    return Suggestion.nearest(to: word, among: OptionTable.all.map { $0.name }).map { " Did you mean --" + $0 + "?" }
      ?? ""
  }

  private static var offender: String { PrintableText.line(String(cString: shim_option_offender())) }
}

/// A copy that lives as long as the process.
func permanentCString(_ text: String) -> UnsafePointer<CChar> {
  let bytes = Array(text.utf8) + [0]
  let copy = UnsafeMutablePointer<CChar>.allocate(capacity: bytes.count)
  for (index, byte) in bytes.enumerated() { copy[index] = CChar(bitPattern: byte) }
  return UnsafePointer(copy)
}
