package enum TemplateError: Error, Equatable {
  case unknownName([UInt8])
  /// A single brace. A doubled brace stands for itself.
  case strayBrace(UInt8)
}

/// The values of a template's names for one file.
package struct TemplateValues: Equatable, Sendable {
  /// Not necessarily UTF-8.
  package let name: [UInt8]
  /// The path below the directory in which the file was found; the name for a file that was named. Not necessarily UTF-8.
  package let path: [UInt8]
  /// The name of the directory that the file is in.
  package let directory: [UInt8]
  package let modified: LocalTime
  /// The same, in seconds since 1970.
  package let modifiedSeconds: Int64
  package let host: [UInt8]

  /// - Parameters:
  ///   - path: absolute, or with the name of the file's directory.
  ///   - directory: the one in which it was found; nil if it was named.
  package init(
    path: LocalPath, below directory: LocalPath? = nil, modified: LocalTime, modifiedSeconds: Int64 = 0, host: [UInt8]
  ) {
    name = Array(path.lastComponentBytes)
    let parent = directory.map { $0.bytes.last == ASCII.slash ? $0.bytes : $0.bytes + [ASCII.slash] }
    self.path = parent.flatMap { path.bytes.starts(with: $0) ? Array(path.bytes[$0.count...]) : nil } ?? name
    self.directory = Array(path.directoryName ?? [])
    self.modified = modified
    self.modifiedSeconds = modifiedSeconds
    self.host = host
  }

  /// The name without its extension. A leading dot does not start an extension.
  package var stem: [UInt8] {
    guard let dot = name.lastIndex(of: UInt8(ascii: ".")), dot > 0 else { return name }
    return Array(name[..<dot])
  }
}

/// A text in which `{name}`, `{stem}` and others stand for properties of a file. `{{` and `}}` are braces.
package struct Template: Equatable, Sendable {
  private enum Part: Equatable {
    case literal([UInt8])
    case name(Name)
  }

  private enum Name: String, CaseIterable {
    case name, stem, path, dir, date, time
    /// In RFC 3339's form, in UTC.
    case mtime = "mtime:rfc3339"
    case host
  }

  package static let names = Name.allCases.map { $0.rawValue }

  private var parts: [Part] = []

  /// A text without names.
  package init(_ text: [UInt8]) { parts = [.literal(text)] }

  package init(parsing text: [UInt8]) throws(TemplateError) {
    var literal: [UInt8] = []
    var at = 0
    while at < text.count {
      let byte = text[at]
      at += 1
      guard byte == opening || byte == closing else {
        literal.append(byte)
        continue
      }
      if at < text.count, text[at] == byte {
        literal.append(byte)
        at += 1
        continue
      }
      // Text that does not look like a name is not reported as one.
      let word = text[at...].prefix {
        ASCII.isLetter($0) || ASCII.isDigit($0) || $0 == ASCII.hyphen || $0 == ASCII.colon || $0 == UInt8(ascii: "_")
      }
      guard byte == opening, !word.isEmpty, word.endIndex < text.count, text[word.endIndex] == closing else {
        throw .strayBrace(byte)
      }
      guard let name = Name(rawValue: String(decoding: word, as: UTF8.self)) else { throw .unknownName(Array(word)) }
      if !literal.isEmpty { parts.append(.literal(literal)) }
      literal = []
      parts.append(.name(name))
      at = word.endIndex + 1
    }
    if !literal.isEmpty { parts.append(.literal(literal)) }
  }

  /// The text for every file; nil if it is not the same for all files.
  package var constant: [UInt8]? {
    var text: [UInt8] = []
    for part in parts {
      guard case .literal(let literal) = part else { return nil }
      text += literal
    }
    return text
  }

  /// - Parameter isInURL: whether the values are percent-encoded, as parts of a URL's path.
  package func expanded(_ values: TemplateValues, isInURL: Bool = false) -> [UInt8] {
    parts.flatMap { part in
      switch part {
      case .literal(let literal): literal
      case .name(let name):
        isInURL ? Template.encoded(Template.value(of: name, values), name) : Template.value(of: name, values)
      }
    }
  }

  /// What the text for every file begins with.
  package var prefix: [UInt8] {
    if case .literal(let literal)? = parts.first { literal } else { [] }
  }

  private static func encoded(_ value: [UInt8], _ name: Name) -> [UInt8] {
    guard name == .path else { return Array(Percent.encode(segment: value).utf8) }
    let segments = value.split(separator: ASCII.slash).map { Percent.encode(segment: $0) }
    return Array(segments.joined(separator: "/").utf8)
  }

  private static func value(of name: Name, _ values: TemplateValues) -> [UInt8] {
    switch name {
    case .name: values.name
    case .stem: values.stem
    case .path: values.path
    case .dir: values.directory
    case .date: Array(values.modified.date.utf8)
    case .time: Array(values.modified.time.utf8)
    case .mtime: Array(Timestamp.text(seconds: values.modifiedSeconds).utf8)
    case .host: values.host
    }
  }

  /// The template that stands for these bytes.
  package static func escaped(_ bytes: [UInt8]) -> [UInt8] {
    bytes.flatMap { $0 == opening || $0 == closing ? [$0, $0] : [$0] }
  }
}

private let opening = UInt8(ascii: "{")
private let closing = UInt8(ascii: "}")
