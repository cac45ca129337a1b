/// Which files of a directory are sent.
package struct FileSelection: Sendable {
  /// A file must match one of these; empty for the default.
  private let patterns: [Glob]
  /// A file must match none of these.
  private let exclusions: [Glob]
  /// Without patterns: whether only recordings that GigHive takes are selected, by their extension.
  private let selectsRecordings: Bool
  /// Where delivered recordings are moved. Its files are not selected, unless it is named itself.
  package let delivered: LocalPath?

  package init(patterns: [Glob], exclusions: [Glob] = [], selectsRecordings: Bool, delivered: LocalPath? = nil) {
    self.patterns = patterns
    self.exclusions = exclusions
    self.selectsRecordings = selectsRecordings
    self.delivered = delivered
  }

  package func takes(file name: [UInt8]) -> Bool {
    guard !FileSelection.isHidden(name), !FileSelection.isTemporary(name), !FileSelection.isSidecar(name) else {
      return false
    }
    if exclusions.contains(where: { $0.matches(name) }) { return false }
    if patterns.isEmpty { return !selectsRecordings || MediaType.isRecording(fileName: name) }
    return patterns.contains { $0.matches(name) }
  }

  package static func takes(directory name: [UInt8]) -> Bool {
    !isHidden(name) && !isTemporary(name) && !systemDirectories.contains { name.elementsEqual($0.utf8) }
  }

  private static func isHidden(_ name: [UInt8]) -> Bool { name.first == UInt8(ascii: ".") }

  /// Whether programs give such names to unfinished files, or to their own copies.
  static func isTemporary(_ name: [UInt8]) -> Bool {
    temporaryEndings.contains { ends(name, with: $0) } || temporaryBeginnings.contains { name.starts(with: $0.utf8) }
  }

  package static func isSidecar(_ name: [UInt8]) -> Bool { ends(name, with: sidecarEnding) }

  /// The suffix of a sidecar's name.
  package static let sidecarEnding = ".upload"

  /// What a program that downloads NAME appends to it for a file beside it, which is there until NAME is complete.
  package static let unfinishedEndings = [".aria2", ".part"]

  /// Whether it is the name of such a file.
  package static func isUnfinishedMark(_ name: [UInt8]) -> Bool { unfinishedEndings.contains { ends(name, with: $0) } }

  private static let temporaryEndings =
    unfinishedEndings + [
      ".tmp", ".temp", ".partial", ".filepart", ".crdownload", ".!qB", ".!sync", ".ytdl", "~", ".swp",
    ]
  private static let temporaryBeginnings = ["~$", "#"]
  /// Directories that systems create on a file system: `lost+found` of ext4, the recycle bin and metadata of Windows, and what NAS systems
  /// keep of deleted, older and indexed files.
  private static let systemDirectories = [
    "lost+found", "$RECYCLE.BIN", "System Volume Information", "@eaDir", "@Recycle", "~snapshot",
  ]

  private static func ends(_ name: [UInt8], with ending: String) -> Bool {
    ASCII.equalsIgnoringCase(name.suffix(ending.utf8.count), ending.utf8)
  }
}

/// Why a pattern was refused.
package enum GlobError: Error, Equatable {
  case empty
  /// In bytes.
  case tooLong(limit: Int)
  /// A pattern is compared with the names of files, which have no slash.
  case slash
  /// A `[` without its `]`.
  case unclosedSet
  /// Quotes around it, or a comma before a star: nothing would match, without a word.
  case quoted, list
}

/// A pattern for the names of files: `*` for any characters, `?` for one, `[a-z]` for one of a set, `[!a-z]` for one that is not in
/// it. The case of ASCII letters does not count. There is no escape character; `[*]` is a star. Bytes that are not UTF-8 count as one
/// character each.
package struct Glob: Equatable, Sendable {
  private enum Element: Equatable {
    case character(UInt32)
    case anyCharacter
    case anyRun
    case set([ClosedRange<UInt32>], isNegated: Bool)

    func matches(_ character: UInt32) -> Bool {
      switch self {
      case .character(let own): own == character
      case .anyCharacter: true
      case .anyRun: false
      case .set(let ranges, let isNegated):
        ranges.contains { $0.contains(character) || $0.contains(Glob.uppercased(character)) } != isNegated
      }
    }
  }

  private var elements: [Element] = []

  package init(parsing pattern: [UInt8]) throws(GlobError) {
    guard !pattern.isEmpty else { throw .empty }
    guard pattern.count <= Limits.patternLength else { throw .tooLong(limit: Limits.patternLength) }
    guard !pattern.contains(ASCII.slash) else { throw .slash }
    if pattern.count > 1, pattern.first == ASCII.quote, pattern.last == ASCII.quote { throw .quoted }
    guard !Glob.isList(pattern) else { throw .list }
    var at = 0
    while at < pattern.count {
      let (character, length) = Glob.character(in: pattern, at: at)
      at += length
      switch character {
      case star: if elements.last != .anyRun { elements.append(.anyRun) }
      case question: elements.append(.anyCharacter)
      case bracket: elements.append(try Glob.set(in: pattern, at: &at))
      default: elements.append(.character(Glob.lowercased(character)))
      }
    }
  }

  /// Whether a comma, perhaps with spaces, is before a star.
  private static func isList(_ pattern: [UInt8]) -> Bool {
    let dense = pattern.filter { $0 != ASCII.space }
    return zip(dense, dense.dropFirst()).contains { $0 == ASCII.comma && $1 == UInt8(ascii: "*") }
  }

  /// Whether the whole name matches. It takes time in proportion to the product of both lengths at most: only the last star is tried
  /// again, because what an earlier one could match instead makes no difference.
  package func matches(_ name: [UInt8]) -> Bool {
    var at = 0
    var element = 0
    // The element after the last star, and where in the name its next attempt starts.
    var retry: (element: Int, at: Int)?
    while at < name.count {
      let (character, length) = Glob.character(in: name, at: at)
      if element < elements.count, elements[element] == .anyRun {
        element += 1
        retry = (element, at)
      } else if element < elements.count, elements[element].matches(Glob.lowercased(character)) {
        element += 1
        at += length
      } else if let last = retry {
        let next = last.at + Glob.character(in: name, at: last.at).length
        retry = (last.element, next)
        (element, at) = (last.element, next)
      } else {
        return false
      }
    }
    return elements[element...].allSatisfy { $0 == .anyRun }
  }

  /// Parses a set after its `[`. A `]` that comes first belongs to it, as does a `-` at either end.
  private static func set(in pattern: [UInt8], at: inout Int) throws(GlobError) -> Element {
    var ranges: [ClosedRange<UInt32>] = []
    let isNegated = at < pattern.count && (pattern[at] == UInt8(ascii: "!") || pattern[at] == UInt8(ascii: "^"))
    if isNegated { at += 1 }
    while at < pattern.count {
      let (first, length) = character(in: pattern, at: at)
      at += length
      if first == closingBracket, !ranges.isEmpty { return .set(ranges, isNegated: isNegated) }
      guard at + 1 < pattern.count, pattern[at] == ASCII.hyphen, pattern[at + 1] != UInt8(closingBracket) else {
        ranges.append(lowercased(first)...lowercased(first))
        continue
      }
      let (last, lastLength) = character(in: pattern, at: at + 1)
      at += 1 + lastLength
      // Letters are compared in lower case. A reversed range matches nothing.
      let isOfCapitals = isCapital(first) && isCapital(last)
      let bounds = isOfCapitals ? (lowercased(first), lowercased(last)) : (first, last)
      ranges.append(bounds.0 <= bounds.1 ? bounds.0...bounds.1 : nothing...nothing)
    }
    throw .unclosedSet
  }

  // MARK: Characters

  /// The character at an offset and its length in bytes. A byte that is not UTF-8 becomes a number beyond Unicode.
  private static func character(in bytes: [UInt8], at offset: Int) -> (value: UInt32, length: Int) {
    let first = bytes[offset]
    if first < 0x80 { return (UInt32(first), 1) }
    let invalid = (0x11_0000 + UInt32(first), 1)
    let length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2
    guard first >= 0xC2, first <= 0xF4, offset + length <= bytes.count else { return invalid }
    var value = UInt32(first) & (0x7F >> UInt32(length))
    for byte in bytes[(offset + 1)..<(offset + length)] {
      guard byte & 0xC0 == 0x80 else { return invalid }
      value = value << 6 | UInt32(byte & 0x3F)
    }
    let least: UInt32 = length == 2 ? 0x80 : length == 3 ? 0x800 : 0x1_0000
    return value >= least && Unicode.Scalar(value) != nil ? (value, length) : invalid
  }

  private static func isCapital(_ character: UInt32) -> Bool { character >= 0x41 && character <= 0x5A }

  private static func lowercased(_ character: UInt32) -> UInt32 { isCapital(character) ? character | 0x20 : character }

  private static func uppercased(_ character: UInt32) -> UInt32 {
    character >= 0x61 && character <= 0x7A ? character & ~0x20 : character
  }
}

private let star = UInt32(UInt8(ascii: "*"))
private let question = UInt32(UInt8(ascii: "?"))
private let bracket = UInt32(UInt8(ascii: "["))
private let closingBracket = UInt32(UInt8(ascii: "]"))
/// Beyond all characters and bytes.
private let nothing = UInt32.max
