import UploadCore

extension KeptReason {
  /// Why the file is kept, as a sentence without its capital letter.
  package var text: String {
    switch self {
    case .notRecorded: "there is no record of its delivery on the disk."
    case .serverCannotTell: "the server is not GigHive, so it cannot be asked whether it still has it."
    case .incompleteRecord:
      "the server gave it no number, or its SHA-256 is not known, so the server cannot be asked about it."
    case .absent: "GigHive no longer has it."
    case .different: "GigHive has something else under its number."
    case .unanswered(let problem): "it is not certain that the server still has it: " + problem
    case .interrupted: "interrupted before it was certain that the server still has it."
    case .changed: "it has changed since it was delivered, or is not the same file."
    case .unreadable(let problem): "it cannot be examined: " + problem
    case .otherFile: "its path is a link, or now leads to another file."
    case .otherNames: "it has another name (hard link)."
    case .open: "another program has it open."
    case .writersUnknown(let error): "there is no way to tell whether another program has it open: " + error.text + "."
    case .unusableDirectory(let path, let error): PrintableText.line(path.text) + ": " + error.text + "."
    case .otherFileSystem(let path):
      PrintableText.line(path.text) + " is on another file system; a recording is never copied."
    case .noFreeName(let path): PrintableText.line(path.text) + " has too many files of that name."
    case .busy: "another process is removing a recording."
    case .state(let problem): problem
    case .cannotRename: "its file system cannot rename a file without replacing another one."
    case .refused(let error): error.text + "."
    case .leftBehind(let path, let error):
      "it is now " + PrintableText.line(path.text) + ", because it could not be renamed back: " + error.text
        + ". The next run tries again."
    }
  }
}
