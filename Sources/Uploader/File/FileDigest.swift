import UploadCore

/// SHA-256 of a file of which parts are sent more than once, and parts perhaps not by this process: it takes each byte once
/// and in order, and passes over what does not come next.
final class FileDigest {
  private let digest: Digest
  /// How far into the file it has come, in bytes: those that it was handed, digested or not.
  private(set) var position: Int64 = 0
  private var result: String?
  /// What may still be digesting bytes for it.
  private var thread: HashThread?

  init() throws(UploadError) { digest = try Digest(.sha256) }

  deinit { thread?.wait() }

  /// Takes what of the bytes comes next.
  /// - Parameters:
  ///   - offset: where in the file they are.
  ///   - thread: digests them, and needs them in their place until it is done; nil digests them at once.
  ///   - mark: what the thread knows them by.
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

  /// The digest of what it has taken, in hexadecimal digits. It takes nothing more afterwards.
  func finish() throws(UploadError) -> String {
    if let result { return result }
    if let thread, !thread.wait() { throw .outOfResources("memory") }
    let text = try digest.finishInHex()
    result = text
    return text
  }
}
