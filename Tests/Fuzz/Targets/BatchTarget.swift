/// A pattern, a template and a line of a list, one per line.
enum BatchTarget {
  static func run(_ input: [UInt8]) {
    let lines = input.lines(3)
    if let glob = try? Glob(parsing: lines[0]) {
      _ = glob.matches(lines[1])
      if !lines[0].contains(where: { "*?[".utf8.contains($0) }) {
        require(glob.matches(lines[0]), "a name is not its own pattern")
      }
    }
    if let text = (try? Template(parsing: lines[1]))?.constant {
      require(Template.escaped(text) == lines[1], "a template is another one when it is escaped")
    }
    let escaped = try? Template(parsing: Template.escaped(lines[1]))
    require(
      escaped?.constant == lines[1], "escaped bytes do not stand for themselves")
    if let line = try? ListLine(parsing: lines[2]) {
      require(!line.file.isEmpty && !line.file.contains(0), "a file without a path")
      require(line.options.allSatisfy { !($0.field?.contains(UInt8(ascii: "=")) ?? false) }, "a field with two names")
    }
  }
}
