import UploadCore

extension UploadPhase {
  /// "while connecting"
  var text: String {
    switch self {
    case .resolving: "while looking the name up"
    case .connecting: "while connecting"
    case .tunnelling: "while the proxy was connecting"
    case .handshaking: "during the TLS handshake"
    case .sending: "while sending"
    case .awaitingResponse, .awaitingAnswer: "while waiting for the answer"
    case .delivering: "as a whole"
    }
  }
}

extension EventFormError {
  package var message: String {
    switch self {
    case .missingLabel: "the recording needs a label."
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
      "has " + SizeText.exact(size) + ", more than the limit of " + SizeText.exact(limit) + "."
    case .readFailed(let offset, let error): "could not be read at byte " + String(offset) + ": " + error.text + "."
    case .shrank(let size, let offset):
      "became shorter while it was sent: it had " + SizeText.exact(size) + " and ends at " + String(offset)
        + ". Nothing was delivered; send it again when it is finished."
    case .grew(let from, let to):
      "grew while it was sent, from " + SizeText.exact(from) + " to " + SizeText.exact(to)
        + ". Nothing was delivered; send it again when it is finished."
    case .rewritten: "was changed while it was sent. Nothing was delivered; send it again when it is finished."
    case .changedOnItsWay:
      "was changed while the last of it was on its way: what the server has may be a mixture. Look there, and send it"
        + " again when it is finished."
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
