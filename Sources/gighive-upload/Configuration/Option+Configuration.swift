import Uploader

/// What a configuration file needs to know about an option.
extension OptionDescription {
  /// Whether its argument is the name of a file or directory on this machine.
  var isPath: Bool { argument == "FILE" || argument == "DIR" }
}

extension Option {
  /// Whether it can be given several times, and each one counts.
  var isRepeatable: Bool { [.field, .pin, .header, .metadata, .match, .exclude].contains(self) }

  /// Whether a configuration file can contain it. The others choose what one command does.
  var isAllowedInConfiguration: Bool {
    switch self {
    case .help, .config, .to, .recursive, .from, .dryRun, .again, .all, .strict, .forget, .prune, .fileName: false
    default: true
    }
  }

  /// The option that this one replaces, and that is not given beside it.
  var alternative: Option? {
    switch self {
    case .retries: .retryFor
    case .retryFor: .retries
    default: nil
    }
  }

  var isDestination: Bool { self == .server || self == .tusURL || self == .multipartURL }

  /// Whether it belongs to one destination: its address, protocol, trust and credentials.
  var isBoundToDestination: Bool {
    switch self {
    case .server, .multipartURL, .tusURL, .protocolChoice, .threshold: true
    case .sharedSecrets, .cacert, .capath, .cert, .key, .pin, .insecure: true
    case .header, .headerFile: true
    default: isCredential
    }
  }

  /// Whether it says whose credentials to use, or where they are. One of these replaces all earlier ones.
  var isCredential: Bool {
    switch self {
    case .user, .passwordFile, .netrc, .netrcFile, .bearerFile, .uploadTokenFile: true
    default: false
    }
  }

  /// Whether it describes the recording.
  var isForm: Bool {
    switch self {
    case .label, .eventDate, .dayStarts, .orgName, .eventType, .participants, .keywords, .location, .rating, .notes,
      .field,
      .metadata, .fileField, .fileName, .mime:
      true
    default: false
    }
  }

  /// Whether its argument is a file that systemd can pass as a credential.
  var isSecretFile: Bool {
    switch self {
    case .passwordFile, .netrcFile, .bearerFile, .uploadTokenFile, .proxyPasswordFile, .headerFile, .key: true
    default: false
    }
  }
}
