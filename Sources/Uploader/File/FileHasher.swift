import UploadCore

/// Reads a part of a file in order to hash it, without sending it.
final class FileHasher: Steppable {
  /// What to compute.
  private enum Purpose {
    case wholeFile(FileDigest)
    case beginning(FileDigest)
    case range(Digest)
    /// A second digest of the file as it is now, to compare with that of what was sent.
    case wholeFileAgain(Digest, of: FileDigest)
  }

  private let source: TransferSource
  private let purpose: Purpose
  private let buffers: TransferBuffers
  private var offset: Int64
  private let end: Int64
  /// Whether the file did not change while it was read.
  private var isStable = true
  private var hasRead = false

  init(_ source: TransferSource, _ range: HashRange, buffers: TransferBuffers) throws(UploadError) {
    self.source = source
    self.buffers = buffers
    switch range {
    case .wholeFile:
      let digest = try FileHasher.digest(of: source)
      purpose = .wholeFile(digest)
      // Bytes that were hashed while they were sent are not read again.
      offset = digest.position
      end = source.file.size
    case .beginning(let length):
      let digest = try FileHasher.digest(of: source)
      purpose = .beginning(digest)
      offset = digest.position
      end = length
    case .range(let algorithm, let start, let length):
      purpose = .range(try Digest(algorithm == .sha256 ? .sha256 : .sha1))
      offset = start
      end = start + length
    case .wholeFileAgain:
      // Without a digest of what was sent, this is the digest of nothing, and the comparison fails.
      purpose = .wholeFileAgain(try Digest(.sha256), of: try FileHasher.digest(of: source))
      offset = 0
      end = source.file.size
      // The ring holds the end of the file back.
      try source.restartReading()
      return
    }
    buffers.clear()
  }

  /// The digest of what was sent, or a new one.
  private static func digest(of source: TransferSource) throws(UploadError) -> FileDigest {
    if let digest = source.digest { return digest }
    return try FileDigest()
  }

  /// Reads one run.
  func step(_ ready: Readiness, nowMilliseconds now: Int64) throws(UploadError) -> Wait? {
    guard offset < end else {
      if hasRead { try verify() }
      return nil
    }
    let length = Int(min(end - offset, Int64(buffers.runLength)))
    let run = UnsafeMutableRawBufferPointer(rebasing: buffers.ring.spareRun.prefix(length))
    let count = try source.read(into: run, at: offset)
    let bytes = UnsafeRawBufferPointer(rebasing: run[..<count])
    switch purpose {
    // The source's own digest has these bytes already, and ignores them.
    case .wholeFile(let digest), .beginning(let digest): digest.update(bytes, at: offset)
    case .range(let digest), .wholeFileAgain(let digest, _): digest.update(bytes)
    }
    hasRead = true
    offset += Int64(count)
    return Wait(untilMilliseconds: now)
  }

  private func verify() throws(UploadError) {
    if case .wholeFileAgain = purpose { isStable = try source.isStable() } else { isStable = try source.isUnchanged() }
  }

  /// The result, once ``step(_:nowMilliseconds:)`` has returned nil.
  func hashed() throws(UploadError) -> HashResult {
    switch purpose {
    case .wholeFile(let digest): .wholeFile(sha256: try digest.finish(), isStable: isStable)
    case .beginning(let digest): .beginning(sha256: try digest.soFar(), isStable: isStable)
    case .range(let checksum): .range(checksum: Base64.encode(try checksum.finish()))
    case .wholeFileAgain(let digest, let own):
      .wholeFileAgain(sent: try own.finish(), now: try digest.finishInHex(), isStable: isStable)
    }
  }
}
