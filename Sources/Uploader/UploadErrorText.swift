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
    case .noSuchName(let host):
      "no such host: " + host + ". Check the server's name."
        + (host.hasSuffix(".local")
          ? " Static binaries do not ask mDNS; use the address, or a line in /etc/hosts." : "")
    case .noResolver(let host):
      "the name " + host + " could not be looked up: no name server answered. Check the network."
    case .notConnected(let host, let address, let error):
      "no connection to " + host + " (" + address + "): " + error.text + "."
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
      "the server redirects (" + String(status) + ") to " + PrintableText.line(location)
        + ". If that is right, give the new address as the destination."
    case .checksumDiffers(let sent, let stored):
      "the server stored something else: its SHA-256 is " + stored + ", the file's is " + sent + ". Send it again."
    case .sizeDiffers(let sent, let stored):
      "the server stored " + String(stored) + " bytes of " + String(sent) + ". Send it again."
    case .unconfirmed(let status):
      "the server answered " + String(status)
        + " without GigHive's confirmation (checksum and size). Is this address a GigHive server?"
    case .prematureSuccess(let status):
      "the server answered " + String(status) + " before it had the whole file, so it cannot have stored it."
    case .cancelled(let hasSentAll): "cancelled." + (hasSentAll ? " " + UploadError.mayBeStored : "")
    case .outOfResources(let what): "the system has no " + what + " left."
    }
  }

  /// For an upload that ended without an answer after all of it was sent.
  package static let mayBeStored =
    "The server had the whole file and may have stored it; send it again, and GigHive will know the duplicate."

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
    case 403: " This user may not upload here."
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
      "the key of " + host + " is not the pinned one; it is " + actual + ". Somebody may sit in between."
    case .handshake(let reason): "TLS with " + host + " failed: " + reason + "."
    case .broken(let reason): "TLS with " + host + " broke: " + reason + "."
    case .truncated: "the TLS connection to " + host + " was cut in the middle of the answer."
    case .unusableFile(let path, let reason): PrintableText.line(path) + " cannot be used for TLS: " + reason + "."
    case .unusablePin(let pin):
      "\"" + PrintableText.line(pin) + "\" is not a pin; write sha256// and the base 64 of the key's SHA-256."
    case .outOfMemory: "there is no memory for TLS."
    }
  }

  /// - Parameter code: X509_V_ERR_… of OpenSSL.
  private static func advice(_ code: Int) -> String {
    switch code {
    case Int(X509_V_ERR_CERT_NOT_YET_VALID), Int(X509_V_ERR_CERT_HAS_EXPIRED):
      " Is this machine's clock right? It says " + EventForm.today() + "."
    case Int(X509_V_ERR_HOSTNAME_MISMATCH), Int(X509_V_ERR_IP_ADDRESS_MISMATCH):
      " Use the name that the certificate is for."
    default: " If the server has a certificate of its own, give its CA with --cacert."
    }
  }
}
