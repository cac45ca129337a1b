import UploadCore

/// The SHA-256 of a file. Parts of the file may be sent more than once, or by another process. The digest takes each byte once and
/// in order, and ignores bytes that do not come next.
final class FileDigest {
  private let digest: Digest
  /// The end of the bytes submitted so far, digested or not, as an offset in the file.
  private(set) var position: Int64 = 0
  private var result: String?
  /// The thread that may still be digesting its bytes.
  private var thread: HashThread?

  init() throws(UploadError) { digest = try Digest(.sha256) }

  deinit { thread?.wait() }

  /// Takes those of the bytes that come next.
  /// - Parameters:
  ///   - offset: their offset in the file.
  ///   - thread: digests them in place, so they must not change until it is done; nil digests them at once.
  ///   - mark: identifies them to the thread.
  func update(_ bytes: UnsafeRawBufferPointer, at offset: Int64, on thread: HashThread? = nil, mark: Int64 = 0) {
    let skipped = position - offset
    guard skipped >= 0, skipped < Int64(bytes.count) else { return }
    position += Int64(bytes.count) - skipped
    let next = UnsafeRawBufferPointer(rebasing: bytes[Int(skipped)...])
    if let thread {
      self.thread = thread
      if thread.digest(next, into: digest.context, mark: mark) { return }
    }
    self.thread?.wait()
    digest.update(next)
  }

  /// The digest of the bytes up to ``position``, in hexadecimal digits.
  func soFar() throws(UploadError) -> String {
    if let result { return result }
    if let thread, !thread.wait() { throw .outOfResources("memory") }
    return try digest.soFarInHex()
  }

  /// The digest in hexadecimal digits. It takes no more bytes afterwards.
  func finish() throws(UploadError) -> String {
    if let result { return result }
    if let thread, !thread.wait() { throw .outOfResources("memory") }
    let text = try digest.finishInHex()
    result = text
    return text
  }
}
