import CShims
import Uploader

/// The directories whose changes the kernel reports.
final class InotifyWatches {
  struct Change {
    enum Kind { case file, directory, gone }
    let kind: Kind
    /// The directory that was added with this number.
    let owner: Int
    let path: LocalPath
  }

  private struct Watch {
    let number: Int32
    let owner: Int
    var path: LocalPath
    /// The scan that has last seen it.
    var scan: Int
  }

  /// Poll waits for it. Negative if there is none.
  let descriptor: Int32
  /// In the order of their numbers.
  private var watches: [Watch] = []
  /// Whether changes were lost.
  private(set) var hasLost = false
  private var changes: [Change] = []

  init() { descriptor = shim_inotify_create() }

  deinit { if descriptor >= 0 { _ = shim_close(descriptor) } }

  /// - Parameters:
  ///   - isRoot: whether it was named, so that it may be a link.
  ///   - scan: a number for ``prune(_:before:)``.
  /// - Returns: 0, or -errno if it cannot be watched.
  func add(_ path: LocalPath, owner: Int, isRoot: Bool, scan: Int) -> Int32 {
    guard descriptor >= 0, let cString = path.cString else { return descriptor }
    let number = shim_inotify_add(descriptor, cString, isRoot ? 1 : 0)
    if number < 0 { return number }
    let index = position(number)
    if index < watches.count, watches[index].number == number {
      watches[index].path = path
      watches[index].scan = scan
    } else if watches.count < Limits.watchedDirectoryCount {
      watches.insert(Watch(number: number, owner: owner, path: path, scan: scan), at: index)
    } else {
      shim_inotify_remove(descriptor, number)
      return -SHIM_ENOMEM
    }
    return 0
  }

  /// Ends the watches of directories that later scans have not found.
  func prune(_ owner: Int, before scan: Int) {
    for index in watches.indices.reversed() where watches[index].owner == owner && watches[index].scan < scan {
      shim_inotify_remove(descriptor, watches.remove(at: index).number)
    }
  }

  /// The position of a number, or where it would be.
  private func position(_ number: Int32) -> Int {
    var range = 0..<watches.count
    while !range.isEmpty {
      let middle = (range.lowerBound + range.upperBound) / 2
      range = watches[middle].number < number ? (middle + 1)..<range.upperBound : range.lowerBound..<middle
    }
    return range.lowerBound
  }

  /// The changes since the last call. Those that the kernel has dropped are missing.
  func read() -> (changes: [Change], hasLost: Bool) {
    guard descriptor >= 0 else { return ([], false) }
    let visit: @convention(c) (Int32, Int32, UnsafePointer<CChar>?, UnsafeMutableRawPointer?) -> Void = {
      number, kind, name, context in
      guard let name, let context else { return }
      Unmanaged<InotifyWatches>.fromOpaque(context).takeUnretainedValue().handle(number, Int(kind), name)
    }
    // At most a few kilobytes at a time, so that nothing else has to wait.
    _ = shim_inotify_read(descriptor, visit, Unmanaged.passUnretained(self).toOpaque())
    defer {
      changes = []
      hasLost = false
    }
    return (changes, hasLost)
  }

  private func handle(_ number: Int32, _ kind: Int, _ name: UnsafePointer<CChar>) {
    if kind == SHIM_CHANGES_LOST {
      hasLost = true
      return
    }
    let index = position(number)
    guard index < watches.count, watches[index].number == number else { return }
    let (owner, directory) = (watches[index].owner, watches[index].path)
    if kind == SHIM_CHANGED_SELF {
      watches.remove(at: index)
      shim_inotify_remove(descriptor, number)
      changes.append(Change(kind: .gone, owner: owner, path: directory))
      return
    }
    let separator: [UInt8] = directory.bytes.last == ASCII.slash ? [] : [ASCII.slash]
    let path = LocalPath(bytes: directory.bytes + separator + LocalPath(cString: name).bytes)
    changes.append(Change(kind: kind == SHIM_CHANGED_FILE ? .file : .directory, owner: owner, path: path))
  }
}
