/// A configuration file: lines of `option = value`, a top part, and sections for destinations (`[venue]`) and for directories that are
/// watched (`[watch /srv/rec]`). Comments start with `#` at the start of a line. Which options exist is not known here.
package struct ConfigurationFile: Equatable, Sendable {
  package enum Section: Equatable, Sendable {
    case named(String)
    /// An absolute path without final slashes. It need not be UTF-8.
    case watch([UInt8])

    package var name: String? { if case .named(let name) = self { name } else { nil } }
  }

  package struct Entry: Equatable, Sendable {
    /// An index into ``sections``; nil in the top part.
    package let section: Int?
    package let name: [UInt8]
    /// Without spaces and tabs at either end. It need not be UTF-8.
    package let value: [UInt8]
    /// From 1.
    package let line: Int
  }

  package private(set) var sections: [Section] = []
  package private(set) var entries: [Entry] = []

  /// Parses the bytes of a file. Lines end with LF or CR LF; the last one need not.
  package init(parsing bytes: [UInt8]) throws(ConfigurationError) {
    guard bytes.count <= Limits.configurationLength else {
      throw ConfigurationError(line: nil, .fileTooLong(limit: Limits.configurationLength))
    }
    // Some editors write a byte order mark.
    var rest = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes[3...] : bytes[...]
    var line = 0
    while !rest.isEmpty {
      line += 1
      let content = rest.prefix { $0 != ASCII.lineFeed }
      rest = rest[content.endIndex...].dropFirst()
      do throws(ConfigurationError.Reason) {
        guard line <= Limits.configurationLineCount else { throw .tooManyLines(limit: Limits.configurationLineCount) }
        try parse(content.last == ASCII.carriageReturn ? content.dropLast() : content, line)
      } catch { throw ConfigurationError(line: line, error) }
    }
  }

  private mutating func parse(_ content: ArraySlice<UInt8>, _ line: Int) throws(ConfigurationError.Reason) {
    guard content.count <= Limits.configurationLineLength else {
      throw .lineTooLong(limit: Limits.configurationLineLength)
    }
    guard !content.contains(where: { ASCII.isControl($0) && $0 != ASCII.tab }) else { throw .controlCharacter }
    let text = ASCII.trimmed(content)
    guard let first = text.first, first != ASCII.numberSign else { return }
    if first == UInt8(ascii: "[") {
      try begin(text)
      return
    }
    guard let equals = text.firstIndex(of: UInt8(ascii: "=")) else { throw .noValue }
    let name = ASCII.trimmed(text[..<equals])
    guard !name.isEmpty else { throw .noName }
    entries.append(
      Entry(
        section: sections.isEmpty ? nil : sections.count - 1, name: Array(name),
        value: Array(ASCII.trimmed(text[(equals + 1)...])), line: line))
  }

  private mutating func begin(_ heading: ArraySlice<UInt8>) throws(ConfigurationError.Reason) {
    guard heading.last == UInt8(ascii: "]") else { throw .unclosedSection }
    let name = ASCII.trimmed(heading.dropFirst().dropLast())
    let word = name.prefix { $0 != ASCII.space && $0 != ASCII.tab }
    if word.count < name.count, word.elementsEqual("watch".utf8) {
      let directory = LocalPath(bytes: Array(ASCII.trimmed(name[word.endIndex...]))).withoutFinalSlashes.bytes
      guard directory.first == ASCII.slash else { throw .watchSection }
      guard !sections.contains(.watch(directory)) else {
        throw .repeatedSection("watch " + String(decoding: directory, as: UTF8.self))
      }
      sections.append(.watch(directory))
      return
    }
    guard !name.isEmpty, name.allSatisfy(ConfigurationFile.isNameCharacter) else { throw .sectionName(Array(name)) }
    let text = String(decoding: name, as: UTF8.self)
    guard !sections.contains(.named(text)) else { throw .repeatedSection(text) }
    sections.append(.named(text))
  }

  private static func isNameCharacter(_ byte: UInt8) -> Bool {
    ASCII.isLetter(byte) || ASCII.isDigit(byte) || byte == ASCII.hyphen || byte == UInt8(ascii: "_")
      || byte == UInt8(ascii: ".")
  }
}

/// Why a configuration file was refused.
package struct ConfigurationError: Error, Equatable {
  package enum Reason: Error, Equatable {
    /// In bytes.
    case fileTooLong(limit: Int)
    /// In bytes.
    case lineTooLong(limit: Int)
    case tooManyLines(limit: Int)
    case controlCharacter
    case noValue
    case noName
    case unclosedSection
    case sectionName([UInt8])
    case repeatedSection(String)
    /// `[watch DIR]` without an absolute path.
    case watchSection
  }

  /// From 1; nil if it is about the whole file.
  package let line: Int?
  package let reason: Reason

  init(line: Int?, _ reason: Reason) {
    self.line = line
    self.reason = reason
  }
}
