import UploadCore

extension KeptReason {
  /// Why the file is kept, as a sentence without its capital letter.
  package var text: String {
    switch self {
    case .notRecorded: "its delivery was not recorded on disk."
    case .serverCannotTell: "the server is not GigHive and cannot confirm that it still has it."
    case .unprovedPage:
      "only a web page confirmed its delivery, and nothing proves that the server wrote it. Without https, and with"
        + " --insecure, it may be a login page of the network."
    case .serverDoubtful: "the server has claimed to have what was never sent to it."
    case .incompleteRecord:
      "its asset number or SHA-256 is unknown, so the server cannot confirm that it still has it."
    case .absent: "GigHive no longer has it."
    case .different: "GigHive has different content under its asset number."
    case .withoutFile: "GigHive still lists it, but no longer has its file."
    case .misnamed: "GigHive does not name its file by its SHA-256, so nothing shows that it has the file."
    case .hidden: "GigHive lists it, but does not let these credentials look at its file."
    case .unanswered(let error): "the server did not confirm that it still has it: " + error.problem
    case .interrupted: "interrupted before the server confirmed that it still has it."
    case .needed(let upload, let destination, let since):
      "its upload " + upload + " to " + PrintableText.withoutQuery(destination) + ", begun "
        + DurationText.moment(since) + ", is not finished."
    case .changed: "it has changed since its delivery, or is a different file."
    case .unreadable(let error): error.message(of: "it")
    case .noStatus(let error): "it cannot be checked: " + error.text + "."
    case .notComparable(let error): "it cannot be checked: " + error.problem
    case .gone: "it was renamed, moved or removed in the meantime."
    case .otherFile: "its path is a link, or now points to another file."
    case .otherNames: "it has other hard links."
    case .open: "another program has it open."
    case .beingWritten:
      "a program had it open for writing while it was sent, so it is compared with what was sent first."
    case .writersUnknown(let error): "the system cannot tell whether another program has it open: " + error.text + "."
    case .unusableDirectory(let path, let error): PrintableText.line(path.text) + ": " + error.text + "."
    case .otherFileSystem(let path):
      PrintableText.line(path.text) + " is on another file system or mount; recordings are moved, never copied."
    case .noFreeName(let path): PrintableText.line(path.text) + " has too many files with that name."
    case .busy: "another process is removing a recording."
    case .state(let error): error.problem
    case .cannotRename: "its file system cannot rename a file without overwriting another one."
    case .noSpace(let error), .refused(let error): "it could not be removed: " + error.text + "."
    case .leftBehind(let path, let error):
      "it is now " + PrintableText.line(path.text) + ", because it could not be renamed back: " + error.text
        + ". The next run tries again."
    }
  }
}
