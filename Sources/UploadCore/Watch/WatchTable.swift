/// The directories whose changes the kernel reports. It has one number for each, whatever the path, and reports a change once: a directory
/// that is watched on its own and is also in another one has several owners.
package struct WatchTable: Sendable {
  package struct Entry: Equatable, Sendable {
    package let owner: Int
    package fileprivate(set) var path: LocalPath
    /// Whether only the name of `path` in it matters: that of a watched directory, which may be removed and made again.
    fileprivate(set) var isOfName = false
    /// The scan that has last seen it.
    fileprivate var scan: Int
  }

  private struct Watch {
    let number: Int32
    var entries: [Entry]
  }

  /// In the order of their numbers.
  private var watches: [Watch] = []

  package init() {}

  /// - Parameter scan: a number for ``prune(_:before:)``.
  /// - Returns: whether there is room for it.
  package mutating func add(_ number: Int32, owner: Int, path: LocalPath, scan: Int) -> Bool {
    add(number, Entry(owner: owner, path: path, scan: scan))
  }

  /// The directory in which `path` has its name. No scan finds it, and none prunes it.
  /// - Returns: whether there is room for it.
  package mutating func add(_ number: Int32, owner: Int, nameOf path: LocalPath) -> Bool {
    add(number, Entry(owner: owner, path: path, isOfName: true, scan: .max))
  }

  private mutating func add(_ number: Int32, _ entry: Entry) -> Bool {
    let index = position(number)
    guard hasNumber(number, at: index) else {
      guard watches.count < Limits.watchedDirectoryCount else { return false }
      watches.insert(Watch(number: number, entries: [entry]), at: index)
      return true
    }
    if let known = watches[index].entries.firstIndex(where: { $0.owner == entry.owner && $0.isOfName == entry.isOfName }
    ) {
      watches[index].entries[known] = entry
    } else {
      watches[index].entries.append(entry)
    }
    return true
  }

  /// Removes the owner's directories that later scans have not found.
  /// - Returns: the numbers of those that have no other owner.
  package mutating func prune(_ owner: Int, before scan: Int) -> [Int32] {
    remove { $0.owner == owner && $0.scan < scan }
  }

  /// Removes all of the owner's directories.
  /// - Returns: the numbers of those that have no other owner.
  package mutating func remove(of owner: Int) -> [Int32] {
    remove { $0.owner == owner }
  }

  private mutating func remove(_ isEnded: (Entry) -> Bool) -> [Int32] {
    for index in watches.indices { watches[index].entries.removeAll(where: isEnded) }
    let ended = watches.filter { $0.entries.isEmpty }.map { $0.number }
    watches.removeAll { $0.entries.isEmpty }
    return ended
  }

  /// Whose directory it is, and by what path; none if the number is not known.
  package func entries(of number: Int32) -> [Entry] {
    let index = position(number)
    return hasNumber(number, at: index) ? watches[index].entries : []
  }

  /// All paths by which a directory is watched. A link or a bind mount gives it another one.
  /// - Parameter path: one of them.
  package func paths(of path: LocalPath) -> [LocalPath] {
    var paths = [path]
    for watch in watches where watch.entries.contains(where: { !$0.isOfName && $0.path == path }) {
      for entry in watch.entries where !entry.isOfName && !paths.contains(entry.path) { paths.append(entry.path) }
    }
    return paths
  }

  /// What the kernel reports of a directory.
  package enum Event: Sendable {
    /// A file is there, has changed, or got other permissions.
    case file
    case directory
    /// A directory got other permissions: one in it, or, without a name, that itself.
    case permissions
    case removal
    /// The directory itself was removed, moved or unmounted.
    case end
  }

  package struct Change: Equatable, Sendable {
    package enum Kind: Sendable {
      case file, directory, permissions
      case gone
      /// There may be something else, or nothing, at the path of a watched directory.
      case name
      /// Such changes are no longer reported.
      case nameEnded
    }

    package let kind: Kind
    package let owner: Int
    package let path: LocalPath
  }

  /// What an event means for each owner.
  /// - Parameter name: of what is in the directory; empty for the directory itself.
  package func changes(of number: Int32, _ event: Event, name: [UInt8]) -> [Change] {
    entries(of: number).compactMap { entry in
      guard let kind = kind(of: event, name, entry) else { return nil }
      let path = entry.isOfName || name.isEmpty ? entry.path : entry.path.appendingName(name)
      return Change(kind: kind, owner: entry.owner, path: path)
    }
  }

  private func kind(of event: Event, _ name: [UInt8], _ entry: Entry) -> Change.Kind? {
    if entry.isOfName {
      if event == .end { return .nameEnded }
      return entry.path.lastComponentBytes.elementsEqual(name) ? .name : nil
    }
    switch event {
    case .file: return .file
    case .directory: return .directory
    case .permissions: return .permissions
    case .removal: return nil
    case .end: return .gone
    }
  }

  package mutating func remove(_ number: Int32) {
    let index = position(number)
    if hasNumber(number, at: index) { watches.remove(at: index) }
  }

  /// The position of a number, or where it would be.
  private func position(_ number: Int32) -> Int { watches.lowerBound { $0.number < number } }

  private func hasNumber(_ number: Int32, at index: Int) -> Bool {
    index < watches.count && watches[index].number == number
  }
}

extension Limits {
  /// Directories whose changes are watched, in one process. The kernel needs about 1 KiB for each; others are only scanned.
  static let watchedDirectoryCount = 2048
}
