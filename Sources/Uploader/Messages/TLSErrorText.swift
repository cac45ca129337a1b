import CShims
import UploadCore

extension TLSError {
  /// The message without advice.
  func problem(host: String) -> String {
    switch self {
    case .certificate(_, let reason), .chain(_, let reason):
      "the certificate of " + host + " was rejected: " + reason + "."
    case .pinMismatch(let actual):
      "the key of " + host + " does not match the pin; it is " + actual + "."
    case .handshake(let reason): "TLS with " + host + " failed: " + reason + "."
    case .alert(_, let words): "TLS with " + host + " failed: the server says: " + words + "."
    case .closedDuringHandshake:
      "TLS with " + host + " failed: the server closed the connection during the handshake."
    case .broken(let reason): "the TLS connection to " + host + " broke: " + reason + "."
    case .truncated: "the TLS connection to " + host + " was cut off in the middle of the response."
    case .unusableFile(let path, let reason): PrintableText.line(path) + " cannot be used for TLS: " + reason + "."
    case .unusablePin(let pin):
      "\"" + PrintableText.line(pin) + "\" is not a pin; use sha256// followed by the Base64 of the key's SHA-256."
    case .outOfMemory: "not enough memory for TLS."
    }
  }

  /// What to do about it; nil if nothing helps.
  var advice: String? {
    switch self {
    case .certificate(let code, _): TLSError.advice(code)
    case .chain(let problem, _): problem.advice(trusting: "trust its certificate")
    case .handshake(let reason): TLSError.advice(reason)
    case .alert(let number, _): TLSError.advice(alert: number)
    case .pinMismatch:
      "If the server has a new key, verify it there and pin it. Otherwise someone may be intercepting the connection."
    case .closedDuringHandshake:
      "Check the port, and the server's log. A firewall that blocks this host closes connections like that, too."
    case .broken, .truncated, .unusableFile, .unusablePin, .outOfMemory: nil
    }
  }

  /// What to do about a handshake that failed on this side.
  /// - Parameter reason: OpenSSL's text.
  private static func advice(_ reason: String) -> String? {
    switch reason {
    case "wrong version number", "http request", "packet length too long", "data length too long":
      "The peer does not speak TLS. Check the port."
    case "unsupported protocol": advice(alert: 70)
    case "no shared cipher": advice(alert: 40)
    default: nil
    }
  }

  /// What to do about an alert from the server (RFC 8446, 6).
  private static func advice(alert: Int) -> String {
    switch alert {
    case 70: "It does not support TLS 1.2 or later, and older versions are not secure. Update the server."
    case 40, 71:
      "It may lack a secure algorithm (TLS 1.2 with forward secrecy, or TLS 1.3), or require a client"
        + " certificate."
    case _ where isAboutClientCertificate(alert: alert): "It requires a client certificate that it accepts."
    case 112: "It does not serve this host name. Check the address."
    default: "Check the server's log."
    }
  }

  /// What to do about a certificate.
  /// - Parameter code: X509_V_ERR_… of OpenSSL.
  private static func advice(_ code: Int) -> String {
    switch Int32(truncatingIfNeeded: code) {
    case X509_V_ERR_CERT_NOT_YET_VALID, X509_V_ERR_CERT_HAS_EXPIRED:
      "Check this machine's clock, which says " + EventForm.today()
        + ". If it is right, the server needs a new certificate."
    case X509_V_ERR_HOSTNAME_MISMATCH, X509_V_ERR_IP_ADDRESS_MISMATCH:
      "Use a name from the certificate as the server's address."
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
      "It is self-signed. If the server is yours, copy its certificate to this machine and trust it."
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
      "If its certificate authority is yours, trust that authority's certificate."
    case X509_V_ERR_CERT_SIGNATURE_FAILURE:
      "It was issued by another authority with the same name. Get the authority's current certificate."
    case X509_V_ERR_INVALID_CA, X509_V_ERR_PATH_LENGTH_EXCEEDED, X509_V_ERR_KEYUSAGE_NO_CERTSIGN,
      X509_V_ERR_INVALID_NON_CA, X509_V_ERR_PERMITTED_VIOLATION, X509_V_ERR_EXCLUDED_VIOLATION,
      X509_V_ERR_UNSUPPORTED_CONSTRAINT_TYPE, X509_V_ERR_UNSUPPORTED_NAME_SYNTAX:
      "It was issued by an authority that must not issue it. Ask the server's administrator for a new one. Someone may be"
        + " intercepting the connection."
    case X509_V_ERR_INVALID_PURPOSE, X509_V_ERR_KEYUSAGE_NO_DIGITAL_SIGNATURE:
      "It is not a server certificate. The server's administrator must get one."
    case X509_V_ERR_EE_KEY_TOO_SMALL, X509_V_ERR_CA_KEY_TOO_SMALL:
      "A key is too small to be secure (RSA needs 2048 bits). The server's administrator must get a new certificate."
    case X509_V_ERR_CA_MD_TOO_WEAK:
      "It is signed with SHA-1 or MD5, which are weak. The server's administrator must get one signed with SHA-256."
    default: "Ask the server's administrator."
    }
  }
}

extension ChainProblem {
  /// What to do about it.
  /// - Parameter trusting: how to trust an authority, as a command.
  package func advice(trusting: String) -> String {
    switch self {
    case .expiredIssuer(let name, let place, let day):
      "Number " + String(place) + " of the certificates that the server sends, " + name + ", expired on " + day
        + ": the server needs a current one of that authority. This machine's clock says " + EventForm.today() + "."
    case .expiredAuthority(let name):
      "The server's certificates are current, but this machine's copy of the authority " + name
        + " has expired: update the package ca-certificates, or the file that you have given. This machine's clock says "
        + EventForm.today() + "."
    case .missingIssuer(let name):
      "The server sends its own certificate alone, without that of its issuer, " + name
        + ". Let it send its whole chain (fullchain.pem); or if that authority is yours, " + trusting + "."
    case .unknownAuthority(let name):
      "This machine does not know the authority " + name + ". If it is yours, " + trusting
        + ". Otherwise this machine needs a current package ca-certificates."
    case .foreign(let hosts):
      "It is for " + hosts
        + ", not for this host. If you do not know that name, a login page of this network answers: open"
        + " any page in a browser and log in. If the server is yours, it needs a certificate for its own name."
    }
  }
}
