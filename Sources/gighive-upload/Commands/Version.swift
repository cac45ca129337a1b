import CShims
import Uploader

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
