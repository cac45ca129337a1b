import CShims
import UploadCore

/// TLS over a socket (OpenSSL's SSL), as a client.
final class TLSStream: ByteStream {
  enum Handshake: Equatable { case done, wantsRead, wantsWrite }

  private let socket: Socket
  private let context: TLSContext
  private let ssl: OpaquePointer
  private let bio: OpaquePointer
  private let offersHybrid: Bool
  /// The name or address that the certificate must have.
  private let host: String
  /// The most content of a record, in bytes.
  private let contentLength: Int

  var descriptor: Int32 { socket.descriptor }
  var unacknowledgedLength: Int { socket.unacknowledgedLength + heldLength }

  /// The number of bytes in records that the socket has not accepted.
  private var heldLength = 0
  var holdsBytes: Bool { heldLength > 0 }

  /// - Parameters:
  ///   - host: the name or address that the certificate must have. A name is also sent as SNI (RFC 6066, 3).
  ///   - offersHybrid: whether to offer X25519MLKEM768, which the context must know.
  ///   - sendsFile: whether a file will be sent. Otherwise records are short, each is sent at once, and buffers are freed after it.
  init(
    over socket: Socket, context: TLSContext, host: String, offersHybrid: Bool = false, sendsFile: Bool = true
  ) throws(TLSError) {
    guard let ssl = SSL_new(context.pointer) else { throw .outOfMemory }
    let contentLength = sendsFile ? Limits.recordContentLength : Limits.waitingRunLength
    let batchLength = sendsFile ? context.recordBatchLength : contentLength + Limits.recordOverhead
    guard let bio = shim_bio_new(socket.descriptor, batchLength) else {
      SSL_free(ssl)
      throw .outOfMemory
    }
    self.socket = socket
    self.context = context
    self.ssl = ssl
    self.bio = bio
    self.offersHybrid = offersHybrid
    self.host = host
    self.contentLength = contentLength
    SSL_set_bio(ssl, bio, bio)
    SSL_set_connect_state(ssl)
    SSL_set_options(ssl, shim_ssl_no_renegotiation())
    if !sendsFile { shim_ssl_save_memory(ssl, contentLength) }
    // All properties are set, so that deinit frees the SSL if this throws.
    guard TLSStream.expect(host, on: ssl), offersHybrid || shim_ssl_offer_classical(ssl) == 1 else {
      throw .outOfMemory
    }
  }

  /// Sets the host that OpenSSL must find in the certificate.
  /// - Returns: false if that failed, and OpenSSL would accept any host.
  private static func expect(_ host: String, on ssl: OpaquePointer) -> Bool {
    if shim_is_ip_address(host) != 0 { return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), host) == 1 }
    // The trailing dot of a fully qualified name is in no certificate, and not sent (RFC 6066, 3).
    let host = host.hasSuffix(".") ? String(host.dropLast()) : host
    SSL_set_hostflags(ssl, UInt32(shim_x509_strict_host_flags()))
    return SSL_set1_host(ssl, host) == 1 && shim_ssl_set_server_name(ssl, host) == 1
  }

  deinit { SSL_free(ssl) }

  /// Continues the handshake. When it is done, the certificate and the pins are verified. No part of the request is written
  /// before.
  func handshake() throws(StreamError) -> Handshake {
    ERR_clear_error()
    let result = SSL_do_handshake(ssl)
    let outcome = Int(shim_ssl_outcome(ssl, result))
    switch outcome {
    case SHIM_TLS_OK, SHIM_TLS_WANTS_READ, SHIM_TLS_WANTS_WRITE:
      let isFlushed = try flush()
      try throwSocketError(shim_bio_read_error(bio))
      guard isFlushed else { return .wantsWrite }
      guard outcome == SHIM_TLS_OK else { return outcome == SHIM_TLS_WANTS_READ ? .wantsRead : .wantsWrite }
      try checkKeyUsage()
      try checkPins()
      return .done
    case SHIM_TLS_TRUNCATED, SHIM_TLS_CLOSED:
      throw .tls(.closedDuringHandshake)
    default:
      let verification = SSL_get_verify_result(ssl)
      if verification != 0, !context.isInsecure {
        ERR_clear_error()
        let reason = String(cString: X509_verify_cert_error_string(verification))
        throw .tls(
          TLSError(rejected: Int(verification), reason: reason, facts, host: host, now: shim_unix_seconds()))
      }
      let alert = Int(shim_ssl_failure_alert())
      let reason = TLSContext.failureText()
      throw .tls(alert < 0 ? .handshake(reason: reason) : .alert(alert, words: reason))
    }
  }

  /// OpenSSL accepts a certificate whose key may only encipher; browsers do not.
  private func checkKeyUsage() throws(StreamError) {
    guard !context.isInsecure, shim_server_key_may_sign(ssl) == 0 else { return }
    let code = Int(X509_V_ERR_KEYUSAGE_NO_DIGITAL_SIGNATURE)
    throw .tls(.certificate(code: code, reason: "key usage does not include digital signature"))
  }

  private func checkPins() throws(StreamError) {
    guard !context.pins.isEmpty else { return }
    var digest = [UInt8](repeating: 0, count: 32)
    guard shim_server_key_digest(ssl, &digest) != 0 else { throw .tls(.outOfMemory) }
    let actual = "sha256//" + Base64.encode(digest)
    guard context.pins.contains(actual) else { throw .tls(.pinMismatch(actual: actual)) }
  }

  /// Whether a ClientHello with X25519MLKEM768 has had no answer yet.
  var isHybridUnanswered: Bool { offersHybrid && BIO_number_read(bio) == 0 }

  /// The negotiated protocol, cipher suite and key exchange group, for people.
  var summary: String {
    let group = shim_ssl_group(ssl).map { " " + String(cString: $0) } ?? ""
    let cipher = String(cString: SSL_CIPHER_get_name(SSL_get_current_cipher(ssl)))
    return String(cString: SSL_get_version(ssl)) + " " + cipher + group
  }

  /// What the server has shown of itself, after the handshake.
  var tlsFacts: TLSFacts? { facts }

  private var facts: TLSFacts {
    let count = max(1, shim_certificate_count(ssl))
    // The issuers follow the server's own.
    let issuers = (1..<count).map { index in
      TLSFacts.Issuer(name: name(of: index), validUntilSeconds: shim_certificate_end(ssl, index))
    }
    let hosts = TLSStream.text(TLSStream.hostsCapacity) { shim_server_host_names(ssl, $0, $1) }
    return TLSFacts(
      summary: summary, subject: name(of: 0), hosts: hosts, issuer: name(of: 0, isIssuer: true),
      authority: name(of: count - 1, isIssuer: true), issuers: issuers,
      validFromSeconds: shim_certificate_start(ssl, 0), validUntilSeconds: shim_certificate_end(ssl, 0))
  }

  /// The name in a certificate that the server has shown, or that of its issuer.
  private func name(of index: Int32, isIssuer: Bool = false) -> String {
    TLSStream.text(TLSStream.nameCapacity) { shim_certificate_name(ssl, index, isIssuer ? 1 : 0, $0, $1) }
  }

  /// - Parameter write: writes a text into a buffer of this capacity, and returns its length.
  private static func text(_ capacity: Int, _ write: (UnsafeMutablePointer<CChar>?, Int32) -> Int32) -> String {
    let bytes = [UInt8](unsafeUninitializedCapacity: capacity) { space, count in
      count = space.withMemoryRebound(to: CChar.self) { Int(write($0.baseAddress, Int32($0.count))) }
    }
    return PrintableText.line(String(decoding: bytes, as: UTF8.self))
  }

  /// An attribute of a name has at most 64 characters (RFC 5280, A.1).
  private static let nameCapacity = 4 * 64 + 1
  /// A few lines of a terminal. Some certificates name hundreds of hosts.
  private static let hostsCapacity = 300

  func read(into space: UnsafeMutableRawBufferPointer) throws(StreamError) -> StreamRead {
    for _ in 0..<Limits.tlsMessageCount {
      if let result = try readRecord(into: space) { return result }
    }
    return .notReady
  }

  /// - Returns: nil after a TLS message without content, such as a session ticket, which content may follow.
  private func readRecord(into space: UnsafeMutableRawBufferPointer) throws(StreamError) -> StreamRead? {
    ERR_clear_error()
    let count = SSL_read(ssl, space.baseAddress, Int32(clamping: space.count))
    switch Int(shim_ssl_outcome(ssl, count)) {
    case SHIM_TLS_OK: return .bytes(Int(count))
    case SHIM_TLS_CLOSED: return .end
    case SHIM_TLS_WANTS_READ, SHIM_TLS_WANTS_WRITE:
      try throwSocketError(shim_bio_read_error(bio))
      // The message may have been a request, such as for a certificate. The reply is queued after the written bytes.
      heldLength = shim_bio_flush(bio)
      return shim_bio_is_drained(bio) != 0 ? .notReady : nil
    case SHIM_TLS_TRUNCATED: throw .tls(.truncated)
    default: throw .tls(failure())
    }
  }

  /// The error after the handshake. A server may reject the client only then (RFC 8446, 4.4.2.4 and 6.2), because the handshake
  /// finishes on this side before the server has seen the client's certificate.
  private func failure() -> TLSError {
    let alert = Int(shim_ssl_failure_alert())
    let words = TLSContext.failureText()
    if alert >= 0, TLSError.isRefusal(alert: alert) { return .alert(alert, words: words) }
    return .broken(reason: alert < 0 ? words : "the server says: " + words)
  }

  func write(_ bytes: UnsafeRawBufferPointer) throws(StreamError) -> Int {
    guard try flush() else { return 0 }
    ERR_clear_error()
    var written = 0
    while written < bytes.count {
      // One record per call, because partial writes are allowed; and only if a whole one fits. With a half-written
      // record, OpenSSL could not reply to a request that it reads (SSL_R_BAD_LENGTH).
      if shim_bio_room(bio) < contentLength + Limits.recordOverhead, try !flush() { return written }
      let rest = UnsafeRawBufferPointer(rebasing: bytes[written...].prefix(contentLength))
      let count = SSL_write(ssl, rest.baseAddress, Int32(clamping: rest.count))
      switch Int(shim_ssl_outcome(ssl, count)) {
      case SHIM_TLS_OK: written += Int(count)
      case SHIM_TLS_WANTS_READ, SHIM_TLS_WANTS_WRITE:
        try throwSocketError(shim_bio_write_error(bio))
        return written
      default: throw .tls(failure())
      }
    }
    _ = try flush()
    return written
  }

  /// Not supported: the bytes must be encrypted, and kernel TLS is not used.
  func send(_ file: SourceFile, at offset: Int64, count: Int) throws(SendfileError) -> Int? { nil }

  func flush() throws(StreamError) -> Bool {
    heldLength = shim_bio_flush(bio)
    try throwSocketError(shim_bio_write_error(bio))
    return heldLength == 0
  }

  /// close_notify (RFC 8446, 6.1).
  func closeNotify() { _ = SSL_shutdown(ssl) }

  /// - Parameter result: the error kept by the BIO: -errno, or 0.
  private func throwSocketError(_ result: Int32) throws(StreamError) {
    if result != 0 { throw .system(SystemError(result: result)) }
  }
}

extension Limits {
  /// TLS messages without content, such as session tickets, that one read from a connection skips.
  static let tlsMessageCount = 32
}
