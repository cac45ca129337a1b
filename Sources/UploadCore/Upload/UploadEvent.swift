/// What happens to an upload.
package enum UploadEvent: Equatable, Sendable {
  /// The oldest request under way was answered.
  case answered(Answer)
  /// No answer will come to the requests under way.
  case interrupted(Interruption)
  /// The range that was to be hashed has been.
  case hashed(HashedRange)
  /// The file's status has changed since it was opened, and neither its size nor its modification time.
  case touched(Touch)
  /// Credentials were looked for: are there others than those that were refused?
  case credentials(areNew: Bool)
  /// Something on this side failed, such as the file or the record, and ends the upload.
  case failed(UploadError)
}

/// How the requests under way ended without an answer.
package struct Interruption: Equatable, Sendable {
  package let error: UploadError
  /// How much of the oldest request's content may have gone out.
  package let sent: ContentSent
  /// Bytes of the content of all requests under way that the other side has acknowledged at least.
  package let arrived: Int64
  package let connection: Freshness

  /// Can it be that the server had closed the connection before the request came?
  package enum Freshness: Equatable, Sendable {
    /// No: it was made for the request, or the answer had begun.
    case fresh
    /// It had been used before, and nothing came back for this request. `isUntouched`: little had gone out.
    case used(isUntouched: Bool)
    /// It has, and said so in its answer to the request before.
    case announced
  }

  package init(
    _ error: UploadError, sent: ContentSent = .none, arrived: Int64 = 0, connection: Freshness = .fresh
  ) {
    self.error = error
    self.sent = sent
    self.arrived = arrived
    self.connection = connection
  }
}

/// A part of the file to be hashed.
package enum HashRange: Equatable, Sendable {
  /// SHA-256 of the whole file; what was hashed while it was sent is not read again.
  case wholeFile
  /// A checksum of one range, in bytes.
  case range(TusOffer.ChecksumAlgorithm, offset: Int64, length: Int64)
  /// SHA-256 of the whole file as it is now, beside that of what was sent, while the end of the file is held back.
  case wholeFileAgain
}

/// What hashing gave.
package enum HashedRange: Equatable, Sendable {
  /// In lower-case hexadecimal digits. `isSteady`: was the file left alone while the rest of it was read?
  case wholeFile(sha256: String, isSteady: Bool = true)
  /// In base 64.
  case range(checksum: String)
  /// In lower-case hexadecimal digits. `isSteady`: was the file left alone meanwhile?
  case wholeFileAgain(sent: String, now: String, isSteady: Bool)
}

/// What is to be done next for an upload.
package enum UploadAction: Equatable, Sendable {
  /// Send the request. While another one is under way: behind it on the same connection (RFC 9112, 9.3.2).
  case send(Request, over: ConnectionChoice)
  case hash(HashRange)
  /// Write the change into the upload's record, so that it survives a power cut, before anything else is done.
  case save(RecordChange)
  /// Look for credentials other than those that were refused.
  case renewCredentials
  /// A try has failed; tell that another one follows.
  case tell(Retry)
  /// The server speaks no tus: tell that the recording goes as a form.
  case tellOfForm
  case wait(untilMilliseconds: Int64)
  /// Nothing, before the next event.
  case await
  case finished(Outcome)
  case failed(UploadError)
}

/// Over which connection a request goes.
package enum ConnectionChoice: Equatable, Sendable {
  /// One that is open from before, if there is one that its server has promised or at least not ended; otherwise a new one.
  case kept
  /// One that its server has promised to keep open (`Connection: keep-alive`), or a new one.
  case keptIfPromised
  /// A new one, now and for all requests to this origin: its server closes connections without saying so.
  case fresh
}

/// Another try that is about to be made.
public struct Retry: Equatable, Sendable {
  /// What the last try ended with.
  public let error: UploadError
  /// How many tries have failed since the last progress.
  public let failures: Int64
  /// How long is waited before the next try, in milliseconds.
  public let delayMilliseconds: Int64

  package init(error: UploadError, failures: Int64, delayMilliseconds: Int64) {
    self.error = error
    self.failures = failures
    self.delayMilliseconds = delayMilliseconds
  }
}

/// What an upload, or the removal of one, came to.
package enum Outcome: Equatable, Sendable {
  case delivered(Receipt, SentFile, resumedFrom: Int64)
  /// The upload has ended. `isKept`: the server ends no uploads, and keeps what it has until that expires.
  case cancelled(isKept: Bool)
  /// The recording is not on the server any more.
  case deleted
}
