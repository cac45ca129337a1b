package enum ListLineError: Error, Equatable {
  /// In bytes.
  case tooLong(limit: Int)
  case notJSON(JSONError)
  case notAnObject
  case noFile
  /// The member's value is not what it should be.
  case wrongValue(member: String)
  case repeated(member: String)
}

/// A line of a list of files: a JSON object with `file` and the options that describe the recording.
package struct ListLine: Equatable, Sendable {
  package struct Option: Equatable, Sendable {
    /// As on the command line, with hyphens.
    package let name: [UInt8]
    package let value: [UInt8]
    /// The name of the form's field that it sets, for ``name`` `field`.
    package let field: [UInt8]?
  }

  /// Not empty, and without NUL.
  package let file: [UInt8]
  /// The directory in which the author of the list found it, and may find it again, so that there must be no link below, and the file
  /// needs a record; nil if it was named.
  package let foundBelow: [UInt8]?
  /// What its author has judged: the upload refuses another file, and one that is being written.
  package private(set) var seen: FileSighting?
  /// Whether the content is compared if it was delivered and may have been changed since. Otherwise its author asks for that later.
  package private(set) var isCompared = false
  package private(set) var options: [Option] = []

  package init(parsing line: [UInt8]) throws(ListLineError) {
    guard line.count <= Limits.listLineLength else { throw .tooLong(limit: Limits.listLineLength) }
    let value: JSONValue
    do throws(JSONError) { value = try JSONReader.read(line) } catch { throw .notJSON(error) }
    guard case .object(let members) = value else { throw .notAnObject }
    for (index, member) in members.enumerated() where members[..<index].contains(where: { $0.name == member.name }) {
      throw .repeated(member: member.name)
    }
    guard let file = try ListLine.path("file", in: members) else { throw .noFile }
    self.file = file
    foundBelow = try ListLine.path("below", in: members)
    if let foundBelow, LocalPath(bytes: file).relative(to: LocalPath(bytes: foundBelow)) == nil {
      throw .wrongValue(member: "below")
    }
    for member in members where !["file", "file_percent", "below", "below_percent"].contains(member.name) {
      if member.name == "seen" {
        guard let value = FileSighting(member.value) else { throw .wrongValue(member: member.name) }
        seen = value
        continue
      }
      if member.name == "compare" {
        guard case .bool(let value) = member.value else { throw .wrongValue(member: member.name) }
        isCompared = value
        continue
      }
      let name = member.name.utf8.map { $0 == UInt8(ascii: "_") ? ASCII.hyphen : $0 }
      if name.elementsEqual("field".utf8) {
        options += try ListLine.fields(member)
      } else {
        options.append(Option(name: name, value: try ListLine.text(member), field: nil))
      }
    }
  }

  /// `file_percent` is exact, as in the program's own events.
  private static func path(_ name: String, in members: [JSONValue.Member]) throws(ListLineError) -> [UInt8]? {
    let exact = members.first { $0.name == name + "_percent" }
    guard let member = exact ?? members.first(where: { $0.name == name }) else { return nil }
    guard case .string(let text) = member.value, let path = exact == nil ? Array(text.utf8) : Percent.decode(text),
      !path.isEmpty, !path.contains(0)
    else { throw .wrongValue(member: member.name) }
    return path
  }

  private static func fields(_ member: JSONValue.Member) throws(ListLineError) -> [Option] {
    guard case .object(let fields) = member.value else { throw .wrongValue(member: member.name) }
    var options: [Option] = []
    for field in fields {
      guard !field.name.isEmpty, !field.name.utf8.contains(UInt8(ascii: "=")) else {
        throw .wrongValue(member: member.name)
      }
      options.append(Option(name: Array("field".utf8), value: try text(field), field: Array(field.name.utf8)))
    }
    return options
  }

  private static func text(_ member: JSONValue.Member) throws(ListLineError) -> [UInt8] {
    switch member.value {
    case .string(let text), .number(let text): return Array(text.utf8)
    default: throw .wrongValue(member: member.name)
    }
  }
}
