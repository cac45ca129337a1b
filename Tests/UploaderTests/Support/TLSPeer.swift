import CShims
import Glibc

@testable import Uploader

/// A self-signed certificate with its key.
final class TestCertificate {
  fileprivate let certificate: OpaquePointer
  fileprivate let key: OpaquePointer

  /// - Parameter names: such as "DNS:hive,IP:127.0.0.1".
  init(for names: String) {
    let context = EVP_PKEY_CTX_new_from_name(nil, "EC", nil)
    defer { EVP_PKEY_CTX_free(context) }
    var key: OpaquePointer?
    guard EVP_PKEY_keygen_init(context) == 1, EVP_PKEY_CTX_set_group_name(context, "P-256") == 1,
      EVP_PKEY_generate(context, &key) == 1, let key, let certificate = X509_new()
    else { fatalError("no key") }
    (self.key, self.certificate) = (key, certificate)
    X509_set_version(certificate, 2)
    ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1)
    X509_gmtime_adj(X509_getm_notBefore(certificate), -10 * 86_400)
    X509_gmtime_adj(X509_getm_notAfter(certificate), 86_400)
    X509_set_pubkey(certificate, key)
    let name = X509_get_subject_name(certificate)
    X509_NAME_add_entry_by_txt(name, "CN", 0x1001, "test", -1, -1, 0)
    X509_set_issuer_name(certificate, name)
    let alternatives = X509V3_EXT_conf_nid(nil, nil, NID_subject_alt_name, names)
    defer { X509_EXTENSION_free(alternatives) }
    guard X509_add_ext(certificate, alternatives, -1) == 1, X509_sign(certificate, key, EVP_sha256()) > 0 else {
      fatalError("no certificate")
    }
  }

  deinit {
    X509_free(certificate)
    EVP_PKEY_free(key)
  }

  /// Writes it as PEM into a file of the directory.
  func file(in directory: TemporaryDirectory) -> LocalPath {
    let path = directory.path(of: "ca.pem")
    guard let file = fopen(path, "w"), PEM_write_X509(file, certificate) == 1 else { fatalError("no file") }
    fclose(file)
    return LocalPath(path)
  }
}

/// The server's end of a TLS connection, stepped by the test.
final class TLSPeer {
  enum Read: Equatable {
    case bytes([UInt8])
    case notReady, closeNotify, failed
  }

  private let descriptor: Int32
  private let ssl: OpaquePointer
  private let context: OpaquePointer

  /// Takes over the descriptor.
  init(_ certificate: TestCertificate, over descriptor: Int32) {
    guard let context = SSL_CTX_new(TLS_server_method()),
      SSL_CTX_use_certificate(context, certificate.certificate) == 1,
      SSL_CTX_use_PrivateKey(context, certificate.key) == 1, let ssl = SSL_new(context),
      SSL_set_fd(ssl, descriptor) == 1, fcntl(descriptor, F_SETFL, O_NONBLOCK) == 0
    else { fatalError("no TLS server") }
    (self.descriptor, self.context, self.ssl) = (descriptor, context, ssl)
  }

  deinit {
    SSL_free(ssl)
    SSL_CTX_free(context)
    close(descriptor)
  }

  /// Continues the handshake.
  func accept() {
    ERR_clear_error()
    SSL_accept(ssl)
  }

  func write(_ text: String) { SSL_write(ssl, text, Int32(text.utf8.count)) }

  func closeNotify() { SSL_shutdown(ssl) }

  /// Ends the connection below TLS.
  func hangUp() { shutdown(descriptor, Int32(SHUT_WR)) }

  func read() -> Read {
    ERR_clear_error()
    var space = [UInt8](repeating: 0, count: 1 << 16)
    let count = SSL_read(ssl, &space, Int32(space.count))
    if count > 0 { return .bytes(Array(space.prefix(Int(count)))) }
    switch SSL_get_error(ssl, count) {
    case SSL_ERROR_WANT_READ: return .notReady
    case SSL_ERROR_ZERO_RETURN: return .closeNotify
    default: return .failed
    }
  }
}
