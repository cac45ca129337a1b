import CShims
import UploadCore

/// The file `removals` of a state directory, locked: one removal at a time, whichever process it is. A line of it is synced before the
/// recording is renamed, and overwritten when the removal has ended. Its first block exists from the beginning, filled with line feeds, so
/// that a line needs no space on a full disk.
final class RemovalJournal {
  private static let name = "removals"

  private let directory: StateDirectory
  private let lock: StateLock
  /// The length without the entry of this process, in bytes.
  private var length: Int64

  private init(_ directory: StateDirectory, _ lock: StateLock, length: Int64) {
    self.directory = directory
    self.lock = lock
    self.length = length
  }

  /// - Returns: nil if another process is removing a recording.
  static func open(in directory: StateDirectory) throws(StateError) -> RemovalJournal? {
    guard let lock = try directory.lock(file: directory.file(name), mayTakeSpare: true) else { return nil }
    do throws(SystemError) {
      let length = min(try shim_file_status.of(lock.descriptor).size, Int64(Limits.removalJournalLength))
      let bytes = try SmallFile.read(lock.descriptor, Int(length), at: 0)
      return RemovalJournal(directory, lock, length: Int64(usedLength(of: bytes)))
    } catch { throw .unusable(directory.file(name), error) }
  }

  /// Makes the first block, unless it is there.
  static func reserve(in directory: StateDirectory) {
    let length = shim_file_status(at: directory.file(name))?.size ?? 0
    guard length < Int64(Limits.removalJournalReserve), let journal = try? open(in: directory) else { return }
    journal.end()
    _ = shim_sync(journal.lock.descriptor)
  }

  /// The length of the entries, without the line feeds behind them.
  private static func usedLength(of bytes: [UInt8]) -> Int { (bytes.lastIndex { $0 != ASCII.lineFeed } ?? -1) + 1 }

  /// Notes what is about to be removed, so that it survives a power cut.
  func begin(_ entry: RemovalEntry) throws(StateError) {
    // After a line that a power cut has torn.
    let line = [ASCII.lineFeed] + entry.encoded(crc32: { shim_crc32($0, $0.count) })
    guard length + Int64(line.count) <= Int64(Limits.removalJournalLength) else {
      throw failure(SystemError(code: SHIM_EFBIG))
    }
    var result = directory.withBallast {
      let result = shim_write_at(lock.descriptor, line, line.count, length)
      return result == 0 ? shim_sync(lock.descriptor) : result
    }
    // The file may be new.
    if result == 0 { result = directory.syncNames() }
    guard result == 0 else {
      end()
      throw failure(SystemError(result: result))
    }
  }

  /// The recording has one of its names again, or is gone, and that is on the disk: otherwise a power cut could bring the private name back
  /// without its line. If this is lost in a power cut, the next start finds nothing to undo.
  func end() {
    let rest = [UInt8](repeating: ASCII.lineFeed, count: max(0, Limits.removalJournalReserve - Int(length)))
    let result = shim_write_at(lock.descriptor, rest, rest.count, length)
    _ = shim_set_length(lock.descriptor, result == 0 ? length + Int64(rest.count) : length)
  }

  private func failure(_ error: SystemError) -> StateError {
    .unusable(directory.file(RemovalJournal.name), error)
  }

  // MARK: The next start

  /// Whether there may be something to recover. In general there is nothing but line feeds, or no file.
  static func hasEntries(in path: LocalPath) -> Bool {
    let descriptor = shim_open_for_reading(path.appendingName(Array(name.utf8)).cName, 0)
    guard descriptor >= 0 else { return false }
    defer { _ = shim_close(descriptor) }
    guard let bytes = try? SmallFile.read(descriptor, Limits.removalJournalReserve, at: 0) else { return true }
    return usedLength(of: bytes) > 0
  }

  /// Undoes removals that were interrupted: the recordings get their names back.
  static func recover(in directory: StateDirectory) {
    // While another process holds the lock, it is not interrupted.
    guard let journal = try? open(in: directory) else { return }
    guard
      let bytes = try? SmallFile.read(journal.lock.descriptor, Limits.removalJournalLength, at: 0)
    else { return }
    var isComplete = true
    for entry in RemovalEntry.entries(in: bytes, crc32: { shim_crc32($0, $0.count) }) {
      let privatePath = PrintableText.line(entry.privatePath.text)
      let parent = try? OpenDirectory(entry.path.directory)
      let delivery = try? LockedRecord.reopen(entry.id, in: directory)
      switch HiddenRecording.restore(entry, of: delivery, in: parent) {
      case .nothing: break
      case .waiting: isComplete = false
      case .restored(let path):
        directory.warn("an interrupted removal was undone: " + PrintableText.line(path.text) + " is back.")
      case .failed(let error):
        directory.warn(
          privatePath + ": its removal was interrupted, and it could not be renamed back to "
            + PrintableText.line(entry.path.text) + ": " + error.text + ".")
        isComplete = false
      }
      // Also if there was nothing to undo: a removal that was killed may not be on the disk yet.
      if !(parent?.sync() ?? false) { isComplete = false }
      if delivery?.record.phase == .delivered { directory.removeLock(entry.id) }
    }
    guard isComplete else { return }
    journal.length = 0
    journal.end()
  }
}

extension StateDirectory {
  /// Undoes removals of recordings that a power cut or a kill has interrupted. In general that costs three system calls.
  /// - Parameters:
  ///   - path: the state directory.
  ///   - warn: called for each recording that has its name back, or cannot get it back.
  package static func recoverRemovals(at path: LocalPath, warn: @escaping (String) -> Void) {
    guard RemovalJournal.hasEntries(in: path), let directory = try? StateDirectory(path, warn: warn) else { return }
    RemovalJournal.recover(in: directory)
  }
}

extension Limits {
  /// The journal of interrupted removals that wait for their media, in bytes: a dozen of the longest paths. More media than that
  /// are not pulled out in the middle of a removal.
  static let removalJournalLength = 64 << 10
  /// How long the journal always is, in bytes: one block, which its entries overwrite.
  static let removalJournalReserve = 4096
}
