import CShims
import UploadCore

/// SHA-256 of a stream of bytes, by OpenSSL's EVP (which uses the processor's instructions for it where there are any).
final class SHA256 {
  private let context: OpaquePointer

  init() throws(UploadError) {
    shim_openssl_initialize()
    guard let context = EVP_MD_CTX_new() else { throw .outOfResources("memory") }
    self.context = context
    guard EVP_DigestInit_ex(context, EVP_sha256(), nil) == 1 else { throw .outOfResources("memory") }
  }

  deinit { EVP_MD_CTX_free(context) }

  func update(_ bytes: UnsafeRawBufferPointer) {
    let done = EVP_DigestUpdate(context, bytes.baseAddress, bytes.count)
    precondition(done == 1)
  }

  /// The digest in 64 lower-case hexadecimal digits. Ends the computation.
  func finish() -> String {
    var digest = [UInt8](repeating: 0, count: 32)
    let done = EVP_DigestFinal_ex(context, &digest, nil)
    precondition(done == 1)
    var hex: [UInt8] = []
    ASCII.appendHex(digest, to: &hex)
    return String(decoding: hex, as: UTF8.self)
  }
}
