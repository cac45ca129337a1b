import CShims
import UploadCore

/// What a removal needs once a file system is full is reserved while there is space: the journal's bytes, a lock, and ballast, files whose
/// blocks and inodes are given back to what failed for lack of space. Otherwise nothing could be removed just when that is needed. It is of
/// use to uploads, too: what has no record of its delivery cannot be removed.
extension StateDirectory {
  /// Reserves what is missing. Also called after a removal, because that may have used it.
  /// - Parameter recordings: a directory with recordings that may be removed.
  package func reserveForRemovals(in recordings: LocalPath) {
    let hidden = recordings.appendingName(Array(".gighive-upload-ballast".utf8))
    hiddenBallast = StateDirectory.renamesNeedSpace(in: recordings) ? hidden : nil
    RemovalJournal.reserve(in: self)
    if isMissing(spareLock) { _ = createEmpty(spareLock) }
    for ballast in ballasts { makeBallast(ballast) }
  }

  /// The same for a state directory that may not be there yet; then nothing can be removed.
  package static func reserveForRemovals(at path: LocalPath, in recordings: LocalPath) {
    (try? StateDirectory(existing: path, warn: { _ in }))??.reserveForRemovals(in: recordings)
  }

  /// Makes a call. If it fails because the file system is full, it is made again without the ballast.
  func withBallast(_ call: () -> Int32) -> Int32 {
    let result = call()
    guard result < 0, SystemError(result: result).isLackOfSpace else { return result }
    for ballast in ballasts { giveUpBallast(ballast) }
    return call()
  }

  /// Syncs the names in this directory. The files stay as they are, so a second attempt loses nothing.
  func syncNames() -> Int32 { withBallast { shim_sync_directory(path.cName) } }

  private var spareLock: LocalPath { file("spare.lock") }

  /// Gives the spare lock another name, which takes no inode. No lock of that name is replaced.
  /// - Returns: whether it has that name now.
  func takeSpareLock(as file: LocalPath) -> Bool {
    guard let directory = try? OpenDirectory(path) else { return false }
    return directory.rename(spareLock.name, to: directory, file.name) == 0
  }

  /// Beside the records, and in the directory of the recordings if a rename there needs space.
  private var ballasts: [LocalPath] { [file("ballast")] + (hiddenBallast.map { [$0] } ?? []) }

  private func makeBallast(_ ballast: LocalPath) {
    guard !isWhole(ballast), let space = FreeSpace(at: ballast.directory), space.bytes >= Limits.ballastFromFreeBytes,
      space.files >= Limits.ballastFromFreeFiles
    else { return }
    for number in 0..<Limits.ballastFileCount {
      guard writePart(part(number, of: ballast)) else { return giveUpBallast(ballast) }
    }
    _ = shim_sync_directory(ballast.directory.cName)
  }

  /// A power cut may have left some of its files.
  private func isWhole(_ ballast: LocalPath) -> Bool {
    (0..<Limits.ballastFileCount).allSatisfy {
      shim_file_status(at: part($0, of: ballast))?.size == Int64(Limits.ballastFileLength)
    }
  }

  /// Random bytes: a file with a hole, or one that the file system can compress, would hold less.
  private func writePart(_ part: LocalPath) -> Bool {
    let descriptor = shim_open_for_writing(part.cName, Int32(SHIM_OPEN_TRUNCATE))
    guard descriptor >= 0 else { return false }
    defer { _ = shim_close(descriptor) }
    for _ in 0..<Limits.ballastFileLength / Limits.ballastPieceLength {
      guard let bytes = try? RandomBytes.bytes(Limits.ballastPieceLength),
        shim_write_all(descriptor, bytes, bytes.count) == 0
      else { return false }
    }
    return shim_sync(descriptor) == 0
  }

  private func giveUpBallast(_ ballast: LocalPath) {
    for number in (0..<Limits.ballastFileCount).reversed() { _ = shim_unlink(part(number, of: ballast).cName) }
    // Space that is used again before it is free on the disk would belong to two files after a power cut (FAT).
    _ = shim_sync_directory(ballast.directory.cName)
  }

  private func part(_ number: Int, of ballast: LocalPath) -> LocalPath {
    LocalPath(bytes: ballast.bytes + Array(("." + String(number)).utf8))
  }

  /// FAT and exFAT write the new name before they free the old one, which may take another cluster of the directory.
  private static func renamesNeedSpace(in directory: LocalPath) -> Bool {
    let descriptor = shim_open_for_reading(directory.cName, 0)
    guard descriptor >= 0 else { return false }
    defer { _ = shim_close(descriptor) }
    return FileSystem.kind(type: shim_file_system_type(descriptor)) == .fat
  }
}

extension SystemError {
  /// Whether the file system, or what this user may take of it, is full.
  var isLackOfSpace: Bool { [SHIM_ENOSPC, SHIM_EDQUOT].contains(code) }
}

extension Limits {
  /// Ballast for removals on a full file system: 512 KiB, because xfs creates no file with less than 256 KiB free, and enough files for the
  /// inodes of an upload. The length of a file, and of what is written at a time, in bytes.
  static let ballastFileCount = 8
  static let ballastFileLength = 64 << 10
  static let ballastPieceLength = 8 << 10
  /// How much must be free before it is made, in bytes and in files: otherwise it would take from recorders what a removal has just freed.
  static let ballastFromFreeBytes: Int64 = 10_000_000
  static let ballastFromFreeFiles: Int64 = 32
}
