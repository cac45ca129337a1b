import CShims
import UploadCore

/// A recording on disk, opened once and read from start to end.
final class SourceFile {
  /// Closes the descriptor when the last one who uses it is freed.
  private final class Opened {
    let descriptor: Int32
    init(_ descriptor: Int32) { self.descriptor = descriptor }
    deinit { _ = shim_close(descriptor) }
  }

  let path: LocalPath
  private let opened: Opened
  var descriptor: Int32 { opened.descriptor }
  /// How it grows while it is sent; nil for a finished recording.
  private var growth: GrowingFile?
  private let statusAtOpen: shim_file_status
  /// The status time at which its content was last known to be unchanged since it was opened.
  private var unchangedAt: StatusTime
  /// Whether every later write changes that time, which advances in steps of some milliseconds.
  private var isConclusive: Bool
  /// How many bytes at its end were never written: a recorder has reserved their space, or lost them in a power cut. 0 if the file system
  /// cannot tell.
  private(set) lazy var unwrittenTail = max(0, statusAtOpen.size - shim_written_length(descriptor, statusAtOpen.size))

  /// Whether a program writes to it now.
  func writers() -> FileWriters { FileWriters(of: descriptor) }

  /// Whether a program may have written to it since ``noteWriters()``: a write to a page that is mapped and dirty changes no time.
  private(set) var mayBeWritten = false

  /// Called before its content is read, in order to know later what its times prove.
  func noteWriters() {
    switch writers() {
    case .writer, .notNow: mayBeWritten = true
    case .noWriter, .undetectable: break
    }
  }

  /// The size when the file was opened, in bytes; while it grows, how much of it there is.
  var size: Int64 { growth?.length ?? statusAtOpen.size }
  /// When it had been modified then, in seconds since 1970.
  var modifiedSeconds: Int64 { statusAtOpen.modified_seconds }

  /// Opens the file and checks that it can be sent.
  /// - Parameters:
  ///   - limit: the largest size to accept, in bytes.
  ///   - root: the directory that it was found in, below which no link is followed; nil if it was named.
  ///   - growth: how it grows; nil for a finished recording, which is not empty.
  static func open(
    _ path: LocalPath, limit: Int64, below root: LocalPath? = nil, growth: GrowingFile? = nil
  ) throws(FileError) -> SourceFile {
    guard let root else { return try checked(path, shim_open_for_reading(path.cName, 0), limit: limit, growth) }
    let directory: OpenDirectory
    do throws(SystemError) { directory = try OpenDirectory(path.directory, below: root) } catch {
      throw error.code == SHIM_ELOOP ? .notRegular(kind: "behind a symbolic link") : FileError(absence: error)
    }
    return try open(path, limit: limit, in: directory, growth)
  }

  /// Opens the file of that name in its directory, unless it is a link.
  static func open(
    _ path: LocalPath, limit: Int64, in directory: OpenDirectory, _ growth: GrowingFile? = nil
  ) throws(FileError) -> SourceFile {
    let opened = directory.open(path.name)
    guard -opened != SHIM_ELOOP else { throw .notRegular(kind: "a symbolic link") }
    return try checked(path, opened, limit: limit, growth)
  }

  /// - Parameter opened: its descriptor, or -errno.
  private static func checked(
    _ path: LocalPath, _ opened: Int32, limit: Int64, _ growth: GrowingFile?
  ) throws(FileError) -> SourceFile {
    guard opened >= 0 else { throw FileError(absence: SystemError(result: opened)) }
    return try checked(path, Opened(opened), limit: limit, growth)
  }

  private static func checked(
    _ path: LocalPath, _ opened: Opened, limit: Int64, _ growth: GrowingFile?
  ) throws(FileError) -> SourceFile {
    let status = try status(opened.descriptor)
    try check(status, limit: limit, mayBeEmpty: growth != nil)
    return SourceFile(path, opened, status, growth)
  }

  private init(_ path: LocalPath, _ opened: Opened, _ status: shim_file_status, _ growth: GrowingFile?) {
    self.path = path
    self.opened = opened
    self.growth = growth
    statusAtOpen = status
    unchangedAt = StatusTime(status)
    isConclusive = unchangedAt.isPast
  }

  /// For its user, if nobody ever wrote its end. A shorter one is the rest of a block.
  var unwrittenWarning: String? {
    let shortest: Int64 = 64 << 10
    guard unwrittenTail >= shortest else { return nil }
    return PrintableText.line(path.text) + ": its last " + SizeText.short(unwrittenTail)
      + " were never written (a power cut, or a program that reserves space). They are sent as zeros."
  }

  /// It will be read from start to end.
  func adviseReading() { shim_advise_sequential(descriptor) }

  static func isMissing(_ path: LocalPath) -> Bool {
    let opened = shim_open_for_reading(path.cName, 0)
    if opened >= 0 { _ = shim_close(opened) }
    return -opened == SHIM_ENOENT || -opened == SHIM_ENOTDIR
  }

  private static func status(_ descriptor: Int32) throws(FileError) -> shim_file_status {
    do throws(SystemError) { return try .of(descriptor) } catch { throw .unreadable(error) }
  }

  private static func check(_ status: shim_file_status, limit: Int64, mayBeEmpty: Bool) throws(FileError) {
    switch Int(status.kind) {
    case SHIM_KIND_REGULAR: break
    case SHIM_KIND_DIRECTORY: throw .notRegular(kind: "a directory")
    case SHIM_KIND_FIFO: throw .notRegular(kind: "a FIFO")
    default: throw .notRegular(kind: "a device")
    }
    guard status.size > 0 || mayBeEmpty else { throw .empty }
    guard status.size <= limit else { throw .tooLarge(size: status.size, limit: limit) }
  }

  var device: UInt64 { statusAtOpen.device }

  var statusTimeAtOpen: StatusTime { StatusTime(statusAtOpen) }

  /// The ID of its file system; nil if that has none.
  var fileSystemID: UInt64? { FileSystem.id(of: descriptor) }

  /// Whether it is the file that was judged earlier, and had not been written since when it was opened.
  func isStill(_ judged: FileSighting) -> Bool {
    FileSighting(statusAtOpen, on: judged.identity.hasStableInode ? .stable : .unstable).isStill(judged)
  }

  /// Reads from `offset` into `space`, as much as there is.
  /// - Returns: the number of bytes, at least one.
  func read(into space: UnsafeMutableRawBufferPointer, at offset: Int64) throws(FileError) -> Int {
    let count = shim_pread(descriptor, space.baseAddress, space.count, offset)
    guard count >= 0 else { throw .readFailed(offset: offset, SystemError(result: count)) }
    guard count > 0 else { throw shrank(to: offset) }
    return Int(count)
  }

  /// It ends at this offset at the latest.
  private func shrank(to offset: Int64) -> FileError {
    let length = (try? SourceFile.status(descriptor))?.size ?? offset
    return .shrank(size: size, to: min(length, offset))
  }

  /// Asked each time: another file system may be mounted by now, with the same device number.
  var fileSystemKind: FileSystem.Kind { FileSystem.kind(type: shim_file_system_type(descriptor)) }

  /// The identity of the recording.
  /// - Parameters:
  ///   - space: a buffer to read into, at least one byte.
  ///   - kind: of its file system.
  func identity(
    using space: UnsafeMutableRawBufferPointer, on kind: FileSystem.Kind = .stable
  ) throws(UploadError) -> FileIdentity {
    // Where a file system knows it, what was read of reserved space looks as if it had been written.
    if kind == .stable { _ = unwrittenTail }
    let digest = try Digest(.sha256)
    let length = min(Int64(Limits.edgeLength), size)
    // The edges of a short file overlap or are the same.
    for start in [0, size - length] {
      var taken: Int64 = 0
      while taken < length {
        let room = UnsafeMutableRawBufferPointer(rebasing: space.prefix(Int(length - taken)))
        do throws(FileError) {
          let count = try read(into: room, at: start + taken)
          digest.update(UnsafeRawBufferPointer(rebasing: room[..<count]))
          taken += Int64(count)
        } catch { throw .file(path, error) }
      }
    }
    return FileIdentity(statusAtOpen, on: kind, edges: try digest.finishInHex())
  }

  /// Whether its recorder only appends to it, as far as its beginning shows.
  /// - Parameter space: a buffer to read into.
  func isAppended(using space: UnsafeMutableRawBufferPointer) -> Bool {
    let room = UnsafeMutableRawBufferPointer(rebasing: space.prefix(64 << 10))
    guard let count = try? read(into: room, at: 0) else { return false }
    return AppendedFormat.matches(UnsafeRawBufferPointer(rebasing: room[..<count]))
  }

  /// Whether it is sent while it is made.
  var isGrowing: Bool { growth != nil }

  /// Looks at a recording that grows.
  /// - Returns: whether it has ended.
  func hasEnded(nowMilliseconds now: Int64) throws(FileError) -> Bool {
    let status = try SourceFile.status(descriptor)
    let changed = StatusTime(status)
    let age = shim_unix_milliseconds() - changed.seconds * 1000 - changed.nanoseconds / 1_000_000
    return growth?.hasEnded(
      GrowingFile.Look(
        length: shim_written_length(descriptor, status.size), changed: changed, ageMilliseconds: age,
        writers: writers()), nowMilliseconds: now) ?? true
  }

  /// Up to the last byte that has been written by now, in bytes.
  private func writtenLength() throws(FileError) -> Int64 {
    shim_written_length(descriptor, try SourceFile.status(descriptor).size)
  }

  /// How far its upload is.
  /// - Parameters:
  ///   - delivered: how much of it has arrived, in bytes.
  ///   - isInOrder: whether that is its beginning.
  func progress(delivered: Int64, isInOrder: Bool = false, nowMilliseconds now: Int64) -> UploadProgress {
    // The last known length will do for a report.
    let length = isGrowing ? (try? writtenLength()) ?? size : size
    // In place: a copy would be allocated.
    return growth?.progress(delivered: delivered, isInOrder: isInOrder, of: length, nowMilliseconds: now)
      ?? UploadProgress(deliveredBytes: min(delivered, length), totalBytes: length)
  }

  /// The same file with the size, the times and the name that it has now. If it has been removed, it keeps its name.
  /// - Parameters:
  ///   - limit: the largest size to accept, in bytes.
  ///   - isGrowing: whether it is still sent while it grows.
  func renewed(limit: Int64, isGrowing: Bool) throws(FileError) -> SourceFile {
    try SourceFile.checked(currentPath, opened, limit: limit, isGrowing ? growth : nil)
  }

  /// Whether it was removed while it was made, and is not to be delivered then.
  var cancelsUpload: Bool { growth?.isCancelledByRemoval ?? false && isRemoved }

  /// Whether no directory has it any more.
  var isRemoved: Bool { (try? SourceFile.status(descriptor))?.links == 0 }

  /// Whether another file has its path, and no directory has this one any more.
  var isReplaced: Bool {
    guard let other = shim_file_status(at: path), other.isRegular, !other.isSameFile(as: statusAtOpen) else {
      return false
    }
    return isRemoved
  }

  /// Where it is now; where it was opened if it has been removed, or nobody can tell.
  var currentPath: LocalPath {
    if shim_file_status(at: path)?.isSameFile(as: statusAtOpen) ?? false || isRemoved { return path }
    var name = [CChar](repeating: 0, count: Limits.pathLength)
    guard shim_path_of(descriptor, &name, name.count) == 0 else { return path }
    // That of a file system which is not mounted any more is none.
    let found = LocalPath(cString: name)
    return shim_file_status(at: found)?.isSameFile(as: statusAtOpen) ?? false ? found : path
  }

  /// Checks that the file has not changed since it was opened. Otherwise the bytes read may be a mixture that never existed.
  /// - Returns: true if only its status has changed (ctime). That may mean a rewrite with the modification time restored.
  func verifyUnchanged() throws(FileError) -> Bool {
    if growth != nil { return false }
    let now = try SourceFile.status(descriptor)
    if now.size < size { throw .shrank(size: size, to: now.size) }
    if now.size > size { throw .grew(from: size, to: now.size) }
    guard now.modified_seconds == statusAtOpen.modified_seconds,
      now.modified_nanoseconds == statusAtOpen.modified_nanoseconds
    else { throw .rewritten }
    return unchangedAt != StatusTime(now)
  }

  /// The current status time, for ``confirmUnchanged(at:)``.
  func statusTime() throws(FileError) -> StatusTime {
    StatusTime(try SourceFile.status(descriptor))
  }

  /// The content was found unchanged at this status time.
  func confirmUnchanged(at time: StatusTime) {
    unchangedAt = time
    isConclusive = time.isPast
  }

  /// The status time that proves later that the content is still the one that was sent; nil if none can.
  var provenStatusTime: StatusTime? { isConclusive && !mayBeWritten ? unchangedAt : nil }

  /// Throws if the file itself fails at this offset.
  func verifyReadable(at offset: Int64) throws(FileError) {
    do throws(FileError) { _ = try SourceFile.status(descriptor) } catch {
      if case .unreadable(let cause) = error { throw .readFailed(offset: offset, cause) }
      throw error
    }
    var byte: UInt8 = 0
    let count = shim_pread(descriptor, &byte, 1, offset)
    guard count >= 0 else { throw .readFailed(offset: offset, SystemError(result: count)) }
    guard count > 0 else { throw shrank(to: offset) }
  }
}

extension FileError {
  /// The file cannot be opened or examined.
  package init(absence error: SystemError) {
    self = error.code == SHIM_ENOENT || error.code == SHIM_ENOTDIR ? .missing : .unreadable(error)
  }
}

extension FileWriters {
  /// Asks now. Nothing is held afterwards, so that no program that opens the file has to wait.
  package init(of descriptor: Int32) {
    // What another machine does with the file, the kernel does not know.
    if FileSystem.isShared(type: shim_file_system_type(descriptor)) {
      self = .undetectable(SystemError(code: SHIM_EOPNOTSUPP))
      return
    }
    let result = shim_writers(descriptor)
    switch SystemError(result: result) {
    case _ where result == 0: self = .noWriter
    case SystemError(code: SHIM_EAGAIN): self = .writer
    case let error where error.isPassing: self = .notNow(error)
    case let error: self = .undetectable(error)
    }
  }
}

extension SystemError {
  /// Whether it says something about this moment, not about the file system or the permissions: a limit of this machine is reached, the
  /// disk has failed, or another process has a lease.
  package var isPassing: Bool { [SHIM_EMFILE, SHIM_ENFILE, SHIM_EIO, SHIM_ENOMEM, SHIM_EAGAIN].contains(code) }

  /// Of an attempt to open a file without waiting: another process has a lease on it.
  var isLease: Bool { code == SHIM_EAGAIN }
}
