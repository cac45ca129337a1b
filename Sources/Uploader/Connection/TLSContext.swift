import CShims
import UploadCore

/// The settings shared by all TLS connections of an uploader (SSL_CTX).
final class TLSContext {
  let pointer: OpaquePointer
  let pins: [String]
  let isInsecure: Bool
  /// How much each connection gathers before it sends, in bytes.
  let recordBatchLength: Int
  /// Whether handshakes offer X25519MLKEM768. Its key makes the ClientHello longer than a segment, and some servers and
  /// middleboxes drop such a ClientHello.
  var offersHybrid: Bool

  /// - Parameter jobs: the number of concurrent connections that share the memory.
  init(_ options: TLSOptions, jobs: Int = 1) throws(TLSError) {
    shim_openssl_initialize()
    guard let pointer = SSL_CTX_new(TLS_client_method()) else { throw .outOfMemory }
    self.pointer = pointer
    pins = options.pins
    isInsecure = options.isInsecure
    offersHybrid = shim_ssl_ctx_offer_hybrid(pointer) == 1
    let contentLength = max(Limits.recordBatchLength / jobs, Limits.recordBatchMinimumLength)
    // Including the overhead of each record, so that whole records fit.
    recordBatchLength = contentLength + contentLength / Limits.recordContentLength * Limits.recordOverhead
    shim_ssl_ctx_set_modes(pointer)
    SSL_CTX_set_security_level(pointer, 2)
    guard shim_ssl_ctx_require_tls12(pointer) == 1, TLSContext.chooseCiphers(pointer) else { throw .outOfMemory }
    SSL_CTX_set_verify(pointer, options.isInsecure ? SSL_VERIFY_NONE : SSL_VERIFY_PEER, nil)
    for pin in pins where !TLSOptions.isPin(pin) { throw .unusablePin(pin) }
    try TLSContext.loadTrust(pointer, options)
    try TLSContext.loadClientCertificate(pointer, options)
  }

  deinit { SSL_CTX_free(pointer) }

  /// Without AES instructions ChaCha20 is three times as fast as AES-GCM. A server that imposes its own order chooses it only
  /// if AES-256 is not offered. AES-128 stays, because TLS 1.3 requires it (RFC 8446, 9.1). Certificates with DSA keys are not
  /// accepted, whether this OpenSSL knows DSA or not.
  private static func chooseCiphers(_ pointer: OpaquePointer) -> Bool {
    if shim_has_aes_instructions() != 0 {
      return SSL_CTX_set_cipher_list(
        pointer, "ECDHE+AESGCM:ECDHE+CHACHA20:DHE+AESGCM:DHE+CHACHA20:ECDHE+AES:!aNULL:!aDSS") == 1
    }
    return SSL_CTX_set_ciphersuites(pointer, "TLS_CHACHA20_POLY1305_SHA256:TLS_AES_128_GCM_SHA256") == 1
      && SSL_CTX_set_cipher_list(
        pointer, "ECDHE+CHACHA20:ECDHE+AESGCM:DHE+CHACHA20:DHE+AESGCM:ECDHE+AES:!AES256:!aNULL:!aDSS") == 1
  }

  // MARK: Trust

  /// Prefers the hashed directory to the bundle of all certificates: it takes 5 ms, and 0.8 MB less.
  private static func loadTrust(_ pointer: OpaquePointer, _ options: TLSOptions) throws(TLSError) {
    if let file = options.trustedCertificatesFile {
      try load(file) { SSL_CTX_load_verify_file(pointer, $0) == 1 }
    }
    if let directory = options.trustedCertificatesDirectory {
      guard let name = directory.cString, shim_has_hashed_certificates(name) != 0 else {
        throw .unusableFile(
          path: directory.text, reason: "it is not a directory of hashed certificates (openssl rehash)")
      }
      _ = SSL_CTX_load_verify_dir(pointer, name)
    }
    guard options.trustedCertificatesFile == nil, options.trustedCertificatesDirectory == nil else { return }
    if shim_has_hashed_certificates(systemDirectory) != 0 {
      _ = SSL_CTX_load_verify_dir(pointer, systemDirectory)
    } else {
      _ = systemBundles.contains { SSL_CTX_load_verify_file(pointer, $0) == 1 }
    }
    ERR_clear_error()
  }

  /// Debian, OpenWrt with ca-certificates, Alpine, Arch, SUSE.
  private static let systemDirectory = "/etc/ssl/certs"
  /// For systems without a hashed directory: OpenWrt with ca-bundle, Alpine, Fedora, SUSE.
  private static let systemBundles = [
    "/etc/ssl/certs/ca-certificates.crt", "/etc/ssl/cert.pem", "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
  ]

  private static func loadClientCertificate(_ pointer: OpaquePointer, _ options: TLSOptions) throws(TLSError) {
    guard let certificate = options.certificateFile else { return }
    let key = options.keyFile ?? certificate
    guard let keyPath = key.cString else { throw .unusableFile(path: key.text, reason: "not a path") }
    guard let certificatePath = certificate.cString else {
      throw .unusableFile(path: certificate.text, reason: "not a path")
    }
    ERR_clear_error()
    switch Int(shim_ssl_ctx_use_certificate(pointer, certificatePath, keyPath)) {
    case SHIM_CERTIFICATE_OK:
      // Some servers ask for the certificate only when they know the request (RFC 8446, 4.6.2), as Apache per Location.
      SSL_CTX_set_post_handshake_auth(pointer, 1)
    case SHIM_CERTIFICATE_UNUSABLE: throw .unusableFile(path: certificate.text, reason: failureText())
    case SHIM_KEY_ENCRYPTED:
      ERR_clear_error()
      throw .unusableFile(
        path: key.text, reason: "it is encrypted; decrypt it with: openssl pkey -in FILE -out NEWFILE")
    case SHIM_KEY_OF_ANOTHER:
      ERR_clear_error()
      throw .unusableFile(path: key.text, reason: "it is not the key of " + PrintableText.line(certificate.text))
    default: throw .unusableFile(path: key.text, reason: failureText())
    }
  }

  private static func load(_ path: LocalPath, using loader: (UnsafePointer<CChar>) -> Bool) throws(TLSError) {
    ERR_clear_error()
    guard let name = path.cString else { throw .unusableFile(path: path.text, reason: "not a path") }
    guard loader(name) else { throw .unusableFile(path: path.text, reason: TLSContext.failureText()) }
  }

  /// OpenSSL's text for the last error.
  static func failureText() -> String {
    guard let text = shim_ssl_failure_text() else { return "no reason given" }
    return String(cString: text)
  }
}

/// The TLS settings, loaded when the first https target needs them.
final class TLSContextCache {
  private let options: TLSOptions
  private let jobs: Int
  private var loaded: TLSContext?

  init(_ options: TLSOptions, jobs: Int) {
    self.options = options
    self.jobs = jobs
  }

  func context(for target: TargetURI) throws(UploadError) -> TLSContext? {
    guard target.scheme == .https else { return nil }
    if let loaded { return loaded }
    do throws(TLSError) {
      let context = try TLSContext(options, jobs: jobs)
      loaded = context
      return context
    } catch { throw .tls(error, host: target.host) }
  }
}

extension Limits {
  /// TLS records sent with one system call, in bytes. Measured: one call per record takes a third more time.
  static let recordBatchLength = 256 << 10
  /// The least record batch of each of several concurrent uploads: two records, in bytes.
  static let recordBatchMinimumLength = 40 << 10
}
