import CShims
import UploadCore

/// A digest of a stream of bytes, by OpenSSL's EVP (which uses the processor's instructions for it where there are any).
final class Digest {
  enum Algorithm { case sha256, sha1 }

  private let context: OpaquePointer
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
  /// How far into the file it has come, in bytes.
  private(set) var position: Int64 = 0
  private var result: String?

  init() throws(UploadError) { digest = try Digest(.sha256) }

  /// Takes what of the bytes comes next.
  /// - Parameter offset: where in the file they are.
  func update(_ bytes: UnsafeRawBufferPointer, at offset: Int64) {
    let skipped = position - offset
    guard skipped >= 0, skipped < Int64(bytes.count) else { return }
    digest.update(UnsafeRawBufferPointer(rebasing: bytes[Int(skipped)...]))
    position += Int64(bytes.count) - skipped
  }

  /// The digest of what it has taken, in hexadecimal digits. It takes nothing more afterwards.
  func finish() throws(UploadError) -> String {
    if let result { return result }
    let text = try digest.finishInHex()
    result = text
    return text
  }
}
