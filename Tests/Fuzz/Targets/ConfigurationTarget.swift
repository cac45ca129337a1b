/// A configuration file, or one beside a recording.
enum ConfigurationTarget {
  static func run(_ input: [UInt8]) {
    let file: ConfigurationFile
    do throws(ConfigurationError) { file = try ConfigurationFile(parsing: input) } catch {
      require((1...lineCount(input)).contains(error.line ?? 1), "an error in a line that is not there")
      return
    }
    for (index, section) in file.sections.enumerated() {
      require(!file.sections[..<index].contains(section), "a section twice")
    }
    var last = 0
    for entry in file.entries {
      require(entry.line > last && entry.line <= lineCount(input), "options out of order")
      last = entry.line
      require(!entry.name.isEmpty && !entry.name.contains(UInt8(ascii: "=")), "a name that is none")
      for part in [entry.name, entry.value] {
        require(ASCII.trimmed(part[...]).elementsEqual(part), "a space at an end")
        require(!part.contains { ASCII.isControl($0) && $0 != ASCII.tab }, "a control character")
      }
      require(entry.section.map { file.sections.indices.contains($0) } ?? true, "an option of no section")
    }
    let again = try? ConfigurationFile(parsing: text(of: file))
    require(again.map { isSame($0, file) } ?? false, "a file that is written again is another one")
    let lineEnded = input.flatMap { $0 == ASCII.lineFeed ? [ASCII.carriageReturn, $0] : [$0] }
    let windows = try? ConfigurationFile(parsing: [0xEF, 0xBB, 0xBF] + lineEnded)
    // A file may be too long then, or already have such line ends.
    if let windows, !input.contains(ASCII.carriageReturn), !input.starts(with: [0xEF, 0xBB, 0xBF]) {
      require(windows == file, "line ends of Windows make a difference")
    }
  }

  private static func lineCount(_ input: [UInt8]) -> Int { input.count { $0 == ASCII.lineFeed } + 1 }

  /// The same file without comments and empty lines.
  private static func text(of file: ConfigurationFile) -> [UInt8] {
    // With a byte order mark, because the first name may begin with its bytes.
    var text: [UInt8] = [0xEF, 0xBB, 0xBF]
    func add(_ section: Int?) {
      for entry in file.entries where entry.section == section {
        text += entry.name + Array(" = ".utf8) + entry.value + [ASCII.lineFeed]
      }
    }
    add(nil)
    for (index, section) in file.sections.enumerated() {
      switch section {
      case .named(let name): text += Array("[\(name)]\n".utf8)
      // A final slash keeps a space before it.
      case .watch(let path): text += Array("[watch ".utf8) + path + Array("/]\n".utf8)
      }
      add(index)
    }
    return text
  }

  private static func isSame(_ one: ConfigurationFile, _ other: ConfigurationFile) -> Bool {
    one.sections == other.sections
      && one.entries.map { Option($0) } == other.entries.map { Option($0) }
  }

  /// An entry without its line.
  private struct Option: Equatable {
    let section: Int?
    let name, value: [UInt8]

    init(_ entry: ConfigurationFile.Entry) { (section, name, value) = (entry.section, entry.name, entry.value) }
  }
}
