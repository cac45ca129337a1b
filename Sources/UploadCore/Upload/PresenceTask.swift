/// Asks GigHive whether it still has a recording, before the file is removed from this machine: first its database, then, because a row can
/// outlive its file, for the file itself.
struct PresenceTask: Sendable {
  private enum State: Sendable {
    case askingForRow
    case askingForFile(path: String, nonce: UInt64)
    case known(Presence)
  }

  private let recording: StoredRecording
  private var random: SplitMix64
  private var state = State.askingForRow

  init(_ recording: StoredRecording, seed: UInt64) {
    self.recording = recording
    random = SplitMix64(state: seed)
  }

  func next() -> TaskStep {
    switch state {
    case .askingForRow: .ask(GigHiveAPI.question(about: recording.assetID, at: recording.base))
    case .askingForFile(let path, let nonce):
      .ask(GigHiveAPI.questionAboutFile(at: path, nonce: nonce, base: recording.base))
    case .known(let presence): .finished(.examined(presence))
    }
  }

  mutating func receive(_ answer: Answer) throws(UploadError) {
    switch state {
    case .askingForRow: try judgeRow(answer)
    case .askingForFile: state = .known(try judgeFile(answer))
    case .known: break
    }
  }

  /// A redirect is followed with the address that it was for. Any other attempt has one of its own.
  mutating func interrupted(_ interruption: Interruption) {
    if case .redirected = interruption.error { return }
    if case .askingForFile(let path, _) = state { state = .askingForFile(path: path, nonce: random.next()) }
  }

  private mutating func judgeRow(_ answer: Answer) throws(UploadError) {
    switch Verdict.ofRecording(answer) {
    // 203 and 206 come from something in between, or are a part (RFC 9110, 15.3.4 and 15.3.7).
    case .gigHive(.recording(let checksum?, let size?, let path)) where answer.isFresh && answer.status == 200:
      let isSame = ASCII.lowercased(checksum) == recording.sha256 && size == recording.size
      if isSame, let path {
        state = .askingForFile(path: path, nonce: random.next())
      } else {
        state = .known(isSame ? .misnamed : .different)
      }
    case .gigHive(.absent) where answer.isFresh: state = .known(.absent)
    case .gigHive, .tus, .somebodyElse: throw answer.noConfirmation
    }
  }

  /// A response to HEAD has no content to prove who sent it. Nobody else knows the length, and any other response keeps the file.
  private func judgeFile(_ answer: Answer) throws(UploadError) -> Presence {
    switch answer.status {
    case 401, 403: return .hidden
    case _ where !answer.isFresh: throw answer.noConfirmation
    case 200:
      guard let length = answer.fields.first("Content-Length").flatMap({ ASCII.decimal($0.utf8) }) else {
        throw answer.noConfirmation
      }
      return length == recording.size ? .stored : .different
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
