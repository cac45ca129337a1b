/// The commands that have options.
enum Command: String, CaseIterable {
  case send, watch, status, resume, list, cancel, delete, clean, doctor

  /// Whether the command accepts the option.
  func takes(_ option: Option) -> Bool {
    switch option {
    case .help, .json, .stateDir, .config, .to: true
    case .color: self != .doctor && self != .watch && self != .status
    case .dayStarts, .match, .exclude, .minSize: self == .send || self == .watch
    case .dryRun: self == .send || self == .watch || self == .clean
    case .again, .recursive, .from: self == .send
    case .settle, .existing, .order, .interface, .onEvent, .metrics: self == .watch
    case _ where self == .watch && [.retries, .retryFor, .progress, .jsonProgress].contains(option): false
    case .keepFree: self == .clean || self == .watch
    case .sendTest, .link: self == .doctor
    case .after: self == .send || self == .watch || self == .resume
    case .trustServer, .trustSettle, .maxMemory:
      self == .send || self == .watch || self == .resume || self == .clean
    case .all, .strict: self == .resume
    case .forget, .prune: self == .list
    case _ where self == .list || self == .status: false
    case .server, .multipartURL, .tusURL: [.send, .watch, .resume, .clean, .doctor].contains(self)
    case .jobs: self == .send || self == .watch || self == .resume
    case .protocolChoice, .threshold: self == .send || self == .watch || self == .doctor
    case .retries, .retryFor, .retryMaxDelay, .limitRate, .maxTime: self != .doctor
    case .eventDate: [.send, .watch, .resume, .doctor].contains(self)
    case .orgName, .eventType, .label, .participants, .keywords, .location, .rating, .notes, .field,
      .fileField, .fileName, .mime, .chunkSize, .deferLength, .maxSize, .digest, .progress,
      .jsonProgress, .metadata:
      self == .send || self == .watch || self == .resume
    default: true
    }
  }
}
