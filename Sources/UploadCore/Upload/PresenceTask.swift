/// Asks GigHive whether it still has a recording, before the file is removed from this machine.
struct PresenceTask: Sendable {
  private let recording: StoredRecording
  private var presence: Presence?

  init(_ recording: StoredRecording) { self.recording = recording }

  func next() -> TaskStep {
    if let presence { return .finished(.examined(presence)) }
    return .ask(GigHiveAPI.question(about: recording.assetID, at: recording.base))
  }

  mutating func receive(_ answer: Answer) throws(UploadError) {
    switch Verdict.ofRecording(answer) {
    // 203 and 206 come from something in between, or are a part (RFC 9110, 15.3.4 and 15.3.7).
    case .gigHive(.recording(let checksum?, let size?)) where answer.isFresh && answer.status == 200:
      let isSame = ASCII.lowercased(checksum) == recording.sha256 && size == recording.size
      presence = isSame ? .stored : .different
    case .gigHive(.absent) where answer.isFresh: presence = .absent
    case .gigHive, .tus, .somebodyElse:
      if answer.isSuccess { throw .unconfirmed(status: answer.status) }
      guard answer.status != 404, answer.status != 410 else { throw .notFromServer(status: answer.status) }
      throw answer.refusal
    }
  }
}
