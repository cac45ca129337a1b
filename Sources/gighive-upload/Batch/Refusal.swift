import Uploader

/// Why a file is not sent, before anything is tried.
struct Refusal: Error {
  /// With the name of the file.
  let message: String
  let exitCode: Int32

  /// Something is wrong with what was said about the file.
  init(_ file: LocalPath, _ error: UsageError) {
    message = PrintableText.line(file.lastComponent) + ": " + error.message
    exitCode = ExitCode.usage
  }

  /// A file beside it cannot be read.
  init(_ file: LocalPath, _ other: String, _ error: SystemError) {
    message = PrintableText.line(file.lastComponent) + ": " + other + " cannot be read: " + error.text + "."
    exitCode = ExitCode.inputFile
  }
}
