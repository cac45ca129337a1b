import UploadCore

/// How long each phase may take, in milliseconds.
public struct Timeouts: Sendable {
  /// Looking the name up, connecting and the TLS handshake, each.
  public var connectMilliseconds: Int64 = 30_000
  /// Sending without a byte that the server acknowledges.
  public var stallMilliseconds: Int64 = 30_000
  /// From the last byte of the request to the last of the answer. Servers are silent while they digest a recording.
  public var responseMilliseconds: Int64 = 120_000

  public init() {}
}

/// Which addresses of a host are used.
public enum AddressFamily: Sendable { case any, ipv4, ipv6 }

/// What an ``Uploader`` applies to all its uploads.
public struct Configuration {
  public var credentials = Credentials.none
  public var tls = TLSOptions()
  public var timeouts = Timeouts()
  public var addressFamily = AddressFamily.any
  /// The product's name and version for the server's log.
  public var userAgent = "gighive-upload/" + version
  /// Is told what happens on the wire, a line each time, without secrets.
  public var diagnostics: ((String) -> Void)?

  public init() {}
}

/// The version of this library and program (semver.org).
public let version = "0.1.0"
