/// The commands that have options.
enum Command: String, CaseIterable {
  case send, resume, list, cancel, delete, doctor

  /// Whether the command accepts the option.
  func takes(_ option: Option) -> Bool {
    switch option {
    case .help, .json, .stateDir, .config, .to: true
    case .color: self != .doctor
    case .dayStarts: self == .send
    case .again, .recursive, .match, .from, .dryRun: self == .send
    case .all, .strict: self == .resume
    case .forget, .prune: self == .list
    case _ where self == .list: false
    case .server, .multipartURL, .tusURL: self == .send || self == .resume || self == .doctor
    case .jobs: self == .send || self == .resume
    case .protocolChoice, .threshold: self == .send || self == .doctor
    case .retries, .retryFor, .retryMaxDelay, .limitRate, .methodOverride, .maxTime: self != .doctor
    case .eventDate, .orgName, .eventType, .label, .participants, .keywords, .location, .rating, .notes, .field,
      .fileField, .fileName, .mime, .chunkSize, .deferLength, .maxSize, .maxMemory, .digest, .progress,
      .jsonProgress, .metadata:
      self == .send || self == .resume
    default: true
    }
  }
}
