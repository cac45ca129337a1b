import UploadCore

extension StateError {
  /// The message without advice.
  var problem: String {
    switch self {
    case .unusable(let path, let error):
      "the state directory cannot be used: " + PrintableText.line(path.text) + ": " + error.text + "."
    case .locked(let path):
      "the state directory cannot be used: another process has locked " + PrintableText.line(path.text) + "."
    case .notRegular(let path):
      "the state directory cannot be used: " + PrintableText.line(path.text) + " is not a regular file."
    case .unsupportedVersion(let path):
      PrintableText.line(path.text) + " " + reason + "; use that version, or remove the file."
    case .noDirectory: "there is no home directory to keep upload records in."
    case .noSuchRecord(let id): "there is no upload \"" + PrintableText.line(id) + "\"."
    case .ambiguousID(let id):
      "several uploads start with \"" + PrintableText.line(id) + "\"; give more of the ID."
    }
  }

  /// Why a record is skipped, as text that follows its path.
  var reason: String {
    switch self {
    case .unsupportedVersion: "was written by another version of this software"
    case .unusable, .locked, .notRegular, .noDirectory, .noSuchRecord, .ambiguousID: "cannot be read"
    }
  }
}
