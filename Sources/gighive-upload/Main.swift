import CShims
import Uploader

@main
struct Main {
  static func main() {
    shim_report_traps()
    do throws(UsageError) {
      shim_exit(try run())
    } catch {
      Console.error("gighive-upload: " + error.message + " See gighive-upload help.\n")
      shim_exit(ExitCode.usage)
    }
  }

  private static func run() throws(UsageError) -> Int32 {
    guard CommandLineArguments.count > 1 else {
      Console.error(Help.overview)
      return ExitCode.usage
    }
    let command = CommandLineArguments.text(at: 1)
    switch command {
    case "send":
      let (options, files) = try CommandLineArguments.parse(from: 2)
      let arguments = try SendArguments(options: options, files: files)
      if arguments.wantsHelp {
        Console.out(Help.send())
        return ExitCode.delivered
      }
      return try Send.run(arguments)
    case "version", "--version", "-V":
      Console.out("gighive-upload " + version)
      return ExitCode.delivered
    case "help", "--help", "-h":
      return try help()
    default:
      throw unknown(command)
    }
  }

  private static func help() throws(UsageError) -> Int32 {
    let topic = CommandLineArguments.count > 2 ? CommandLineArguments.text(at: 2) : ""
    switch topic {
    case "send": Console.out(Help.send())
    case "", "version", "help": Console.out(Help.overview)
    default: throw unknown(topic)
    }
    return ExitCode.delivered
  }

  private static func unknown(_ command: String) -> UsageError {
    let nearest = Suggestion.nearest(to: Array(command.utf8), among: Help.commands)
    let suggestion = nearest.map { " Did you mean " + $0 + "?" } ?? ""
    return UsageError("there is no command \"" + PrintableText.line(command) + "\"." + suggestion)
  }
}
