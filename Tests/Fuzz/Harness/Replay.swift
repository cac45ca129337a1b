import Glibc

/// Runs files through a target, without libFuzzer.
///
///     replay --list
///     replay TARGET FILE...             ends with an error at the first file that breaks a rule
///     replay --show TARGET FILE...      what came out, a line for each file
@main
struct Replay {
  static func main() {
    var arguments = CommandLine.arguments.dropFirst()
    if arguments.first == "--list" {
      for target in allTargets { print(target.name + (target.show == nil ? "" : " show")) }
      return
    }
    let shows = arguments.first == "--show"
    if shows { arguments = arguments.dropFirst() }
    guard let name = arguments.popFirst(), let target = allTargets.first(where: { $0.name == name }) else {
      fatalError("no such target")
    }
    for path in arguments {
      guard let input = contents(of: path) else { fatalError("cannot read \(path)") }
      if shows { print(target.show?(input) ?? "") } else { target.run(input) }
    }
  }

  private static func contents(of path: String) -> [UInt8]? {
    guard let file = fopen(path, "r") else { return nil }
    defer { fclose(file) }
    var bytes: [UInt8] = []
    var block = [UInt8](repeating: 0, count: 64 << 10)
    while true {
      let count = fread(&block, 1, block.count, file)
      if count == 0 { return ferror(file) == 0 ? bytes : nil }
      bytes += block[..<count]
    }
  }
}
