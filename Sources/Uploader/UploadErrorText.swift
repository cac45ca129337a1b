import CShims
import UploadCore

/// Errors in words: what failed, with which value, and what to do about it.
extension UploadError {
  /// One or two sentences for a person. Texts from outside are printable in it and secrets are not.
  public var message: String {
    switch self {
    case .form(let error): error.message
    case .formData(let error): error.message
    case .requestHead(let error): error.message
    case .file(let path, let error): PrintableText.line(path.text) + ": " + error.message
    case .changed(let path, let change, let id):
      PrintableText.line(path.text) + " is not what it was when its upload began: " + change.text
        + ". End that upload with gighive-upload cancel " + id + ", then send the file again."
    case .state(let error): error.message
    case .conflict(let id):
      "the upload " + id + " is under way in another process. Wait until it has ended, or stop it."
    case .delivered(let id): "the upload " + id + " is delivered already."
    case .noSuchName(let host):
      "no such host: " + host + ". Check the server's name."
        + (host.hasSuffix(".local")
          ? " Static binaries do not ask mDNS; use the address, or a line in /etc/hosts." : "")
    case .noResolver(let host):
      "the name " + host + " could not be looked up: no name server answered. Check the network."
    case .notConnected(let host, let address, let error):
      "no connection to " + host + " (" + address + "): " + error.text + "."
    case .timedOut(.delivering, _, let limit):
      "the upload has not ended within " + DurationText.seconds(limit) + " (--max-time)."
    case .timedOut(let phase, let peer, let limit):
      "timed out " + phase.text + ": " + peer + " did nothing for " + DurationText.seconds(limit) + "."
        + UploadError.remark(on: phase)
    case .connectionLost(let phase, let peer, let error):
      "the connection to " + peer + " was lost " + phase.text + ": " + (error?.text ?? "the server closed it") + "."
        + UploadError.remark(on: phase)
    case .tls(let error, let host): error.message(host: host)
    case .invalidResponse(let error, let peer): "the answer of " + peer + " is not valid: " + error.message + "."
    case .refused(let status, let message): UploadError.refusal(status, message)
    case .redirected(let status, let location):
      "the server redirects (" + String(status) + ") to " + PrintableText.line(PrintableText.withoutQuery(location))
        + ". If that is right, give the new address as the destination."
    case .redirectionRefused(let location, let problem):
      "the server redirects to " + PrintableText.line(PrintableText.withoutQuery(location)) + ", " + problem.text
    case .proxyRefused(let status, let proxy):
      "the proxy " + proxy + " refused to connect (" + String(status) + ")."
        + (status == 407 ? " It wants a user name and password." : " Check --proxy and NO_PROXY.")
    case .checksumDiffers(let sent, let stored):
      "the server stored something else: its SHA-256 is " + stored + ", the file's is " + sent + ". Send it again."
    case .sizeDiffers(let sent, let stored):
      "the server stored " + String(stored) + " bytes of " + String(sent) + ". Send it again."
    case .unconfirmed(let status):
      "the server answered " + String(status)
        + " without GigHive's confirmation (checksum and size). Is this address a GigHive server?"
    case .prematureSuccess(let status):
      "the server answered " + String(status) + " before it had the whole file, so it cannot have stored it."
    case .tus(let error): error.message
    case .stillProcessing: "the server has the recording and is still working on it."
    case .uploadLost: "the server lost the upload before it was whole."
    case .cancelled(let hasSentAll): "cancelled." + (hasSentAll ? " " + UploadError.mayBeStored : "")
    case .outOfResources(let what): "the system has no " + what + " left."
    }
  }

  /// For an upload that ended without an answer after all of it was sent.
  package static let mayBeStored =
    "The server had the whole file and may have stored it. GigHive knows the duplicate if it is sent again; "
    + "on any other server, look first."

  private static func remark(on phase: UploadPhase) -> String { phase == .awaitingResponse ? " " + mayBeStored : "" }

  private static func refusal(_ status: Int, _ message: String) -> String {
    let end: String
    switch message.utf8.last {
    case nil, UInt8(ascii: "."), UInt8(ascii: "!"), UInt8(ascii: "?"): end = ""
    default: end = "."
    }
    let words = message.isEmpty ? "." : ": " + message + end
    return "the server refused (" + String(status) + ")" + words + advice(status)
  }

  private static func advice(_ status: Int) -> String {
    switch status {
    case 401: " Check the user name and the password."
    case 403: " This user may not do that here."
    case 404: " Check the server's address."
    case 409: " The server has a recording like this, but not with this content."
    case 413:
      " A limit of the server, or of a proxy before it, is below the file's size;"
        + " docs/server-setup.md lists them. A wrong --file-field gives the same answer."
    case 429, 503: " The server is busy; try again later."
    default: ""
    }
  }
}

extension EventFormError {
  package var message: String {
    switch self {
    case .missingLabel: "the recording needs a label; give one with --label."
    case .invalidEventDate(let text):
      "\"" + PrintableText.line(text) + "\" is not a date; write it as YYYY-MM-DD, such as 2026-11-20."
    case .unknownEventType(let text):
      "GigHive knows no event type \"" + PrintableText.line(text) + "\"; it is band or wedding."
    }
  }
}

extension FormDataError {
  var message: String {
    switch self {
    case .fieldsTooLong(let limit): "the form's fields are too long together; the limit is " + String(limit) + " bytes."
    case .invalidMediaType(let text): "\"" + PrintableText.line(text) + "\" is not a media type."
    }
  }
}

extension RequestHeadError {
  var message: String {
    switch self {
    case .invalidField(let name): "the value for the header field " + name + " holds a line end or control character."
    case .tooLong(let limit): "the request's head is too long; the limit is " + String(limit) + " bytes."
    }
  }
}

extension FileError {
  var message: String {
    switch self {
    case .missing: "no such file."
    case .unreadable(let error): "cannot be read: " + error.text + "."
    case .notRegular(let kind): "is " + kind + ", not a regular file."
    case .empty: "is empty; there is nothing to send."
    case .tooLarge(let size, let limit):
      "has " + SizeText.exact(size) + ", more than the limit of " + SizeText.exact(limit) + " (--max-size)."
    case .readFailed(let offset, let error): "could not be read at byte " + String(offset) + ": " + error.text + "."
    case .shrank(let size, let offset):
      "became shorter while it was sent: it had " + SizeText.exact(size) + " and ends at " + String(offset)
        + ". Nothing was delivered; send it again when it is finished."
    case .grew(let from, let to):
      "grew while it was sent, from " + SizeText.exact(from) + " to " + SizeText.exact(to)
        + ". Nothing was delivered; send it again when it is finished."
    case .rewritten: "was changed while it was sent. Nothing was delivered; send it again when it is finished."
    }
  }
}

extension UploadError.RedirectionProblem {
  var text: String {
    switch self {
    case .leavesTLS: "which is not encrypted. Nothing was sent there."
    case .circle: "where this request has come from: it goes round in a circle."
    case .tooMany(let limit): "and did so more than " + String(limit) + " times."
    case .noAddress: "which is no address."
    }
  }
}

extension FileChange {
  var text: String {
    switch self {
    case .size(let from, let to): "it had " + SizeText.exact(from) + " and now has " + SizeText.exact(to)
    case .content: "its first or last bytes have changed"
    case .modificationTime: "somebody has written to it since (its modification time has changed)"
    }
  }
}

extension TusError {
  var message: String {
    switch self {
    case .notSpoken(let status):
      "the server does not speak tus here (" + String(status) + "). Check the address, or use --protocol multipart."
    case .versionNotSupported(let offered):
      "the server speaks tus " + (offered.isEmpty ? "of another version" : offered) + ", and this program 1.0.0."
    case .tooLarge(let size, let limit):
      "the file has " + SizeText.exact(size) + ", and the server takes " + SizeText.exact(limit) + " at the most."
    case .invalidMetadataKey(let key):
      "\"" + key + "\" cannot be the name of a field with tus; use visible ASCII without commas."
    case .noLocation: "the server created the upload and did not say where (no Location)."
    case .unusableLocation(let text):
      "the server created the upload at " + text + ", which is no address that this upload may go to."
    case .offsetBeyond(let sent, let acknowledged):
      "the server says that it has " + SizeText.exact(acknowledged) + ", and was sent " + SizeText.exact(sent)
        + ". Send the file again."
    case .noOffset(let status):
      "the server answered " + String(status) + " without saying how much it has (no Upload-Offset)."
    case .checksumMismatch(let offset):
      "what the server received at byte " + String(offset) + " was damaged on the way (its checksum differs)."
    case .locked: "the server keeps the upload locked for another request (423). Try again later."
    case .refused(let method, let status):
      "the server, or a proxy before it, does not take " + method + " (" + String(status)
        + "). Try --method-override."
    }
  }
}

extension ResponseError {
  var message: String {
    switch self {
    case .notHTTP: "it is not HTTP/1.1 (is this the right port, and http or https as the server has it?)"
    case .headTooLong(let limit): "its head is longer than " + String(limit) + " bytes"
    case .tooManyFields(let limit): "it has more than " + String(limit) + " header fields"
    case .tooManyInterimResponses(let limit): "more than " + String(limit) + " interim responses came before it"
    case .invalidField: "it has a malformed header field"
    case .invalidContentLength: "its Content-Length is not a number or contradicts itself"
    case .unsupportedTransferEncoding: "it has a transfer coding other than chunked"
    case .invalidChunk: "its chunked coding is malformed"
    case .trailerTooLong(let limit): "its trailer is longer than " + String(limit) + " bytes"
    case .unexpectedUpgrade: "it switches to another protocol, which was not asked for"
    case .incomplete: "the connection ended in the middle of it"
    }
  }
}

extension TLSError {
  func message(host: String) -> String {
    switch self {
    case .certificate(let code, let reason):
      "the certificate of " + host + " was not accepted: " + reason + "." + TLSError.advice(code)
    case .pinMismatch(let actual):
      "the key of " + host + " is not the pinned one; it is " + actual
        + ". If the server has a new key, compare it there and give it with --pin; if not, somebody sits in between."
    case .handshake(let reason): "TLS with " + host + " failed: " + reason + "." + TLSError.advice(reason)
    case .alert(let number, let words):
      "TLS with " + host + " failed: the server says: " + words + "." + TLSError.advice(alert: number)
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

  /// What to do about a handshake that failed here.
  /// - Parameter reason: OpenSSL's words.
  private static func advice(_ reason: String) -> String {
    switch reason {
    case "wrong version number", "http request", "packet length too long":
      " What answers there speaks no TLS. Is it the right port?"
    case "unsupported protocol": advice(alert: 70)
    case "no shared cipher": advice(alert: 40)
    default: ""
    }
  }

  /// What to do about an alert of the server's (RFC 8446, 6).
  private static func advice(alert: Int) -> String {
    switch alert {
    case 70: " It speaks no version from TLS 1.2 on, and older ones are not safe: it has to be updated."
    case 40, 71:
      " It may know none of the safe algorithms (TLS 1.2 with forward secrecy, or TLS 1.3), or want a client"
        + " certificate (--cert)."
    case 42...46, 48, 49, 116: " It wants a client certificate that it knows; give one with --cert and --key."
    case 112: " It knows no such host; check the address."
    default: " Its log may say more."
    }
  }

  /// What to do about a certificate.
  /// - Parameter code: X509_V_ERR_… of OpenSSL.
  private static func advice(_ code: Int) -> String {
    switch Int32(truncatingIfNeeded: code) {
    case X509_V_ERR_CERT_NOT_YET_VALID, X509_V_ERR_CERT_HAS_EXPIRED:
      " Is this machine's clock right? It says " + EventForm.today()
        + ". If it is, the server needs a new certificate."
    case X509_V_ERR_HOSTNAME_MISMATCH, X509_V_ERR_IP_ADDRESS_MISMATCH:
      " Use the name that the certificate is for as the server's address."
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
      " The server vouches for itself. If it is yours, copy its certificate from there and give it with --cacert."
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
      " If its certificate authority is yours, give that one's certificate with --cacert."
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY,
      X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
      " If the server has a certificate authority of its own, give that one's certificate with --cacert; if not, the"
        + " server has to send its intermediate certificates, and this machine needs the package ca-certificates."
    case X509_V_ERR_CERT_SIGNATURE_FAILURE:
      " It was issued by somebody else with the same name; get the present certificate of the authority for --cacert."
    case X509_V_ERR_INVALID_CA, X509_V_ERR_PATH_LENGTH_EXCEEDED, X509_V_ERR_KEYUSAGE_NO_CERTSIGN,
      X509_V_ERR_INVALID_NON_CA, X509_V_ERR_PERMITTED_VIOLATION, X509_V_ERR_EXCLUDED_VIOLATION,
      X509_V_ERR_UNSUPPORTED_CONSTRAINT_TYPE, X509_V_ERR_UNSUPPORTED_NAME_SYNTAX:
      " It was issued by somebody who may not issue it. Ask the server's administrator for another one; somebody may"
        + " sit in between."
    case X509_V_ERR_INVALID_PURPOSE, X509_V_ERR_KEYUSAGE_NO_DIGITAL_SIGNATURE:
      " It is not one for servers. The server's administrator has to get one that is."
    case X509_V_ERR_EE_KEY_TOO_SMALL, X509_V_ERR_CA_KEY_TOO_SMALL:
      " A key is too small to be safe (RSA needs 2048 bits). The server's administrator has to get a new certificate."
    case X509_V_ERR_CA_MD_TOO_WEAK:
      " It is signed with SHA-1 or MD5, a weak digest. The server's administrator has to get one that is signed with"
        + " SHA-256."
    default: " Ask the server's administrator."
    }
  }
}
