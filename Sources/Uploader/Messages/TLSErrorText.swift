import CShims
import UploadCore

extension TLSError {
  /// The sentences without advice.
  func problem(host: String) -> String {
    switch self {
    case .certificate(_, let reason): "the certificate of " + host + " was not accepted: " + reason + "."
    case .pinMismatch(let actual):
      "the key of " + host + " is not the pinned one; it is " + actual + "."
    case .handshake(let reason): "TLS with " + host + " failed: " + reason + "."
    case .alert(_, let words): "TLS with " + host + " failed: the server says: " + words + "."
    case .closedDuringHandshake:
      "TLS with " + host + " failed: the server closed the connection during the handshake."
    case .broken(let reason): "TLS with " + host + " broke: " + reason + "."
    case .truncated: "the TLS connection to " + host + " was cut in the middle of the answer."
    case .unusableFile(let path, let reason): PrintableText.line(path) + " cannot be used for TLS: " + reason + "."
    case .unusablePin(let pin):
      "\"" + PrintableText.line(pin) + "\" is not a pin; write sha256// and the base 64 of the key's SHA-256."
    case .outOfMemory: "there is no memory for TLS."
    }
  }

  /// What to do about it; nil where there is nothing to say.
  var advice: String? {
    switch self {
    case .certificate(let code, _): TLSError.advice(code)
    case .handshake(let reason): TLSError.advice(reason)
    case .alert(let number, _): TLSError.advice(alert: number)
    case .pinMismatch:
      "If the server has a new key, compare it there and pin that one; if not, somebody sits in between."
    case .closedDuringHandshake, .broken, .truncated, .unusableFile, .unusablePin, .outOfMemory: nil
    }
  }

  /// What to do about a handshake that failed here.
  /// - Parameter reason: OpenSSL's words.
  private static func advice(_ reason: String) -> String? {
    switch reason {
    case "wrong version number", "http request", "packet length too long":
      "What answers there speaks no TLS. Is it the right port?"
    case "unsupported protocol": advice(alert: 70)
    case "no shared cipher": advice(alert: 40)
    default: nil
    }
  }

  /// What to do about an alert of the server's (RFC 8446, 6).
  private static func advice(alert: Int) -> String {
    switch alert {
    case 70: "It speaks no version from TLS 1.2 on, and older ones are not safe: it has to be updated."
    case 40, 71:
      "It may know none of the safe algorithms (TLS 1.2 with forward secrecy, or TLS 1.3), or want a client"
        + " certificate."
    case 42...46, 48, 49, 51, 116: "It wants a client certificate that it knows."
    case 112: "It knows no such host; check the address."
    default: "Its log may say more."
    }
  }

  /// What to do about a certificate.
  /// - Parameter code: X509_V_ERR_… of OpenSSL.
  private static func advice(_ code: Int) -> String {
    switch Int32(truncatingIfNeeded: code) {
    case X509_V_ERR_CERT_NOT_YET_VALID, X509_V_ERR_CERT_HAS_EXPIRED:
      "Is this machine's clock right? It says " + EventForm.today()
        + ". If it is, the server needs a new certificate."
    case X509_V_ERR_HOSTNAME_MISMATCH, X509_V_ERR_IP_ADDRESS_MISMATCH:
      "Use the name that the certificate is for as the server's address."
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
      "It is signed by itself. If the server is yours, copy the certificate from there and trust it."
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
      "If its certificate authority is yours, trust that one's certificate."
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY,
      X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
      "If the server has a certificate authority of its own, trust that one's certificate; if not, the server"
        + " has to send its intermediate certificates, and this machine needs the package ca-certificates."
    case X509_V_ERR_CERT_SIGNATURE_FAILURE:
      "It was issued by somebody else with the same name; get the present certificate of the authority."
    case X509_V_ERR_INVALID_CA, X509_V_ERR_PATH_LENGTH_EXCEEDED, X509_V_ERR_KEYUSAGE_NO_CERTSIGN,
      X509_V_ERR_INVALID_NON_CA, X509_V_ERR_PERMITTED_VIOLATION, X509_V_ERR_EXCLUDED_VIOLATION,
      X509_V_ERR_UNSUPPORTED_CONSTRAINT_TYPE, X509_V_ERR_UNSUPPORTED_NAME_SYNTAX:
      "It was issued by somebody who may not issue it. Ask the server's administrator for another one; somebody may"
        + " sit in between."
    case X509_V_ERR_INVALID_PURPOSE, X509_V_ERR_KEYUSAGE_NO_DIGITAL_SIGNATURE:
      "It is not one for servers. The server's administrator has to get one that is."
    case X509_V_ERR_EE_KEY_TOO_SMALL, X509_V_ERR_CA_KEY_TOO_SMALL:
      "A key is too small to be safe (RSA needs 2048 bits). The server's administrator has to get a new certificate."
    case X509_V_ERR_CA_MD_TOO_WEAK:
      "It is signed with SHA-1 or MD5, a weak digest. The server's administrator has to get one that is signed with"
        + " SHA-256."
    default: "Ask the server's administrator."
    }
  }
}
