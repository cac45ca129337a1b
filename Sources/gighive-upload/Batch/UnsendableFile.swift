import Uploader

/// Why a file is refused before anything is sent.
enum UnsendableFile: Error {
  /// What describes it has an error, or cannot be read. The message has the name of the file.
  case undescribed(message: String, exitCode: Int32, again: Reattempt)
  /// The file itself is not there, or cannot be examined.
  case absent(LocalPath, FileError)

  /// The description of the file has an error.
  init(_ file: LocalPath, _ error: UsageError) {
    self = .undescribed(
      message: PrintableText.line(file.lastComponent) + ": " + error.message, exitCode: ExitCode.usage, again: .rarely)
  }

  /// A file beside it cannot be read.
  init(_ file: LocalPath, _ other: String, _ error: SystemError) {
    self = .undescribed(
      message: PrintableText.line(file.lastComponent) + ": " + other + " cannot be read: " + error.text + ".",
      exitCode: ExitCode.inputFile, again: .soon)
  }

  var message: String {
    switch self {
    case .undescribed(let message, _, _): message
    case .absent(let file, let error): UploadError.file(file, error).message
    }
  }
}
