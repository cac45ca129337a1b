import Uploader

/// The program that a simulated process runs: what `Main` does with its arguments.
enum Program {
  static func run() -> Int32 {
    do throws(UsageError) {
      return Console.finish(try command())
    } catch {
      Console.error("gighive-upload: " + error.message + "\n")
      return ExitCode.usage
    }
  }

  private static func command() throws(UsageError) -> Int32 {
    guard let command = Command(rawValue: CommandLineArguments.text(at: 1)) else { return ExitCode.usage }
    let (given, operands, _) = try CommandLineArguments.parse(for: command)
    if command == .watch { return try Watch.run(given, operands) }
    let options = try ConfiguredOptions.options(with: given, for: command)
    return command == .clean
      ? try Clean.run(options, operands) : try Send.run(try SendArguments(options: options, files: operands))
  }
}
