import Uploader

/// The scans of one directory: of everything, and of directories that have appeared in it. A few entries at a time.
final class DirectoryScan {
  private let root: LocalPath
  private let selection: FileSelection
  private var walk: DirectoryWalk?
  /// Directories that have appeared.
  private var pending: [LocalPath] = []
  private var isFullDue = false
  private var isFull = false
  /// Counts the scans of everything.
  private(set) var number = 0
  /// Called with each directory before it is read, and whether it is the root. Returns why it is not read; nil if it is.
  private let onEnter: (LocalPath, OpenDirectory, Bool) -> String?

  init(_ root: LocalPath, _ selection: FileSelection, onEnter: @escaping (LocalPath, OpenDirectory, Bool) -> String?) {
    self.root = root
    self.selection = selection
    self.onEnter = onEnter
  }

  /// Whether there is something to do.
  var isDue: Bool { walk != nil || isFullDue || !pending.isEmpty }

  func request() { isFullDue = true }

  func request(_ directory: LocalPath) {
    if pending.contains(directory) || isFullDue { return }
    if pending.count < Limits.watchScanCount { pending.append(directory) } else { isFullDue = true }
  }

  func cancel() {
    walk = nil
    pending = []
    isFullDue = false
  }

  enum Step {
    case item(DirectoryWalk.Item)
    /// A scan has ended.
    case ended(isFull: Bool)
    case nothing
  }

  func next() -> Step {
    if walk == nil {
      guard isDue else { return .nothing }
      // A full scan finds the others, too.
      isFull = isFullDue
      if isFull {
        pending = []
        number += 1
      }
      isFullDue = false
      let path = isFull ? root : pending.removeFirst()
      let begun = DirectoryWalk(root, from: path, selection, namesLength: Limits.watchNamesLength)
      begun.onEnter = { [root, onEnter] in onEnter($0, $1, $0 == root) }
      walk = begun
    }
    if let item = walk?.next() { return .item(item) }
    walk = nil
    return .ended(isFull: isFull)
  }
}
