import CShims
import UploadCore

extension UploadError {
  /// The machine asks for a file, and there is none to send.
  static let noFile = UploadError.file("(no file)", .missing)
}

/// The file whose ranges are request bodies, with its digest and its observed changes.
final class TransferSource {
  /// What is digested.
  private enum Digested {
    case nothing
    /// Every byte of the file. Bytes before a range are read while the connection is blocked.
    case file(FileDigest)
    /// What is sent from an offset on, while the file may be written.
    case run(from: Int64, FileDigest)
  }

  let file: SourceFile
  private var digested: Digested
  /// Whether sendfile(2) turned out not to work with this connection or file system.
  var mustBeRead = false
  /// Whether the digest has every byte read for sending since the file was last seen unchanged. Of bytes that are sent again, it has what
  /// was sent first: if the file has that again when it is read once more, it has had it all the time.
  private(set) var isDigested = true
  var hasReportedStatusChange = false

  /// The status time when reading it again started.
  private var statusTime: StatusTime?
  private var diskTime: DiskTime

  /// The time spent waiting for the disk, in milliseconds.
  private struct DiskTime {
    let clock: () -> Int64
    var since: Int64 = 0
    var total: Int64 = 0
  }

  /// - Parameter clock: the monotonic clock, in milliseconds.
  init(file: SourceFile, digest: FileDigest?, clock: @escaping () -> Int64 = { shim_monotonic_milliseconds() }) {
    self.file = file
    digested = digest.map { .file($0) } ?? .nothing
    diskTime = DiskTime(clock: clock)
  }

  var digest: FileDigest? {
    switch digested {
    case .nothing: nil
    case .file(let digest), .run(_, let digest): digest
    }
  }

  var digestsFile: Bool { if case .file = digested { true } else { false } }

  /// Reads from `offset` into `space`, as much as there is, and digests it.
  /// - Returns: the number of bytes, at least one.
  func read(into space: UnsafeMutableRawBufferPointer, at offset: Int64) throws(UploadError) -> Int {
    let count = try measuredRead(into: space, at: offset)
    digest?.update(UnsafeRawBufferPointer(rebasing: space[..<count]), at: offset)
    return count
  }

  /// Reads bytes to send. The caller submits them to the digest.
  /// - Returns: the number of bytes, at least one.
  func readToSend(into space: UnsafeMutableRawBufferPointer, at offset: Int64) throws(UploadError) -> Int {
    if let digest, digest.position < offset { isDigested = false }
    return try measuredRead(into: space, at: offset)
  }

  private func measuredRead(into space: UnsafeMutableRawBufferPointer, at offset: Int64) throws(UploadError) -> Int {
    beginReading()
    defer { endReading() }
    do throws(FileError) { return try file.read(into: space, at: offset) } catch { throw .file(file.path, error) }
  }

  // MARK: What is sent while the file grows

  /// Call it before this content is sent.
  func beginRun(_ body: RequestBody) throws(UploadError) {
    guard let earliest = body.digestedFrom else { return }
    if case .run(let start, let digest) = digested, start >= earliest, digest.position == body.fileOffset { return }
    digested = .run(from: body.fileOffset, try FileDigest(from: body.fileOffset))
  }

  /// What was read to be sent; nil if ``beginRun(_:)`` was not called.
  var sentRun: SentRun? {
    guard case .run(let start, let digest) = digested, let sha256 = try? digest.soFar() else { return nil }
    return SentRun(offset: start, length: digest.position - start, sha256: sha256)
  }

  // MARK: Time

  /// Call it before something that may wait for the disk.
  func beginReading() { diskTime.since = diskTime.clock() }

  func endReading() { diskTime.total += diskTime.clock() - diskTime.since }

  /// The time spent waiting for the disk since the last call, in milliseconds.
  func takeReadingMilliseconds() -> Int64 {
    defer { diskTime.total = 0 }
    return diskTime.total
  }

  // MARK: Changes

  /// Checks that the file has not changed since it was opened.
  /// - Returns: true if only its status has changed (ctime).
  func hasStatusChanged() throws(UploadError) -> Bool {
    beginReading()
    defer { endReading() }
    do throws(FileError) {
      let hasStatusChanged = try file.verifyUnchanged()
      if !hasStatusChanged { isDigested = true }
      return hasStatusChanged
    } catch { throw .file(file.path, error) }
  }

  /// Whether nothing about the file has changed.
  func isUnchanged() throws(UploadError) -> Bool {
    do throws(UploadError) { return try !hasStatusChanged() } catch {
      guard case .file(_, let change) = error, change.isChange else { throw error }
      return false
    }
  }

  /// What of the file was sent, from its start; nil if that is not known. Bytes that another process has sent are read again, and must not
  /// have changed by then.
  var sentPart: SentPart? {
    guard let digest, digest.position > 0, !file.isGrowing else { return nil }
    do throws(UploadError) {
      guard try !hasStatusChanged() || isDigested else { return nil }
      return SentPart(length: digest.position, sha256: try digest.soFar(), statusTime: file.provenStatusTime)
    } catch { return nil }
  }

  func statusTimeNow() throws(UploadError) -> StatusTime {
    do throws(FileError) { return try file.statusTime() } catch { throw .file(file.path, error) }
  }

  /// The whole file is about to be read again.
  func restartReading() throws(UploadError) { statusTime = try statusTimeNow() }

  /// Whether nothing about the file has changed since reading it again started.
  func isStable() throws(UploadError) -> Bool {
    do throws(FileError) {
      _ = try file.verifyUnchanged()
      return try file.statusTime() == statusTime
    } catch { throw .file(file.path, error) }
  }

  /// The file was read again, and is what was sent.
  func confirmUnchanged() {
    if let statusTime { file.confirmUnchanged(at: statusTime) }
    hasReportedStatusChange = false
  }
}
