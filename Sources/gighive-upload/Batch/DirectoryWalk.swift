import CShims
import Uploader

/// Walks through a directory and those in it, in the order of their names, and holds only a part of the names at a time.
final class DirectoryWalk {
  enum Item {
    case file(LocalPath)
    /// A directory that cannot be read, and why.
    case failure(LocalPath, String)
  }

  /// A directory that is being walked through.
  private struct Level {
    let path: LocalPath
    let device: UInt64
    let inode: UInt64
    var names: NextNames
    /// Whether it has a mark of an unfinished file.
    var hasMarks: Bool
  }

  /// Below it, no link is followed.
  let root: LocalPath
  /// Where the walk begins: there, or below.
  private let start: LocalPath
  /// Called with each directory before it is read. Returns why it is not read; nil if it is.
  var onEnter: (LocalPath, OpenDirectory) -> String? = { _, _ in nil }
  /// How much of a directory's names is held, in bytes.
  private let namesLength: Int
  private let selection: FileSelection
  private var levels: [Level] = []
  private var hasBegun = false
  /// Files and failures so far.
  private(set) var itemCount = 0
  /// Whether the last file can have a mark beside it that it is unfinished: its directory has any. This saves looking for one beside each of
  /// thousands of files.
  private(set) var mayBeUnfinished = false

  init(
    _ root: LocalPath, from start: LocalPath? = nil, _ selection: FileSelection,
    namesLength: Int = Limits.directoryNamesLength
  ) {
    self.root = root
    self.start = start ?? root
    self.namesLength = namesLength
    self.selection = selection
  }

  /// - Returns: nil at the end.
  func next() -> Item? {
    guard let item = advance() else { return nil }
    itemCount += 1
    return item
  }

  private func advance() -> Item? {
    if !hasBegun {
      hasBegun = true
      if let failure = enter(start) { return failure }
    }
    while !levels.isEmpty {
      let index = levels.count - 1
      if let name = levels[index].names.next() {
        let path = levels[index].path.appendingName(name.bytes)
        if !name.isDirectory {
          mayBeUnfinished = levels[index].hasMarks
          return .file(path)
        }
        if let failure = enter(path) { return failure }
      } else if levels[index].names.beginNextRound() {
        let read = offer(levels[index].path, &levels[index].names)
        levels[index].hasMarks = read.hasMarks
        if let error = read.error {
          return .failure(levels.removeLast().path, error)
        }
      } else {
        levels.removeLast()
      }
    }
    return nil
  }

  /// Enters a directory, unless it contains itself (a bind mount can).
  private func enter(_ path: LocalPath) -> Item? {
    if path != root, selection.isForDelivered(path) { return nil }
    guard levels.count < Limits.directoryDepth else {
      return .failure(path, "is nested more than " + String(Limits.directoryDepth) + " directories deep")
    }
    let capacity = max(namesLength >> levels.count, Limits.directoryNamesMinimumLength)
    var names = NextNames(capacity: capacity)
    let (status, hasMarks, error) = offer(path, &names, onEnter)
    if let error { return .failure(path, error) }
    guard !levels.contains(where: { $0.device == status.device && $0.inode == status.inode }) else { return nil }
    levels.append(Level(path: path, device: status.device, inode: status.inode, names: names, hasMarks: hasMarks))
    return nil
  }

  private final class Round {
    var names: NextNames
    var hasMarks = false
    let selection: FileSelection

    init(_ names: NextNames, _ selection: FileSelection) {
      self.names = names
      self.selection = selection
    }

    func offer(_ name: UnsafePointer<CChar>, _ kind: Int32) {
      let bytes = LocalPath(cString: name).bytes
      switch Int(kind) {
      case SHIM_KIND_REGULAR:
        if selection.takes(file: bytes) { names.offer(bytes, isDirectory: false) }
        if FileSelection.isUnfinishedMark(bytes) { hasMarks = true }
      case SHIM_KIND_DIRECTORY: if FileSelection.takes(directory: bytes) { names.offer(bytes, isDirectory: true) }
      default: break
      }
    }
  }

  /// Reads a directory once.
  private func offer(
    _ path: LocalPath, _ names: inout NextNames, _ onEnter: (LocalPath, OpenDirectory) -> String? = { _, _ in nil }
  ) -> (status: shim_file_status, hasMarks: Bool, error: String?) {
    var status = shim_file_status()
    let directory: OpenDirectory
    do throws(SystemError) { directory = try OpenDirectory(path, below: root) } catch {
      return (status, false, "cannot be read: " + error.text)
    }
    if let problem = onEnter(path, directory) { return (status, false, problem) }
    let round = Round(names, selection)
    // Only one of both may hold the names while they change.
    names = NextNames(capacity: 0)
    let result = shim_list_directory(
      directory.descriptor, &status,
      { name, kind, context in
        guard let name, let context else { return }
        Unmanaged<Round>.fromOpaque(context).takeUnretainedValue().offer(name, kind)
      }, Unmanaged.passUnretained(round).toOpaque())
    withExtendedLifetime(round) {}
    round.names.endRound()
    names = round.names
    return (status, round.hasMarks, result == 0 ? nil : "cannot be read: " + SystemError(result: result).text)
  }
}

/// The file beside another one that shows that a downloader has not finished it.
enum UnfinishedMark {
  /// - Returns: its path; nil if there is none.
  static func beside(_ file: LocalPath) -> LocalPath? {
    FileSelection.unfinishedEndings.lazy.map { file.appending($0) }.first { shim_file_status(ofLinkAt: $0) != nil }
  }
}

extension FileSelection {
  /// Whether delivered recordings are moved into a directory.
  fileprivate func isForDelivered(_ directory: LocalPath) -> Bool {
    guard let target = delivered, let other = shim_file_status(at: target) else { return false }
    return shim_file_status(at: directory)?.isSameFile(as: other) ?? false
  }

  /// Whether a walk through a directory enters this one.
  func enters(_ directory: LocalPath, below root: LocalPath) -> Bool {
    var path = directory
    while path.bytes.count > root.bytes.count {
      if !FileSelection.takes(directory: path.name.bytes) || isForDelivered(path) { return false }
      path = path.directory
    }
    return true
  }
}

extension Limits {
  /// The names of one directory that are sorted at a time, in bytes; of a directory in it half as many, and so on down to the least.
  /// Directories with more are read several times. Twice as much is held.
  static let directoryNamesLength = 256 << 10
  static let directoryNamesMinimumLength = 8 << 10
}
