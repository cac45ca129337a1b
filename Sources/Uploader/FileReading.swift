import UploadCore

/// Reads a stretch of a file for digests, without sending it.
final class FileReading: Machine {
  private let file: SourceFile
  private let end: Int64
  private let digest: FileDigest?
  private let checksum: Digest?
  private let buffers: TransferBuffers
  private var offset: Int64

  /// - Parameters:
  ///   - digest: of the whole file; takes what comes next for it.
  ///   - checksum: of the stretch alone.
  init(
    _ file: SourceFile, from offset: Int64, to end: Int64, digest: FileDigest?, checksum: Digest? = nil,
    buffers: TransferBuffers
  ) {
    self.file = file
    self.offset = offset
    self.end = end
    self.digest = digest
    self.checksum = checksum
    self.buffers = buffers
    buffers.ring.removeAll()
  }

  /// Reads one run.
  func step(_ ready: Readiness, nowMilliseconds now: Int64) throws(UploadError) -> Wait? {
    guard offset < end else { return nil }
    let length = Int(min(end - offset, Int64(buffers.runLength)))
    let run = UnsafeMutableRawBufferPointer(rebasing: buffers.ring.writableRun.prefix(length))
    do throws(FileError) {
      let count = try file.read(into: run, at: offset)
      let bytes = UnsafeRawBufferPointer(rebasing: run[..<count])
      digest?.update(bytes, at: offset)
      checksum?.update(bytes)
      offset += Int64(count)
    } catch { throw .file(file.path, error) }
    return Wait(descriptor: -1, readiness: [], untilMilliseconds: now)
  }
}
