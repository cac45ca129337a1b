import CShims
import Uploader

/// The list of the files that a directory had when it was first watched with `--existing skip`, in the state directory.
final class ExistingList {
  /// Why there is no list, after "cannot be watched: ".
  struct Problem: Error { let text: String }

  private let root: LocalPath
  private let file: LocalPath
  private let state: LocalPath
  private var descriptor: Int32 = -1
  private var files = ExistingFiles([], unread: [])
  /// The directories that could not be read yet.
  private var unread: [UInt64] = []
  /// The file system that was examined last.
  private var fileSystem: (device: UInt64, kind: FileSystem.Kind, origin: UInt64?)?

  private init(of root: LocalPath, in state: LocalPath) {
    let key = WatchedFile.key(root.bytes, [])
    (self.root, self.state) = (root, state)
    file = state.appending("/watch-" + ASCII.hex((0..<8).map { UInt8(truncatingIfNeeded: key >> ($0 * 8)) }) + ".start")
  }

  deinit { close() }

  private func close() {
    if descriptor >= 0 { _ = shim_close(descriptor) }
    descriptor = -1
  }

  /// - Returns: nil if the directory was never watched with `--existing skip`.
  static func open(of root: LocalPath, in state: LocalPath) throws(Problem) -> ExistingList? {
    let list = ExistingList(of: root, in: state)
    return try list.open() ? list : nil
  }

  /// The list, with what the directory has now if it is the first one.
  static func openOrCreate(of root: LocalPath, in state: LocalPath) throws(Problem) -> ExistingList {
    let list = ExistingList(of: root, in: state)
    if try list.open() { return list }
    do throws(StateError) { _ = try StateDirectory(state, warn: { _ in }) } catch {
      throw Problem(text: UploadError.state(error).problem)
    }
    var keys: [UInt64] = []
    try list.collect(root, &keys)
    try list.replace(&keys)
    return list
  }

  /// Whether the file was there. If the list cannot be read now, it may have been.
  func contains(_ path: LocalPath, _ status: shim_file_status) -> Bool {
    if files.count == 0 { return false }
    let hasLocalTimes = fileSystem(of: path, status.device).kind == .fat
    for shift in hasLocalTimes ? FileIdentity.timeShifts : [0] {
      if files.contains(key(path, status, shiftedBy: shift), { words($0) }) ?? true { return true }
    }
    return false
  }

  /// A directory is about to be scanned. If it could not be read before, what it has now was there.
  func noteEntering(_ directory: LocalPath) {
    if unread.isEmpty { return }
    let key = WatchedFile.key(relative(directory), [])
    guard let index = unread.firstIndex(of: key) else { return }
    let before = unread
    unread.remove(at: index)
    var isNoted = false
    if let words = words(0..<files.count) {
      var keys = words
      do throws(Problem) {
        try collect(directory, &keys)
        if !unread.contains(key) {
          try replace(&keys)
          isNoted = true
        }
      } catch {}
    }
    if !isNoted { unread = before }
  }

  // MARK: What is there

  /// Adds the keys of the files below a directory, and notes what cannot be read.
  private func collect(_ directory: LocalPath, _ keys: inout [UInt64]) throws(Problem) {
    // Other options may select other files later.
    let walk = DirectoryWalk(
      directory, FileSelection(patterns: [], selectsRecordings: false), namesLength: Limits.watchNamesLength)
    while let item = walk.next() {
      if shim_signal_received() != 0 { throw Problem(text: "interrupted") }
      switch item {
      case .failure(let path, let reason):
        if path == root { throw Problem(text: "it " + reason) }
        unread.append(WatchedFile.key(relative(path), []))
      case .file(let path):
        guard let status = shim_file_status(ofLinkAt: path) else { continue }
        keys.append(key(path, status))
      }
      guard keys.count + unread.count <= Limits.existingFileCount else {
        throw Problem(
          text: "--existing skip can remember at most " + String(Limits.existingFileCount) + " files, and it has more")
      }
    }
  }

  private func relative(_ path: LocalPath) -> [UInt8] { Array(path.bytes.dropFirst(root.bytes.count)) }

  /// - Parameter shift: what is added to its modification time, in seconds.
  private func key(_ path: LocalPath, _ status: shim_file_status, shiftedBy shift: Int64 = 0) -> UInt64 {
    let (_, kind, origin) = fileSystem(of: path, status.device)
    var (seconds, nanoseconds) = (status.modified_seconds &+ shift, status.modified_nanoseconds)
    // As FAT rounds it.
    if kind == .fat { (seconds, nanoseconds) = (seconds & ~1, 0) }
    let times = [status.size, seconds, nanoseconds].map { UInt64(bitPattern: $0) }
    return WatchedFile.key(relative(path), times + [origin ?? status.inode])
  }

  /// - Returns: `origin`: the number of a card; nil if the inodes of its file system are stable.
  private func fileSystem(
    of path: LocalPath, _ device: UInt64
  ) -> (device: UInt64, kind: FileSystem.Kind, origin: UInt64?) {
    if let fileSystem, fileSystem.device == device { return fileSystem }
    let descriptor = (try? OpenDirectory(path.directory, below: root).open(path.name)) ?? -1
    guard descriptor >= 0 else { return (device, .unstable, 0) }
    defer { _ = shim_close(descriptor) }
    let type = shim_file_system_type(descriptor)
    let kind = FileSystem.kind(type: type)
    let origin = kind == .stable ? nil : FileSystem.hasSerialNumber(type: type) ? shim_file_system_id(descriptor) : 0
    let found = (device, kind, origin)
    fileSystem = found
    return found
  }

  // MARK: The file

  private func open() throws(Problem) -> Bool {
    close()
    descriptor = shim_open_for_reading(file.cName, 0)
    if -descriptor == SHIM_ENOENT { return false }
    guard descriptor >= 0 else { throw unreadable(SystemError(result: descriptor)) }
    let (length, header): (Int64, [UInt8])
    do throws(SystemError) {
      length = try shim_file_status.of(descriptor).size
      header = try SmallFile.read(descriptor, ExistingFiles.headerLength, at: 0)
    } catch { throw unreadable(error) }
    guard let found = ExistingFiles(header: header, fileLength: length) else { throw damaged }
    files = found
    var sum = ExistingFiles.sum([])
    let count = files.count + files.unreadCount
    for start in stride(from: 0, to: count, by: ExistingList.runLength) {
      guard let words = words(start..<min(count, start + ExistingList.runLength)) else { throw damaged }
      sum = ExistingFiles.sum(words[...], after: sum)
      unread += words.dropFirst(max(0, files.count - start))
    }
    guard files.isWhole(sum) else { throw damaged }
    return true
  }

  /// Writes the whole list again. A power cut leaves either the new list or the one before.
  /// - Parameter keys: sorted in place, because they can be most of what the program has in memory.
  private func replace(_ keys: inout [UInt64]) throws(Problem) {
    keys.sort()
    let written = ExistingFiles(keys, unread: unread)
    let new = file.appending(".new")
    let output = shim_open_for_writing(new.cName, Int32(SHIM_OPEN_TRUNCATE))
    guard output >= 0 else { throw unwritable(output) }
    var result = written.header.withUnsafeBytes { shim_write_all(output, $0.baseAddress, $0.count) }
    for words in [keys, unread] {
      for start in stride(from: 0, to: words.count, by: ExistingList.runLength) where result == 0 {
        let bytes = ExistingFiles.bytes(words[start..<min(words.count, start + ExistingList.runLength)])
        result = shim_write_all(output, bytes, bytes.count)
      }
    }
    if result == 0 { result = shim_sync(output) }
    let closed = shim_close(output)
    if result == 0 { result = closed }
    if result == 0 { result = shim_rename(new.cName, file.cName) }
    guard result == 0 else {
      _ = shim_unlink(new.cName)
      throw unwritable(result)
    }
    result = shim_sync_directory(state.cName)
    guard result == 0 else { throw unwritable(result) }
    close()
    descriptor = shim_open_for_reading(file.cName, 0)
    guard descriptor >= 0 else { throw unreadable(SystemError(result: descriptor)) }
    files = written
  }

  /// Numbers that are read or written at a time.
  private static let runLength = 4096

  private func words(_ range: Range<Int>) -> [UInt64]? {
    let offset = Int64(ExistingFiles.headerLength + 8 * range.lowerBound)
    guard let bytes = try? SmallFile.read(descriptor, 8 * range.count, at: offset), bytes.count == 8 * range.count
    else {
      return nil
    }
    return ExistingFiles.words(bytes)
  }

  private var name: String { PrintableText.line(file.text) }

  private var damaged: Problem {
    Problem(
      text: name
        + " is damaged, so it is not known which files were there at the first start; remove that file, and what is "
        + "there then counts as existing, or use --existing upload")
  }

  private func unreadable(_ error: SystemError) -> Problem { Problem(text: name + " cannot be read: " + error.text) }

  private func unwritable(_ result: Int32) -> Problem {
    Problem(text: name + " cannot be written: " + SystemError(result: result).text)
  }
}
