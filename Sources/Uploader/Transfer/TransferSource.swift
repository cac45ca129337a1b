import CShims
import UploadCore

/// The file that request bodies are ranges of, and what is computed and observed of it on the way.
final class TransferSource {
  let file: SourceFile
  /// Is given every byte of the file, those before a range while the connection takes no more.
  let digest: FileDigest?
  /// Has the connection, or the file system, turned out not to pass the file on by itself?
  var mustBeRead = false
  /// Since the file was last seen unchanged, has the digest taken every byte that was read to be sent?
  private(set) var isDigested = true
  /// Was a change of the file's status told of?
  var hasToldStatusChange = false

  /// When it began to be read again.
  private var statusTime: StatusTime?
  private let clock: () -> Int64
  private var readingSince: Int64 = 0
  private var readingMilliseconds: Int64 = 0

  /// - Parameter clock: the monotonic clock, in milliseconds.
  init(file: SourceFile, digest: FileDigest?, clock: @escaping () -> Int64 = { shim_monotonic_milliseconds() }) {
    self.file = file
    self.digest = digest
    self.clock = clock
  }

  /// Reads from `offset` into `space`, as much as there is, and gives it to the digest.
  /// - Returns: bytes, at least one.
  func read(into space: UnsafeMutableRawBufferPointer, at offset: Int64) throws(UploadError) -> Int {
    let count = try measuredRead(into: space, at: offset)
    digest?.update(UnsafeRawBufferPointer(rebasing: space[..<count]), at: offset)
    return count
  }

  /// Reads what is to be sent. The caller gives it to the digest.
  /// - Returns: bytes, at least one.
  func readToSend(into space: UnsafeMutableRawBufferPointer, at offset: Int64) throws(UploadError) -> Int {
    if let digest, digest.position != offset { isDigested = false }
    return try measuredRead(into: space, at: offset)
  }

  private func measuredRead(into space: UnsafeMutableRawBufferPointer, at offset: Int64) throws(UploadError) -> Int {
    beginReading()
    defer { endReading() }
    do throws(FileError) { return try file.read(into: space, at: offset) } catch { throw .file(file.path, error) }
  }

  // MARK: Time

  /// What follows may wait for the disk.
  func beginReading() { readingSince = clock() }

  func endReading() { readingMilliseconds += clock() - readingSince }

  /// How long the disk was waited for since the last call, in milliseconds.
  func takeReadingMilliseconds() -> Int64 {
    defer { readingMilliseconds = 0 }
    return readingMilliseconds
  }

  // MARK: Changes

  /// Checks that the file is what it was when it was opened.
  /// - Returns: true if its status alone has changed.
  func hasStatusChanged() throws(UploadError) -> Bool {
    beginReading()
    defer { endReading() }
    do throws(FileError) {
      let hasStatusChanged = try file.verifyUnchanged()
      if !hasStatusChanged { isDigested = true }
      return hasStatusChanged
    } catch { throw .file(file.path, error) }
  }

  /// Is nothing about the file other than it was?
  func isUnchanged() throws(UploadError) -> Bool {
    do throws(UploadError) { return try !hasStatusChanged() } catch {
      guard case .file(_, let change) = error, change.isChange else { throw error }
      return false
    }
  }

  /// The whole file is about to be read again.
  func beginReadingAgain() throws(UploadError) {
    do throws(FileError) { statusTime = try file.statusTime() } catch { throw .file(file.path, error) }
  }

  /// Was nothing about the file changed since it began to be read again?
  func isSteady() throws(UploadError) -> Bool {
    do throws(FileError) {
      _ = try file.verifyUnchanged()
      return try file.statusTime() == statusTime
    } catch { throw .file(file.path, error) }
  }

  /// What was read again is what was sent.
  func settle() {
    if let statusTime { file.settle(statusTime) }
    hasToldStatusChange = false
  }
}
