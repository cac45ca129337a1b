import CShims
import Uploader

/// The recordings that a group has set aside, in the state directory, for the watcher that is started next with the same options. Without
/// the list, all of them are tried again.
struct SetAsideList {
  private let file: AtomicFile
  /// The first line: other options may be what the recordings need.
  private let header: String
  private var throttle = WriteThrottle()
  /// What the file has; empty if there is none.
  private var written = ""

  init(_ arguments: WatchArguments) {
    let name =
      arguments.directories.reduce(into: []) { $0 += $1.bytes + [0] } + Array(arguments.sending.target.text.utf8)
    let place = StatusFile.directory(in: arguments.statePath)
    file = AtomicFile(path: place.appending("/" + SetAsideList.hex(name) + ".set-aside"), isForAll: false)
    header = SetAsideList.hex(arguments.identity + Array(Uploader.version.utf8)) + "\n"
  }

  private static func hex(_ bytes: [UInt8]) -> String { String(WatchedFile.key(bytes, []), radix: 16) }

  /// What the last watcher has left.
  mutating func read() -> [SetAsideMemory] {
    guard let bytes = SmallFile.contents(of: file.path, limit: Limits.setAsideListLength) else { return [] }
    written = String(decoding: bytes, as: UTF8.self)
    guard written.hasPrefix(header) else { return [] }
    return bytes.split(separator: ASCII.lineFeed).dropFirst().compactMap { SetAsideMemory(parsing: Array($0)) }
  }

  /// When to write (monotonic clock); nil for not at all.
  var due: Int64? { throttle.due }

  mutating func noteChange() { throttle.noteChange() }

  /// Writes the list if it is due.
  mutating func write(_ memories: () -> [SetAsideMemory], now: Int64) throws(SystemError) {
    guard throttle.isDue(now: now) else { return }
    var text = ""
    for memory in memories() {
      let line = memory.line
      guard header.utf8.count + text.utf8.count + line.utf8.count < Limits.setAsideListLength else { break }
      text += line + "\n"
    }
    if !text.isEmpty { text = header + text }
    if text == written { return }
    if text.isEmpty { file.remove() } else { try file.replace(text) }
    written = text
  }
}

extension Limits {
  /// What a watcher leaves for the next one about recordings set aside, in bytes. What is beyond is tried again.
  static let setAsideListLength = 1 << 20
}
