/// Asks GigHive whether it still has a recording, before the file is removed from this machine: first its database, then, because a row can
/// outlive its file, for the file itself.
final class PresenceTask: UploadTask {
  private enum State: Sendable {
    case askingForRow
    case askingForFile(path: String, nonce: UInt64)
    /// nil: GigHive has it.
    case known(Absence?)
  }

  private let recording: StoredRecording
  private var random: SplitMix64
  private var state = State.askingForRow

  init(_ recording: StoredRecording, seed: UInt64) {
    self.recording = recording
    random = SplitMix64(state: seed)
  }

  override func next() -> TaskStep {
    switch state {
    case .askingForRow: .ask(GigHiveAPI.question(about: recording.assetID, at: recording.base))
    case .askingForFile(let path, let nonce):
      .ask(GigHiveAPI.questionAboutFile(at: path, nonce: nonce, base: recording.base))
    case .known(let absence): .finished(.examined(absence))
    }
  }

  override func receive(_ answer: Answer) throws(UploadError) {
    switch state {
    case .askingForRow: try judgeRow(answer)
    case .askingForFile: state = .known(try judgeFile(answer))
    case .known: break
    }
  }

  /// A redirect is followed with the address that it was for. Any other attempt has one of its own.
  override func interrupted(_ interruption: Interruption) -> RetrySafety {
    if case .redirected = interruption.error { return .allowed }
    if case .askingForFile(let path, _) = state { state = .askingForFile(path: path, nonce: random.next()) }
    return .allowed
  }

  private func judgeRow(_ answer: Answer) throws(UploadError) {
    switch Verdict.ofRecording(answer) {
    // 203 and 206 come from something in between, or are a part (RFC 9110, 15.3.4 and 15.3.7).
    case .gigHive(.recording(let checksum?, let size?, let path)) where answer.isFresh && answer.status == 200:
      let isSame = ASCII.lowercased(checksum) == recording.sha256 && size == recording.size
      if isSame, let path {
        state = .askingForFile(path: path, nonce: random.next())
      } else {
        state = .known(isSame ? .misnamed : .different)
      }
    case .gigHive(.recording) where !answer.isFresh, .gigHive(.absent) where !answer.isFresh: state = .known(.cached)
    case .gigHive(.absent): state = .known(.absent)
    case .gigHive, .tus, .somebodyElse: throw answer.noConfirmation
    }
  }

  /// A response to HEAD has no content to prove who sent it. Nobody else knows the length, and any other response keeps the file.
  private func judgeFile(_ answer: Answer) throws(UploadError) -> Absence? {
    switch answer.status {
    case 401, 403: return .hidden
    case _ where !answer.isFresh: return .cached
    case 200:
      guard let length = answer.fields.first("Content-Length").flatMap({ ASCII.decimal($0.utf8) }) else {
        throw answer.noConfirmation
      }
      return length == recording.size ? nil : .different
    case 404, 410: return .withoutFile
    default: throw answer.noConfirmation
    }
  }
}

extension Answer {
  fileprivate var noConfirmation: UploadError {
    if isSuccess { return .unconfirmed(status: status) }
    return status == 404 || status == 410 ? .notFromServer(status: status) : refusal
  }
}

/// A delivered recording that GigHive is asked about.
package struct StoredRecording: Equatable, Sendable {
  /// The server's base address.
  package let base: TargetURI
  /// GigHive's number for it.
  package let assetID: Int64
  /// In lower-case hexadecimal digits.
  package let sha256: String
  /// Bytes.
  package let size: Int64

  package init(base: TargetURI, assetID: Int64, sha256: String, size: Int64) {
    self.base = base
    self.assetID = assetID
    self.sha256 = sha256
    self.size = size
  }

  /// nil if the server gave it no number, or its SHA-256 is not known.
  package init?(_ record: UploadRecord) {
    guard let delivery = record.delivery, let base = try? TargetURI(record.destination.endpoint),
      let assetID = delivery.assetID, let sha256 = delivery.sha256
    else { return nil }
    self.init(base: base, assetID: assetID, sha256: sha256, size: record.file.identity.size)
  }
}

/// Why it is not certain that GigHive still has a delivered recording: the same SHA-256, the same size, and a file of that size.
package enum Absence: Equatable, Sendable {
  /// It has no such recording, or no longer.
  case absent
  /// It has something else under that number, or a file of another size.
  case different
  /// Its database has the recording, but its file is gone.
  case withoutFile
  /// Its database has the recording, and names the file by something else than its SHA-256 and an extension.
  case misnamed
  /// Its database has the recording, but these credentials may not look at the file.
  case hidden
  /// A cache answered instead of GigHive.
  case cached
}
