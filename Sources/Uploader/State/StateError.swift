import CShims
import UploadCore

/// What is wrong with the state directory or a record in it.
public enum StateError: Error, Equatable, Sendable {
  /// A file or directory cannot be made, read or written.
  case unusable(FilePath, SystemError)
  /// There is no home directory to keep records below.
  case noDirectory
  /// No record has an ID that begins like this.
  case noSuchRecord(String)
  /// Several records have an ID that begins like this.
  case ambiguousID(String)

  var message: String {
    switch self {
    case .unusable(let path, let error):
      "the state directory cannot be used: " + PrintableText.line(path.text) + ": " + error.text
        + ". Name another one with --state-dir."
    case .noDirectory: "there is no home directory to keep the upload's state in; name one with --state-dir."
    case .noSuchRecord(let id):
      "there is no upload \"" + PrintableText.line(id) + "\"; gighive-upload list shows them."
    case .ambiguousID(let id):
      "several uploads begin with \"" + PrintableText.line(id) + "\"; give more of the ID."
    }
  }
}
