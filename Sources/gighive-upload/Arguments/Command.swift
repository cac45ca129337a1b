import CShims
import Uploader

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
    case .putURL, .putURLFile: [.send, .watch, .resume, .clean].contains(self)
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

/// The operands of a command, such as files. They are not copied from the command line, because there can be very many.
struct Operands: RandomAccessCollection {
  let startIndex = 0
  let endIndex: Int
  /// The index of the first operand among the process's arguments; nil if the operands are `paths`.
  private let firstArgument: Int?
  private let paths: [LocalPath]

  init(_ paths: [LocalPath] = []) {
    endIndex = paths.count
    firstArgument = nil
    self.paths = paths
  }

  init(firstArgument: Int, count: Int) {
    endIndex = count
    self.firstArgument = firstArgument
    paths = []
  }

  subscript(position: Int) -> LocalPath {
    guard let firstArgument else { return paths[position] }
    precondition(position >= 0 && position < endIndex, "not one of the operands")
    return LocalPath(cString: shim_argument(Int32(firstArgument + position)))
  }
}

/// Suggestions for mistyped words.
enum Suggestion {
  /// The name that starts with the word, or else the one with the fewest changed letters, if they are few.
  static func nearest(to word: [UInt8], among names: [String]) -> String? {
    if word.count > 1, let name = names.first(where: { $0.utf8.starts(with: word) }) { return name }
    var best: (name: String, distance: Int)?
    for name in names {
      let distance = editDistance(word, Array(name.utf8))
      if distance <= max(word.count < 4 ? 1 : 2, word.count / 3), distance < best?.distance ?? Int.max {
        best = (name, distance)
      }
    }
    return best?.name
  }

  /// The Levenshtein distance.
  private static func editDistance(_ one: [UInt8], _ other: [UInt8]) -> Int {
    var row = Array(0...other.count)
    for (index, byte) in one.enumerated() {
      var diagonal = row[0]
      row[0] = index + 1
      for column in 0..<other.count {
        let substitution = diagonal + (byte == other[column] ? 0 : 1)
        diagonal = row[column + 1]
        row[column + 1] = min(substitution, diagonal + 1, row[column] + 1)
      }
    }
    return row[other.count]
  }
}

/// An invalid command line.
struct UsageError: Error {
  let message: String

  init(_ message: String) { self.message = message }
}
