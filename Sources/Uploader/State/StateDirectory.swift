import CShims
import UploadCore

/// The directory with one record per upload: `ID.record`, and `ID.delivered` once it is delivered. A record is written in full
/// under another name, synced and renamed, so that a power cut leaves either the previous or the new one; on FAT, it is written
/// twice instead (`StateDirectory+Copies.swift`). `ID.lock` is locked by
/// the process that is working on the upload, `ID.room` reserves space for the last write, and `ID.remove` says that the file is to be
/// removed (`StateDirectory+DueRemovals.swift`). `removals` is the journal of removals; `spare.lock` and `ballast.0` to `ballast.7` are
/// kept for them (`StateDirectory+Ballast.swift`). `index` maps files to records,
/// so that not all records must be read.
package final class StateDirectory {
  let path: LocalPath
  let warn: (String) -> Void
  var indexState = IndexState()
  /// Ends a walk through all records.
  var cancellation: Cancellation?
  /// The ballast in a directory of recordings, without the numbers of its files (`StateDirectory+Ballast.swift`); nil for none.
  var hiddenBallast: LocalPath?
  private var knownToKeepCopies: Bool?

  /// Whether each record has a copy, because its file system does not rename at once.
  /// - Throws: if that is unknown, for example because too many files are open. Without its copy, a power cut could take a record
  ///   on FAT; elsewhere, a copy would be out of date after the next change.
  func keepsCopies() throws(StateError) -> Bool {
    if let knownToKeepCopies { return knownToKeepCopies }
    let keepsCopies = try !hasAtomicRename()
    knownToKeepCopies = keepsCopies
    return keepsCopies
  }

  /// - Parameters:
  ///   - creates: whether to create the directory if it is missing. Otherwise it has no records until one is written.
  ///   - keepsCopies: whether each record has a copy; nil if the file system decides.
  ///   - warn: called for invalid records.
  package init(
    _ path: LocalPath, creates: Bool = true, keepsCopies: Bool? = nil, warn: @escaping (String) -> Void
  ) throws(StateError) {
    self.path = path
    self.warn = warn
    knownToKeepCopies = keepsCopies
    if creates { try makeDirectories() }
  }

  /// The directory if it is there; nothing is created.
  package init?(existing path: LocalPath, warn: @escaping (String) -> Void) throws(StateError) {
    var status = shim_file_status()
    let result = shim_stat(path.cName, &status)
    if -result == SHIM_ENOENT { return nil }
    guard result == 0 else { throw .unusable(path, SystemError(result: result)) }
    self.path = path
    self.warn = warn
  }

  func makeDirectories() throws(StateError) {
    // A parent may exist and be unwritable. If it does not exist, that is the error.
    var failure: StateError?
    let ends = path.bytes.indices.filter { $0 > 0 && path.bytes[$0] == ASCII.slash } + [path.bytes.count]
    var parent: LocalPath = path.bytes.first == ASCII.slash ? "/" : "."
    for end in ends {
      let path = LocalPath(bytes: Array(path.bytes[..<end]))
      guard let name = path.cString else { throw .unusable(path, SystemError(code: SHIM_EINVAL)) }
      let result = shim_make_directory(name)
      // Its name must survive a power cut.
      if result == 0 { _ = shim_sync_directory(parent.cName) }
      let isThere = result == 0 || -result == SHIM_EEXIST
      if !isThere, -result != SHIM_ENOENT || failure == nil { failure = .unusable(path, SystemError(result: result)) }
      if end == ends.last, !isThere, let failure { throw failure }
      parent = path
    }
  }

  // MARK: Reading

  /// The current record; nil if it is gone or invalid. Its lock must be held.
  /// - Throws: if it exists but cannot be read.
  package func current(_ id: String) throws(StateError) -> UploadRecord? {
    if let record = try read(id + ".delivered") { return record }
    return try read(id + ".record")
  }

  /// - Returns: nil if it is gone, or was damaged and has been renamed.
  func read(_ name: String) throws(StateError) -> UploadRecord? {
    let found: RecordFile
    do throws(StateError) { found = try recordFile(name, of: name) } catch {
      // Its blocks cannot be read, or something else is in its place. That this process may open no more files says nothing about it.
      guard case .unusable(_, let cause) = error, [SHIM_EIO, SHIM_EINVAL].contains(cause.code) else { throw error }
      if let copy = try copy(of: name) { return copy }
      throw error
    }
    switch found {
    // A power cut came before the record of a delivery had its name, but not before its copy had one. Of other records, nothing that
    // counts is written before both are on the disk.
    case .missing: return name.hasSuffix(".delivered") ? try copy(of: name) : nil
    case .whole(let record): return record
    case .damaged:
      if let copy = try copy(of: name) { return copy }
      let id = String(decoding: name.utf8.prefix { $0 != UInt8(ascii: ".") }, as: UTF8.self)
      if name == id + ".record", isDelivered(id) { removeUndelivered(id) } else { setAside(file(name)) }
      return nil
    }
  }

  /// Whether there is a whole record of its delivery. A power cut can leave a part of the record that led to it.
  private func isDelivered(_ id: String) -> Bool {
    let name = id + ".delivered"
    if case .whole? = try? recordFile(name, of: name) { return true }
    return (try? copy(of: name)) ?? nil != nil
  }

  enum RecordFile {
    case missing
    case whole(UploadRecord)
    case damaged
  }

  /// - Parameters:
  ///   - fileName: the file to read.
  ///   - name: the name of its record.
  func recordFile(_ fileName: String, of name: String) throws(StateError) -> RecordFile {
    let path = file(fileName)
    let descriptor = shim_open_for_reading(path.cName, 0)
    // Another process has just removed it.
    if -descriptor == SHIM_ENOENT { return .missing }
    guard descriptor >= 0 else { throw .unusable(path, SystemError(result: descriptor)) }
    defer { _ = shim_close(descriptor) }
    let bytes: [UInt8]
    do throws(SystemError) { bytes = try contents(of: descriptor) } catch { throw .unusable(path, error) }
    do throws(RecordError) {
      let record = try UploadRecord(decoding: bytes, crc32: { shim_crc32($0, $0.count) })
      // On FAT, a new file can have the content of one that was removed.
      let isPossible = record.phase == .delivered || !name.hasSuffix(".delivered")
      if name.hasPrefix(record.id + "."), isPossible { return .whole(record) }
    } catch {
      if error == .unsupportedVersion { throw .unsupportedVersion(path) }
    }
    return .damaged
  }

  private func contents(of descriptor: Int32) throws(SystemError) -> [UInt8] {
    var status = shim_file_status()
    let result = shim_fstat(descriptor, &status)
    guard result == 0 else { throw SystemError(result: result) }
    guard Int(status.kind) == SHIM_KIND_REGULAR else { throw SystemError(code: SHIM_EINVAL) }
    return try SmallFile.read(descriptor, limit: Int(min(status.size, Int64(Limits.recordLength))))
  }

  private func setAside(_ path: LocalPath) {
    let other = LocalPath(bytes: path.bytes + Array(".damaged".utf8))
    let result = rename(path.cName, other.cName)
    warn(
      PrintableText.line(path.text) + " is damaged and "
        + (result == 0
          ? "was renamed to " + PrintableText.line(other.lastComponent)
          : "could not be renamed (" + SystemError(result: result).text + ")")
        + "; its upload starts over.")
  }

  func exists(_ name: String) -> Bool {
    var status = shim_file_status()
    return shim_stat(file(name).cName, &status) == 0
  }

  /// Whether it is certain that there is no such file.
  func isMissing(_ file: LocalPath) -> Bool {
    var status = shim_file_status()
    return -shim_stat(file.cName, &status) == SHIM_ENOENT
  }

  // MARK: Name changes

  func unlink(_ name: [CChar]) -> Int32 { changing { shim_unlink(name) } }

  func rename(_ name: [CChar], _ other: [CChar]) -> Int32 { changing { shim_rename(name, other) } }

  func openForWriting(_ name: [CChar], _ how: Int32) -> Int32 { changing { shim_open_for_writing(name, how) } }

  func file(_ name: String) -> LocalPath {
    path.appendingName(Array(name.utf8))
  }
}
