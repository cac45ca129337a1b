import CShims
import UploadCore

/// A digest of a stream of bytes, with OpenSSL's EVP, which uses processor instructions if available.
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

  /// The digest of the bytes so far, in lower-case hexadecimal digits. The computation goes on.
  func soFarInHex() throws(UploadError) -> String {
    guard let copy = EVP_MD_CTX_new() else { throw .outOfResources("memory") }
    defer { EVP_MD_CTX_free(copy) }
    var digest = [UInt8](repeating: 0, count: length)
    guard EVP_MD_CTX_copy_ex(copy, context) == 1, EVP_DigestFinal_ex(copy, &digest, nil) == 1, !hasFailed else {
      throw .outOfResources("memory")
    }
    return ASCII.hex(digest)
  }

  /// The digest in lower-case hexadecimal digits. Ends the computation.
  func finishInHex() throws(UploadError) -> String { ASCII.hex(try finish()) }
}
