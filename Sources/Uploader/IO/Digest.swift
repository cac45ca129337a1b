import CShims
import UploadCore

/// A digest of a stream of bytes, by OpenSSL's EVP (which uses the processor's instructions for it where there are any).
final class Digest {
  enum Algorithm { case sha256, sha1 }

  /// OpenSSL's EVP_MD_CTX.
  let context: OpaquePointer
  private let length: Int
  private var hasFailed = false

  init(_ algorithm: Algorithm) throws(UploadError) {
    shim_openssl_initialize()
    guard let context = EVP_MD_CTX_new() else { throw .outOfResources("memory") }
    self.context = context
    length = algorithm == .sha256 ? 32 : 20
    guard EVP_DigestInit_ex(context, algorithm == .sha256 ? EVP_sha256() : EVP_sha1(), nil) == 1 else {
      throw .outOfResources("memory")
    }
  }

  deinit { EVP_MD_CTX_free(context) }

  func update(_ bytes: UnsafeRawBufferPointer) {
    if EVP_DigestUpdate(context, bytes.baseAddress, bytes.count) != 1 { hasFailed = true }
  }

  /// The digest. Ends the computation.
  func finish() throws(UploadError) -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: length)
    guard EVP_DigestFinal_ex(context, &digest, nil) == 1, !hasFailed else { throw .outOfResources("memory") }
    return digest
  }

  /// The digest in lower-case hexadecimal digits. Ends the computation.
  func finishInHex() throws(UploadError) -> String {
    var hex: [UInt8] = []
    ASCII.appendHex(try finish(), to: &hex)
    return String(decoding: hex, as: UTF8.self)
  }
}

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
