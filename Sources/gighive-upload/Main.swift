import CShims
import Uploader

@main
struct Main {
  static func main() {
    takeOverProcess()
    do throws(UsageError) {
      shim_exit(Console.finish(try run()))
    } catch {
      Console.error("gighive-upload: " + error.message + "\nSee gighive-upload help" + topic + ".\n")
      shim_exit(Console.finish(ExitCode.usage))
    }
  }

  /// What to ask the help for after a usage error.
  private static var topic: String {
    guard CommandLineArguments.count > 1 else { return "" }
    return Command(rawValue: CommandLineArguments.text(at: 1)).map { " " + $0.rawValue } ?? ""
  }

  /// Makes all changes to the process as a whole, before anything is opened or allocated. The library makes none.
  private static func takeOverProcess() {
    shim_keep_standard_streams()
    Console.open()
    shim_report_traps()
    shim_ignore_file_size_signal()
    shim_forbid_core_dumps()
    shim_use_etc_tz()
    shim_openssl_take_over()
    shim_use_built_in_name_services()
  }

  private static func run() throws(UsageError) -> Int32 {
    guard CommandLineArguments.count > 1 else {
      Console.error(Help.overview(on: 2))
      return ExitCode.usage
    }
    let word = CommandLineArguments.text(at: 1)
    if let command = Command(rawValue: word) { return try run(command) }
    switch word {
    case "version", "--version", "-V":
      return CommandLineArguments.isHelp(at: 2) ? try help() : try Version.run()
    case "help", "--help", "-h":
      return try help()
    default:
      throw unknown(word)
    }
  }

  private static func run(_ command: Command) throws(UsageError) -> Int32 {
    let (given, operands, isBrief) = try CommandLineArguments.parse(for: command)
    if given.contains(where: { $0.option == .help }) {
      Console.out(Help.of(command, isBrief: isBrief))
      return ExitCode.delivered
    }
    func options() throws(UsageError) -> [GivenOption] {
      let options = try ConfiguredOptions.options(with: given, for: command)
      MemoryCeiling.prepare(isJSON: options.has(.json))
      StateOwner.become(for: try CommonArguments(options))
      return options
    }
    switch command {
    case .send: return try Send.run(try SendArguments(options: try options(), files: operands))
    case .resume: return try Resume.run(try options(), operands)
    case .list: return try List.run(try options(), operands)
    case .forget, .prune: return try Forget.run(command, try options(), operands)
    case .clean: return try Clean.run(try options(), operands)
    case .doctor: return try Doctor.run(try DoctorArguments(options: try options(), operands: operands))
    // Each directory has its own options.
    case .watch: return try Watch.run(given, operands)
    case .status: return try Status.run(try options(), operands)
    case .cancel, .delete: return try CancelDelete.run(command, try options(), operands)
    }
  }

  private static func help() throws(UsageError) -> Int32 {
    let hasTopic = CommandLineArguments.count > 2 && !CommandLineArguments.isHelp(at: 2)
    let topic = hasTopic ? CommandLineArguments.text(at: 2) : ""
    if topic == "--table" {
      Console.out(Help.table())
    } else if let command = Command(rawValue: topic) {
      Console.out(Help.of(command, isBrief: false))
    } else if topic.isEmpty || Help.commands.contains(topic) {
      Console.out(Help.overview())
    } else {
      throw unknown(topic)
    }
    return ExitCode.delivered
  }

  private static func unknown(_ command: String) -> UsageError {
    let names = Help.commands + (command.utf8.count > 2 ? ["--help", "--version"] : [])
    return UsageError(
      "unknown command \"" + PrintableText.line(command) + "\"."
        + Suggestion.question(about: command.utf8, among: names))
  }
}
