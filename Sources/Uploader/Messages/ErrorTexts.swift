import UploadCore

extension UploadPhase {
  /// "while connecting"
  var text: String {
    switch self {
    case .resolving: "while resolving the name"
    case .connecting: "while connecting"
    case .tunnelling: "while the proxy was connecting"
    case .handshaking: "during the TLS handshake"
    case .sending: "while sending"
    case .awaitingConfirmation, .awaitingAnswer: "while waiting for the response"
    case .delivering: "as a whole"
    }
  }
}

extension EventFormError {
  package var message: String {
    switch self {
    case .missingLabel: "the recording needs a label."
    case .invalidEventDate(let text):
      "\"" + PrintableText.line(text) + "\" is not a date; use YYYY-MM-DD, such as 2026-11-20."
    case .unknownToday: "the date of the event is not known."
    case .tooLong(let field, let count, let limit):
      "the " + field + " has " + String(count) + " characters; GigHive takes at most " + String(limit) + "."
    case .invalidRating(let text):
      "\"" + PrintableText.line(text) + "\" is not a rating; GigHive takes only digits, such as 5."
    case .unknownEventType(let text):
      "GigHive has no event type \"" + PrintableText.line(text) + "\"; use band or wedding."
    }
  }
}

extension FormDataError {
  var message: String {
    switch self {
    case .fieldsTooLong(let limit): "the form fields exceed the total limit of " + String(limit) + " bytes."
    case .invalidMediaType(let text): "\"" + PrintableText.line(text) + "\" is not a media type."
    }
  }
}

extension RequestHeadError {
  var message: String {
    switch self {
    case .invalidField(let name): "the header field " + name + " contains a line break or control character."
    case .tooLong(let limit): "the request headers exceed the limit of " + String(limit) + " bytes."
    case .header(let error): error.message
    case .noKeys: "there are no keys to sign a request to an S3 server with."
    case .metadataTooLong(let limit): "the metadata exceeds the total limit of " + String(limit) + " bytes."
    }
  }
}

extension CustomFieldError {
  package var message: String {
    switch self {
    case .noColon: "a header field needs a name, a colon and a value, such as X-Team: sound."
    case .invalidName: "the name of a header field can contain only letters, digits and !#$%&'*+-.^_`|~."
    case .invalidValue(let name):
      "the value of the header field " + name + " contains a control character, such as a line break, or is not UTF-8."
    case .reserved(let name): "the header field " + name + " is part of the protocol and cannot be set."
    case .secret(let name): "the header field " + name + " holds a secret and belongs to the credentials."
    case .repeated(let name): "the header field " + name + " is given twice."
    case .tooLong(let limit): "the header fields exceed the total limit of " + String(limit) + " bytes."
    }
  }
}

extension FileError {
  /// - Parameter name: of the file, or a pronoun for it.
  func message(of name: String) -> String {
    name + " " + predicate
  }

  /// What follows the name of the file.
  private var predicate: String {
    switch self {
    case .missing: "does not exist."
    case .removed: "was removed while it was being made, so it is not delivered (live-deleted)."
    case .gone: "is gone: it was removed or renamed. Nothing was sent."
    case .waitingForMedium:
      "is not available: its drive or card is not mounted, or its directory was removed. Nothing was sent."
    case .unreadable(let error): "cannot be read: " + error.text + "."
    case .notRegular(let kind): "is " + kind + ", not a regular file."
    case .empty: "is empty; there is nothing to send."
    case .tooLarge(let size, let limit):
      "has " + SizeText.exact(size) + ", more than the limit of " + SizeText.exact(limit) + "."
    case .readFailed(let offset, let error): "could not be read at byte " + String(offset) + ": " + error.text + "."
    case .shrank(let from, let to):
      "shrank while it was being sent, from " + SizeText.exact(from) + " to " + SizeText.exact(to)
        + ". Nothing was delivered; send it again when it is finished."
    case .grew(let from, let to):
      "grew while it was being sent, from " + SizeText.exact(from) + " to " + SizeText.exact(to)
        + ". Nothing was delivered; send it again when it is finished."
    case .statusChanged:
      "has changed: its permissions or links changed while it was being sent, and without a SHA-256 nothing shows that its"
        + " content did not. Nothing was delivered."
    case .rewritten: "changed while it was being sent. Nothing was delivered; send it again when it is finished."
    case .changedInTransit:
      "changed while its last bytes were in transit, so the server may have a mix of old and new content. Check the"
        + " server, and send the file again when it is finished."
    case .unsettled(let reason): reason.predicate + " Nothing was sent."
    }
  }
}

extension UnsettledFile {
  fileprivate var predicate: String {
    switch self {
    case .changed: "has changed since it was found."
    case .beingWritten: "is being written."
    case .unknown(let error): "cannot be examined now: " + error.text + "."
    }
  }
}

extension UploadError.RedirectionProblem {
  var text: String {
    switch self {
    case .loginPage: "a login page."
    case .leavesTLS: "which is not encrypted. Nothing was sent there."
    case .circle: "and the redirects form a loop."
    case .tooMany(let limit): "and there were more than " + String(limit) + " redirects."
    case .noAddress: "which is not a valid address."
    }
  }
}

extension FileChange {
  var text: String {
    switch self {
    case .size(let from, let to): "it had " + SizeText.exact(from) + " and now has " + SizeText.exact(to)
    case .content: "its first or last bytes differ"
    case .modificationTime: "its modification time differs"
    }
  }
}

extension ResponseError {
  var message: String {
    switch self {
    case .notHTTP: "it is not HTTP/1.1 (check the port, and whether the server expects http or https)"
    case .headTooLong(let limit): "its header is longer than " + String(limit) + " bytes"
    case .tooManyFields(let limit): "it has more than " + String(limit) + " header fields"
    case .tooManyInterimResponses(let limit):
      "more than " + SizeText.exact(Int64(limit)) + " of interim responses came before it"
    case .invalidField: "it has a malformed header field"
    case .invalidContentLength: "its Content-Length is invalid or contradictory"
    case .unsupportedTransferEncoding: "it uses a transfer coding other than chunked"
    case .invalidChunk: "its chunked coding is malformed"
    case .trailerTooLong(let limit): "its trailer is longer than " + String(limit) + " bytes"
    case .unexpectedUpgrade: "it switches to another protocol without being asked"
    case .incomplete: "the connection was closed before it was complete"
    }
  }
}

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

extension TLSError {
  /// The message without advice.
  func problem(host: String) -> String {
    switch self {
    case .certificate(_, let reason), .chain(_, let reason):
      "the certificate of " + host + " was rejected: " + reason + "."
    case .pinMismatch(let actual):
      "the key of " + host + " does not match the pin; it is " + actual + "."
    case .handshake(let reason): "TLS with " + host + " failed: " + reason + "."
    case .alert(_, let words): "TLS with " + host + " failed: the server says: " + words + "."
    case .closedDuringHandshake:
      "TLS with " + host + " failed: the server closed the connection during the handshake."
    case .broken(let reason): "the TLS connection to " + host + " broke: " + reason + "."
    case .truncated: "the TLS connection to " + host + " was cut off in the middle of the response."
    case .unusableFile(let path, let reason): PrintableText.line(path) + " cannot be used for TLS: " + reason + "."
    case .unusablePin(let pin):
      "\"" + PrintableText.line(pin) + "\" is not a pin; use sha256// followed by the Base64 of the key's SHA-256."
    case .outOfMemory: "not enough memory for TLS."
    }
  }
}

extension TusError {
  /// The message without advice.
  var problem: String {
    switch self {
    case .notSupported(let status):
      "the server does not speak tus here (" + String(status) + "). Check the address."
    case .versionNotSupported(let offered) where TusError.lists(offered):
      "the server speaks tus " + offered + ", but did not see that the request does, too: something in front of it"
        + " removes the header field Tus-Resumable. Let the field through there."
    case .versionNotSupported(let offered):
      "the server speaks " + (offered.isEmpty ? "another version of tus" : "tus " + offered) + ", not 1.0.0."
    case .tooLarge(let size, let limit):
      "the file has " + SizeText.exact(size) + ", but the server accepts at most " + SizeText.exact(limit) + "."
    case .invalidMetadataKey(let key):
      "\"" + key + "\" is not a valid metadata name in tus; use visible ASCII without commas."
    case .noLocation: "the server created the upload but did not say where (no Location)."
    case .unusableLocation(let text):
      "the server created the upload at " + text + ", which is not a usable address."
    case .offsetBeyond(let sent, let acknowledged):
      "the server claims to have " + SizeText.exact(acknowledged) + ", but was sent only " + SizeText.exact(sent)
        + ". Send the file again."
    case .startsOver(.offsetBeyond(let sent, let acknowledged)):
      "the server claims to have " + SizeText.exact(acknowledged) + " of an upload of which it was sent at most "
        + SizeText.exact(sent) + ". The file is sent again from its start."
    case .startsOver(.noOffset(let status)):
      "the server answered " + String(status) + " without saying how much it has of an earlier attempt (no"
        + " Upload-Offset). The file is sent again from its start."
    case .lengthTruncated(let length, let stated):
      "the server keeps the length of the upload as " + String(stated) + " instead of " + String(length)
        + " bytes: it cannot take files of this size."
    case .lengthDiffers(let length, let stated):
      "the upload is for a file of " + SizeText.exact(stated) + ", but this one has " + SizeText.exact(length)
        + ". Nothing was sent."
    case .createdForAnother(let offset):
      "the server has " + SizeText.exact(offset) + " of this upload, and nothing shows that they are of this file."
    case .createdUploadGone: "the server does not know this upload: it may have expired, or be complete."
    case .cachedOffset:
      "a cache in front of the server repeats an old offset. It must not keep responses for the tus address."
    case .noOffset(let status):
      "the server answered " + String(status) + " without saying how much it has (no Upload-Offset)."
    case .nothingStored(let offset):
      "the server accepts data but does not store it: it still has " + SizeText.exact(offset) + "."
    case .checksumMismatch(let offset):
      "the data sent at byte " + String(offset) + " was damaged in transit (checksum mismatch)."
    case .locked: "the server has locked the upload for another request. Try again later."
    case .interrupted:
      "the server did not get the whole request: a lost connection or another request interrupted it."
    case .requestsStopped(let milliseconds):
      "a proxy in front of the server stops each request after about " + DurationText.rough(milliseconds)
        + " and keeps nothing of it."
    case .unproved(let status): UploadError.notFromServer(status: status).problem
    case .refused(let method, let status):
      "the server, or a proxy in front of it, does not accept " + method + " (" + String(status) + ")."
    case .contentRefused(let offset, let status):
      "the content at byte " + String(offset) + " was refused (" + String(status) + "), although earlier parts were"
        + " accepted: a content filter in front of the server, such as a web application firewall."
    }
  }

  /// Whether the versions that a server offers, separated by commas, include the one that is used here.
  private static func lists(_ versions: String) -> Bool {
    [Field("Tus-Version", versions)].listMembers(of: "Tus-Version").contains(TusFields.version)
  }
}

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
    case .lacking(.absent): "GigHive no longer has it."
    case .lacking(.different): "GigHive has different content under its asset number."
    case .lacking(.withoutFile): "GigHive still lists it, but no longer has its file."
    case .lacking(.misnamed): "GigHive does not name its file by its SHA-256, so nothing shows that it has the file."
    case .lacking(.hidden): "GigHive lists it, but does not let these credentials look at its file."
    case .lacking(.cached): "a cache in front of GigHive answered, which may not know what GigHive has now."
    case .unanswered(let error): "the server did not confirm that it still has it: " + error.problem
    case .interrupted: "interrupted before the server confirmed that it still has it."
    case .needed(let upload, let destination, let since, let isRenamed):
      "its upload " + upload + " to " + PrintableText.withoutSecrets(destination) + ", begun "
        + DurationText.moment(since) + (isRenamed ? " under another name" : "") + ", is not finished."
    case .replaced: "a later upload was to put another recording in its place on the server."
    case .perhapsNeeded: "another section of the configuration cannot tell now whether it needs it."
    case .changed: "it has changed since its delivery, or is a different file."
    case .statusChanged: "its status has changed meanwhile, so it must first be compared with what was sent."
    case .unprovable:
      "nothing proves that it is what was delivered: it had just been changed when it was sent, and no SHA-256 is known."
    case .unreadable(let error): error.message(of: "it")
    case .noStatus(let error): "it cannot be checked: " + error.text + "."
    case .notComparable(let error): "it cannot be checked: " + error.problem
    case .gone: "it was renamed, moved or removed in the meantime."
    case .otherFile: "its path is a link, or now points to another file."
    case .otherNames: "it has other hard links."
    case .open: "another program has it open."
    case .beingWritten:
      "a program had it open for writing while it was sent, so it must first be compared with what was sent."
    case .writersUnknown(let error): "the system cannot tell whether another program has it open: " + error.text + "."
    case .unusableDirectory(let path, let error): PrintableText.line(path.text) + ": " + error.text + "."
    case .otherFileSystem(let path):
      PrintableText.line(path.text) + " is on another file system or mount; recordings are moved, never copied."
    case .noFreeName(let path):
      "its name is taken in " + PrintableText.line(path.text) + ", and so is each with a number, or that is too long."
    case .busy: "another process is removing a recording."
    case .state(let error): error.problem
    case .cannotRename: "its file system cannot rename a file without overwriting another one."
    case .refusedNow(let error), .refused(let error): "it could not be removed: " + error.text + "."
    case .leftBehind(let path, let error):
      "it is now " + PrintableText.line(path.text) + ", because it could not be renamed back: " + error.text
        + ". The next run tries again."
    }
  }
}

extension UploadWay {
  var text: String {
    switch self {
    case .tus: "the server does not take such a large form; sending over tus"
    case .form: "no tus on this server; sending as multipart"
    case .parts: "packets are lost; sending from the start in parts, over several connections"
    }
  }
}

extension UploadWarning {
  /// - Parameter isNoted: whether what is left on the server is deleted by a later run.
  func text(of file: LocalPath, isNoted: Bool) -> String {
    switch self {
    case .otherFile:
      PrintableText.line(file.text)
        + " is not the file that was sent in part, or nothing proves that it is. It is sent again from the start."
    case .partsLeft(let targets, let fate):
      "The server has not deleted parts of " + PrintableText.line(file.text) + " that are no longer needed: "
        + PrintableText.line(targets[0].text) + (targets.count > 1 ? " and " + String(targets.count - 1) + " more" : "")
        + ". "
        + (fate == .recorded
          ? "`gighive-upload cancel` with the ID of the upload tries again."
          : isNoted
            ? "The next `send` or `watch` to this server tries again."
            : "They can stay there, and cost money, until a rule of the server deletes them.")
    case .notJoined(let error):
      "The server does not join the parts of " + PrintableText.line(file.text) + ", which is sent again: "
        + error.problemWithoutAdvice
    }
  }
}
