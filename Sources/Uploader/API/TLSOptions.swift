import UploadCore

/// TLS settings.
public struct TLSOptions: Sendable {
  /// A PEM file of trusted certificates, instead of the system's.
  public var trustedCertificatesFile: LocalPath?
  /// A directory of trusted certificates with hashed names (openssl-rehash(1)), instead of the system's.
  public var trustedCertificatesDirectory: LocalPath?
  /// The client's certificate chain, PEM.
  public var certificateFile: LocalPath?
  /// The client's key, PEM; nil if it is in the certificate's file.
  public var keyFile: LocalPath?
  /// Pins: `sha256//` and the Base64 of a key's SHA-256, as in curl. The server's key must match one of them.
  public var pins: [String] = []
  /// Whether the text is `sha256//` and the Base64 of 32 bytes.
  package static func isPin(_ text: String) -> Bool {
    let bytes = Array(text.utf8)
    guard bytes.count == 52, bytes.starts(with: "sha256//".utf8), bytes[51] == UInt8(ascii: "=") else { return false }
    // The last of the 43 digits holds four bits of the digest and two zeros.
    return bytes[8..<50].allSatisfy(Base64.isDigit) && "AEIMQUYcgkosw048".utf8.contains(bytes[50])
  }

  /// Accepts any certificate. Anyone in between can then read and change everything.
  public var isInsecure = false

  /// The system's certificates, no client certificate, no pins.
  public init() {}
}
