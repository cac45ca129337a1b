import Uploader

/// Why a file is refused before anything is sent.
struct UnsendableFile: Error {
  /// With the name of the file.
  let message: String
  let exitCode: Int32
  let again: Reattempt

  /// The description of the file has an error.
  init(_ file: LocalPath, _ error: UsageError) {
    message = PrintableText.line(file.lastComponent) + ": " + error.message
    exitCode = ExitCode.usage
    again = .rarely
  }

  /// A file beside it cannot be read.
  init(_ file: LocalPath, _ other: String, _ error: SystemError) {
    message = PrintableText.line(file.lastComponent) + ": " + other + " cannot be read: " + error.text + "."
    exitCode = ExitCode.inputFile
    again = .soon
  }
}
