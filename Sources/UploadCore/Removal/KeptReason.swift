/// Why a delivered recording was kept on this machine, although it should have been removed. Contains no secrets.
package enum KeptReason: Error, Equatable, Sendable {
  // What is known about the delivery
  /// There is no record of it on the disk.
  case notRecorded
  /// The server is not GigHive, and cannot say later what it has.
  case serverCannotTell
  /// The server is not GigHive, and only a page confirms the delivery that anybody may have written.
  case unprovedPage
  /// The server has claimed to have what was never sent.
  case serverDoubtful
  /// The record lacks the SHA-256, or GigHive's number for it.
  case incompleteRecord
  /// GigHive was asked, and does not say that it still has it.
  case lacking(Absence)
  /// The server did not answer the question, and why.
  case unanswered(UploadError)
  /// The program was told to end.
  case interrupted

  // Who else needs the file
  /// An unfinished upload of the same file, created at this time (seconds since 1970). `isRenamed`: under another name.
  case needed(upload: String, destination: String, since: Int64, isRenamed: Bool)
  /// A later upload of another recording has its URL on the server, or may have.
  case replaced
  /// The watcher cannot tell now whether another of its sections needs it.
  case perhapsNeeded

  // The file
  /// It is not the content that was delivered, or there is no proof that it is.
  case changed
  /// Its status (ctime) has changed since it was compared.
  case statusChanged
  /// It was sent right after its last change, and its SHA-256 is not known.
  case unprovable
  /// It cannot be opened or read.
  case unreadable(FileError)
  /// Its status cannot be read.
  case noStatus(SystemError)
  /// It cannot be compared with what was delivered.
  case notComparable(UploadError)
  /// It is no longer at its path: it was renamed, moved or removed.
  case gone
  /// Its path is a symbolic link, or now leads to another file.
  case otherFile
  /// It has another hard link.
  case otherNames
  /// Another program has it open, or has just opened it.
  case open
  /// A program had it open for writing when it was opened to be sent, so that only its content proves what was sent.
  case beingWritten
  /// There is no way to tell whether another program has it open.
  case writersUnknown(SystemError)

  // Its removal
  /// The directory that it was to be moved into cannot be used.
  case unusableDirectory(LocalPath, SystemError)
  /// That directory is on another file system, or is reached through another mount.
  case otherFileSystem(LocalPath)
  /// In that directory its name is taken, and so are those with a number, or they are too long.
  case noFreeName(LocalPath)
  /// Another process is removing a recording.
  case busy
  /// The removal could not be noted in the state directory.
  case state(StateError)
  /// The file system cannot rename a file without replacing another one.
  case cannotRename
  /// The file system refused for a cause that may pass: it is full, so that not even a name can be changed, or read-only.
  case refusedNow(SystemError)
  /// The file system refused.
  case refused(SystemError)
  /// It was renamed, and could not be renamed back.
  case leftBehind(LocalPath, SystemError)
}

extension KeptReason {
  package init(neededBy upload: UploadRecord, _ delivered: UploadRecord) {
    self = .needed(
      upload: upload.id, destination: upload.destination.endpoint, since: upload.createdAt,
      isRenamed: upload.file.path != delivered.file.path)
  }

  /// Whether the server did not answer at all, so that it would not answer a question about another recording, either.
  package var isSilence: Bool { if case .unanswered(let error) = self { error.traits.isSilence } else { false } }

  /// Whether the cause is temporary, so that the removal is worth another attempt.
  package var isTemporary: Bool {
    switch self {
    case .lacking(let absence): absence == .cached
    case .unanswered, .interrupted, .needed, .perhapsNeeded, .statusChanged, .open, .beingWritten,
      .unusableDirectory, .otherFileSystem, .busy, .state, .refusedNow, .leftBehind:
      true
    case .notRecorded, .serverCannotTell, .unprovedPage, .serverDoubtful, .incompleteRecord, .changed, .unprovable,
      .unreadable, .noStatus, .notComparable, .gone,
      .replaced, .otherFile, .otherNames, .writersUnknown, .noFreeName, .cannotRename, .refused:
      false
    }
  }

  /// Whether the recording is not to be removed any more. One that has left its path can be found under another name.
  package var endsRemoval: Bool {
    switch self {
    case .gone, .otherFile: false
    default: !isTemporary
    }
  }
}
