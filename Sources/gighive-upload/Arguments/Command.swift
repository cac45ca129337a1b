/// The commands that have options.
enum Command: String, CaseIterable {
  case send, watch, status, resume, list, cancel, delete

  /// Whether the command accepts the option.
  func takes(_ option: Option) -> Bool {
    switch option {
    case .help, .json, .stateDir, .config, .to: true
    case .dayStarts, .match, .exclude, .minSize, .dryRun: self == .send || self == .watch
    case .again, .recursive, .from: self == .send
    case .settle, .existing, .order, .interface: self == .watch
    case _ where self == .watch && [.retries, .retryFor, .progress, .jsonProgress].contains(option): false
    case .all, .strict: self == .resume
    case .forget, .prune: self == .list
    case .onEvent, .metrics: self == .watch
    case _ where self == .list || self == .status: false
    case .server, .multipartURL, .tusURL, .jobs: self == .send || self == .watch || self == .resume
    case .protocolChoice, .threshold: self == .send || self == .watch
    case .eventDate, .orgName, .eventType, .label, .participants, .keywords, .location, .rating, .notes, .field,
      .fileField, .fileName, .mime, .chunkSize, .deferLength, .maxSize, .maxMemory, .digest, .progress,
      .jsonProgress, .metadata:
      self == .send || self == .watch || self == .resume
    default: true
    }
  }
}
