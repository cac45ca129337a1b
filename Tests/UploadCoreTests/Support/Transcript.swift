import Foundation
import Testing

/// One conversation of an ``UploadMachine``, as a text: what is asked of it, what comes from outside, and what it does.
///
///     # An upload of an earlier process is resumed
///     tus, at /files/1, offset 7
///     > OPTIONS /files/ < offer
///     > HEAD /files/1 < has 42 of 100
///     > PATCH /files/1 42-100 saves lastByteNext < has 100
///     = delivered, resumed from 42
///
/// `README.md` describes the format.
struct Transcript: CustomTestStringConvertible {
  /// A word that stands for several values in turn.
  struct Variable {
    let name: String
    let values: [String]
  }

  let file: URL
  let title: String
  /// Comments, variables, the setup and the answers that are always given, as they stand in the file.
  let head: [String]
  /// What happens, with what the machine is expected to do.
  let body: [String]

  var testDescription: String { file.deletingPathExtension().lastPathComponent + ": " + title }

  var variables: [Variable] {
    head.compactMap { line in
      guard line.hasPrefix("for ") else { return nil }
      let parts = line.dropFirst(4).split(separator: "=", maxSplits: 1)
      return Variable(
        name: parts[0].trimmingCharacters(in: .whitespaces),
        values: parts[1].components(separatedBy: " | ").map { $0.trimmingCharacters(in: .whitespaces) })
    }
  }

  /// The same for each combination of values: those of several variables go together.
  var assignments: [[(name: String, value: String)]] {
    let variables = variables
    guard let count = variables.first?.values.count else { return [[]] }
    return (0..<count).map { index in
      variables.map { ($0.name, $0.values.indices.contains(index) ? $0.values[index] : "missing") }
    }
  }

  /// An answer to each request with a method, or to each that finds no other one left.
  struct Rule {
    let method: String
    let answer: String
    let isAlways: Bool

    func filled(_ assignment: [(name: String, value: String)]) -> Rule {
      Rule(method: method, answer: answer.filled(assignment), isAlways: isAlways)
    }
  }

  var rules: [Rule] {
    head.compactMap { line in
      guard line.hasPrefix("always ") || line.hasPrefix("then "), let range = line.range(of: " < ") else { return nil }
      let method = line[..<range.lowerBound].split(separator: " ")[1]
      return Rule(
        method: String(method), answer: String(line[range.upperBound...]), isAlways: line.hasPrefix("always "))
    }
  }

  var setup: String {
    head.first { line in !["-- ", "for ", "always ", "then "].contains { line.hasPrefix($0) } } ?? ""
  }

  /// What comes from outside, in order: `<` answers, `!` other events. Answers by a rule have `<<`.
  var script: [String] {
    body.compactMap { line in
      let isEvent = line.hasPrefix("< ") || line.hasPrefix("! ")
      guard let start = isEvent ? line.startIndex : line.range(of: " < ")?.upperBound else { return nil }
      let event = isEvent ? line : "< " + line[start...]
      return event.range(of: " = ").map { String(event[..<$0.lowerBound]) } ?? event
    }
  }

  /// With an exchange or another event on each line: the request, the answer (to the oldest request in flight), and what follows. A range
  /// is hashed before the request that sends it.
  static func folded(_ lines: [String]) -> [String] {
    lines.reduce(into: []) { folded, line in
      let last = folded.last ?? ""
      let isAnswered = last.contains(" < ") || last.contains(" << ")
      let isRequest = last.hasPrefix(">") && !isAnswered
      let isOver = isAnswered || last.hasPrefix("<") || last.hasPrefix("!")
      if isRequest, line == "= save lastByteNext" || line == "= save mayBeStored" {
        folded[folded.count - 1] += line.dropFirst().replacing("save ", with: "saves ")
      } else if isRequest && line.hasPrefix("<") || last.hasPrefix("= failed") && line.hasPrefix("= record")
        || isOver && Transcript.consequences.contains(where: { line.hasPrefix($0) })
      {
        folded[folded.count - 1] += " " + line
      } else if last.hasPrefix("= sha256 of "), line.hasPrefix(">"), line.hasSuffix(last.dropFirst(11)) {
        folded[folded.count - 1] = line + " hashed"
      } else {
        folded.append(line)
      }
    }
  }

  /// What stands on the line of the event that it follows from.
  private static let consequences = [
    "= save", "= hash", "= retry", "= renew", "= read again", "= lends", "= the recording",
  ]

  /// All conversations of a file.
  static func all(in file: URL) throws -> [Transcript] {
    let passages = try Transcript.passages()
    var found: [Transcript] = []
    var title: String?
    var lines: [String] = []
    func end() {
      guard let title else { return }
      while lines.last?.isEmpty == true { lines.removeLast() }
      let start = lines.firstIndex { line in [">", "<", "= ", "! "].contains { line.hasPrefix($0) } } ?? lines.endIndex
      found.append(Transcript(file: file, title: title, head: Array(lines[..<start]), body: Array(lines[start...])))
    }
    for line in try String(contentsOf: file, encoding: .utf8).components(separatedBy: "\n") {
      if line.hasPrefix("# ") {
        end()
        (title, lines) = (String(line.dropFirst(2)), [])
      } else {
        lines += try line.hasPrefix("~ ") ? #require(passages[line], "no passage: \(line)") : [line]
      }
    }
    end()
    return found
  }

  /// What many conversations have in common, by the line that stands for it: `~ NAME`.
  private static func passages() throws -> [String: [String]] {
    let text = try String(contentsOf: directory.appending(path: "passages"), encoding: .utf8)
    let passages = text.trimmingCharacters(in: .newlines).components(separatedBy: "\n\n").map { passage in
      let lines = passage.components(separatedBy: "\n")
      return (lines[0], Array(lines[1...]))
    }
    return Dictionary(uniqueKeysWithValues: passages)
  }

  /// With the lines that stand for passages, the longest first.
  private static func abridged(_ body: [String]) throws -> [String] {
    let passages = try passages().sorted { ($1.value.count, $0.key) < ($0.value.count, $1.key) }
    var rest = body[...]
    var abridged: [String] = []
    while let line = rest.first {
      let passage = passages.first { rest.starts(with: $0.value) }
      abridged.append(passage?.key ?? line)
      rest = rest.dropFirst(passage?.value.count ?? 1)
    }
    return abridged
  }

  static let directory = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .appending(path: "Transcripts")

  static let files: [URL] = {
    let found = FileManager.default.enumerator(at: directory, includingPropertiesForKeys: nil)?.allObjects ?? []
    return found.compactMap { $0 as? URL }.filter { $0.pathExtension == "txt" }.sorted { $0.path < $1.path }
  }()

  /// The file's text with other bodies.
  static func text(of transcripts: [Transcript], bodies: [[String]]) throws -> String {
    try zip(transcripts, bodies).map { transcript, body in
      try (["# " + transcript.title] + transcript.head + abridged(body)).joined(separator: "\n") + "\n"
    }.joined(separator: "\n")
  }
}

extension String {
  /// With values in place of `{name}`.
  func filled(_ assignment: [(name: String, value: String)]) -> String {
    assignment.reduce(self) { $0.replacingOccurrences(of: "{\($1.name)}", with: $1.value) }
  }
}
