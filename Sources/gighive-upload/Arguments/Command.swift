/// The commands that have options.
enum Command: String, CaseIterable {
  case send, resume, list, cancel, delete, clean, doctor

  /// Whether the command accepts the option.
  func takes(_ option: Option) -> Bool {
    switch option {
    case .help, .json, .stateDir, .config, .to, .color: true
    case .dayStarts: self == .send
    case .again, .recursive, .match, .from: self == .send
    case .dryRun: self == .send || self == .clean
    case .keepFree: self == .clean
    case .after: self == .send || self == .resume
    case .trustServer, .trustSettle, .maxMemory: self == .send || self == .resume || self == .clean
    case .all, .strict: self == .resume
    case .forget, .prune: self == .list
    case _ where self == .list: false
    case .server, .multipartURL, .tusURL: self == .send || self == .resume || self == .doctor
    case .jobs: self == .send || self == .resume
    case .protocolChoice, .threshold: self == .send || self == .doctor
    case .retries, .retryFor, .retryMaxDelay, .limitRate, .methodOverride, .maxTime: self != .doctor
    case .eventDate, .orgName, .eventType, .label, .participants, .keywords, .location, .rating, .notes, .field,
      .fileField, .fileName, .mime, .chunkSize, .deferLength, .maxSize, .digest, .progress,
      .jsonProgress, .metadata:
      self == .send || self == .resume
    default: true
    }
  }
}
