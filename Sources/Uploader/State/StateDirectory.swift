import CShims
import UploadCore

/// The directory with one record an upload: `ID.record`, and `ID.delivered` once it is delivered. A record is written whole
/// to another name, brought to the disk and renamed, so that a power cut leaves the former or the new one. Beside it,
/// `ID.lock` is held by the process that works on the upload.
package final class StateDirectory {
  private let path: FilePath
  private let warn: (String) -> Void

  /// Makes the directory if it is missing.
  /// - Parameter warn: is told of records that cannot be trusted.
  package init(_ path: FilePath, warn: @escaping (String) -> Void) throws(StateError) {
    self.path = path
    self.warn = warn
    try makeDirectories()
  }

  private func makeDirectories() throws(StateError) {
    // What is above may be there and unwritable; if it is not there, that is what is wrong.
    var failure: StateError?
    let slash = UInt8(ascii: "/")
    let ends = path.bytes.indices.filter { $0 > 0 && path.bytes[$0] == slash } + [path.bytes.count]
    var parent: FilePath = path.bytes.first == slash ? "/" : "."
    for end in ends {
      let path = FilePath(bytes: Array(path.bytes[..<end]))
      guard let name = path.cString else { throw .unusable(path, SystemError(code: SHIM_EINVAL)) }
      let result = shim_make_directory(name)
      // Its name must not get lost in a power cut.
      if result == 0 { _ = shim_sync_directory(parent.cString ?? [0]) }
      let isThere = result == 0 || -result == SHIM_EEXIST
      if !isThere, -result != SHIM_ENOENT || failure == nil { failure = .unusable(path, SystemError(result: result)) }
      if end == ends.last, !isThere, let failure { throw failure }
      parent = path
    }
  }

  // MARK: Reading

  /// Which records are looked at. Delivered ones can become many.
  package enum Selection { case open, all }

  /// All records that can be trusted, oldest first. Others are set aside: renamed to `….damaged`, or left alone if another
  /// version wrote them.
  package func records(_ selection: Selection) throws(StateError) -> [UploadRecord] {
    var records: [UploadRecord] = []
    try visit(selection) { record in
      // Both are there if the power was cut between the two steps of a delivery.
      let other = records.firstIndex { $0.id == record.id }
      if let other, record.phase == .delivered { records[other] = record }
      if other == nil { records.append(record) }
    }
    return records.sorted { ($0.createdAt, $0.id) < ($1.createdAt, $1.id) }
  }

  /// Shows the records one after the other.
  /// - Parameter unreadable: is told of those that are left alone, by name.
  func visit(
    _ selection: Selection, unreadable: @escaping (String, StateError) -> Void = { _, _ in },
    _ body: @escaping (UploadRecord) -> Void
  ) throws(StateError) {
    let visitor = Visitor { [self] name in
      guard name.hasSuffix(".record") || (selection == .all && name.hasSuffix(".delivered")) else { return }
      do throws(StateError) {
        if let record = try read(name) { body(record) }
      } catch {
        warn(PrintableText.line(file(name).text) + " " + error.reason + "; it is left alone.")
        unreadable(name, error)
      }
    }
    let result = shim_visit_directory(
      path.cString ?? [0],
      { name, context in
        guard let name, let context else { return }
        Unmanaged<Visitor>.fromOpaque(context).takeUnretainedValue().visit(String(cString: name))
      }, Unmanaged.passUnretained(visitor).toOpaque())
    withExtendedLifetime(visitor) {}
    guard result == 0 else { throw .unusable(path, SystemError(result: result)) }
  }

  private final class Found {
    var record: UploadRecord?
    var isAmbiguous = false
    var failure: StateError?
  }

  private final class Visitor {
    let visit: (String) -> Void

    init(_ visit: @escaping (String) -> Void) { self.visit = visit }
  }

  /// The record whose ID begins with the text.
  package func record(_ id: String) throws(StateError) -> UploadRecord {
    let found = Found()
    try visit(.all) { name, error in
      if name.hasPrefix(id) { found.failure = error }
    } _: { record in
      guard record.id.hasPrefix(id) else { return }
      if let other = found.record, other.id != record.id { found.isAmbiguous = true }
      if found.record == nil || record.phase == .delivered { found.record = record }
    }
    guard !id.isEmpty else { throw .noSuchRecord(id) }
    if let failure = found.failure { throw failure }
    guard let record = found.record else { throw .noSuchRecord(id) }
    guard !found.isAmbiguous else { throw .ambiguousID(id) }
    return record
  }

  /// The record as it is now, for who holds its lock; nil if it is gone or cannot be trusted.
  /// - Throws: if it is there and cannot be read.
  package func current(_ id: String) throws(StateError) -> UploadRecord? {
    if let record = try read(id + ".delivered") { return record }
    return try read(id + ".record")
  }

  /// - Returns: nil if it is gone, or was damaged and has been set aside.
  private func read(_ name: String) throws(StateError) -> UploadRecord? {
    let path = file(name)
    let descriptor = shim_open_for_reading(path.cString ?? [0], 0)
    // Another process has just removed it.
    if -descriptor == SHIM_ENOENT { return nil }
    guard descriptor >= 0 else { throw .unusable(path, SystemError(result: descriptor)) }
    defer { _ = shim_close(descriptor) }
    let bytes: [UInt8]
    do throws(SystemError) { bytes = try contents(of: descriptor) } catch { throw .unusable(path, error) }
    do throws(RecordError) {
      let record = try UploadRecord(decoding: bytes, crc32: { shim_crc32($0, $0.count) })
      if name.hasPrefix(record.id + ".") { return record }
    } catch {
      if error == .foreign { throw .foreign(path) }
    }
    setAside(path)
    return nil
  }

  private func contents(of descriptor: Int32) throws(SystemError) -> [UInt8] {
    var status = shim_file_status()
    let result = shim_file_status_of(descriptor, &status)
    guard result == 0 else { throw SystemError(result: result) }
    guard Int(status.kind) == SHIM_KIND_REGULAR else { throw SystemError(code: SHIM_EINVAL) }
    var bytes = [UInt8](repeating: 0, count: Int(min(status.size, Int64(Limits.recordLength))) + 1)
    var length = 0
    while length < bytes.count {
      let count = bytes.withUnsafeMutableBytes { shim_read(descriptor, $0.baseAddress! + length, $0.count - length) }
      if count < 0 { throw SystemError(result: count) }
      if count == 0 { break }
      length += Int(count)
    }
    return Array(bytes[..<length])
  }

  private func setAside(_ path: FilePath) {
    let other = FilePath(bytes: path.bytes + Array(".damaged".utf8))
    let result = shim_rename(path.cString ?? [0], other.cString ?? [0])
    warn(
      PrintableText.line(path.text) + " is damaged and "
        + (result == 0
          ? "was set aside as " + PrintableText.line(other.lastComponent)
          : "could not be set aside (" + SystemError(result: result).text + ")")
        + "; its upload begins anew.")
  }

  // MARK: Writing

  /// Writes the record so that it survives a power cut.
  package func write(_ record: UploadRecord) throws(StateError) {
    let bytes = record.encoded(crc32: { shim_crc32($0, $0.count) })
    let temporary = file(record.id + ".new")
    // It could not be read again.
    guard bytes.count <= Limits.recordLength else { throw .unusable(temporary, SystemError(code: SHIM_EFBIG)) }
    let descriptor = shim_open_for_writing(temporary.cString ?? [0])
    var result = min(0, descriptor)
    if descriptor >= 0 {
      result = shim_write_all(descriptor, bytes, bytes.count)
      if result == 0 { result = shim_sync(descriptor) }
      let closed = shim_close(descriptor)
      if result == 0 { result = closed }
    }
    let isDelivered = record.phase == .delivered
    let target = file(record.id + (isDelivered ? ".delivered" : ".record"))
    if result == 0 { result = shim_rename(temporary.cString ?? [0], target.cString ?? [0]) }
    if result == 0 { result = shim_sync_directory(path.cString ?? [0]) }
    guard result == 0 else {
      _ = shim_unlink(temporary.cString ?? [0])
      throw .unusable(temporary, SystemError(result: result))
    }
    guard isDelivered else { return }
    _ = shim_unlink(file(record.id + ".record").cString ?? [0])
    removeLock(record.id)
  }

  /// Removes what a power cut between the two steps of a delivery has left. The lock must be held.
  func tidy(delivered id: String) {
    guard (try? read(id + ".delivered")) != nil else { return }
    _ = shim_unlink(file(id + ".record").cString ?? [0])
    removeLock(id)
  }

  /// Removes the record. Its lock must be held.
  package func remove(_ id: String) throws(StateError) {
    for path in [file(id + ".record"), file(id + ".delivered")] {
      let result = shim_unlink(path.cString ?? [0])
      guard result == 0 || -result == SHIM_ENOENT else { throw .unusable(path, SystemError(result: result)) }
    }
    removeLock(id)
    _ = shim_sync_directory(self.path.cString ?? [0])
  }

  /// Removes what a lock is put on. No record may be there any more, or none yet.
  func removeLock(_ id: String) { _ = shim_unlink(file(id + ".lock").cString ?? [0]) }

  // MARK: Locks

  /// Locks an upload against other processes.
  /// - Returns: nil if another process has it.
  package func lock(_ id: String) throws(StateError) -> StateLock? { try lock(file: file(id + ".lock")) }

  /// Locks the directory, for as long as it takes to look for a record and to make one. Waits for others a little.
  func lockForCreation() throws(StateError) -> StateLock {
    for _ in 0..<Limits.stateLockTries {
      if let lock = try lock(file: file("directory.lock")) { return lock }
      _ = shim_poll(nil, 0, Limits.stateLockPauseMilliseconds)
    }
    throw .unusable(file("directory.lock"), SystemError(code: SHIM_EAGAIN))
  }

  private func lock(file: FilePath) throws(StateError) -> StateLock? {
    let descriptor = shim_open_for_writing(file.cString ?? [0])
    guard descriptor >= 0 else { throw .unusable(file, SystemError(result: descriptor)) }
    let lock = StateLock(descriptor: descriptor)
    let result = shim_lock(descriptor)
    if -result == SHIM_EAGAIN { return nil }
    guard result == 0 else { throw .unusable(file, SystemError(result: result)) }
    return lock
  }

  private func file(_ name: String) -> FilePath { FilePath(bytes: path.bytes + [UInt8(ascii: "/")] + Array(name.utf8)) }
}

/// Held as long as it lives. The kernel gives it back when the process ends, however it ends.
package final class StateLock {
  private let descriptor: Int32

  fileprivate init(descriptor: Int32) { self.descriptor = descriptor }

  deinit { _ = shim_close(descriptor) }
}
