import CShims
import UploadCore

/// What is wrong with the state directory or a record in it.
public enum StateError: Error, Equatable, Sendable {
  /// A file or directory cannot be made, read or written.
  case unusable(FilePath, SystemError)
  /// Another version of this program wrote the record.
  case foreign(FilePath)
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
    case .foreign(let path): PrintableText.line(path.text) + " " + reason + "; use that one, or remove the file."
    case .noDirectory: "there is no home directory to keep the upload's state in; name one with --state-dir."
    case .noSuchRecord(let id):
      "there is no upload \"" + PrintableText.line(id) + "\"; gighive-upload list shows them."
    case .ambiguousID(let id):
      "several uploads begin with \"" + PrintableText.line(id) + "\"; give more of the ID."
    }
  }

  /// Why a record is left alone, to be said after its path.
  var reason: String {
    if case .foreign = self { return "was written by another version of gighive-upload" }
    return "cannot be read"
  }
}
