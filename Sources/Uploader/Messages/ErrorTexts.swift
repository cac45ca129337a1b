import UploadCore

extension UploadPhase {
  /// "while connecting"
  var text: String {
    switch self {
    case .resolving: "while resolving the name"
    case .connecting: "while connecting"
    case .tunnelling: "while the proxy was connecting"
    case .handshaking: "during the TLS handshake"
    case .sending: "while sending"
    case .awaitingConfirmation, .awaitingAnswer: "while waiting for the response"
    case .delivering: "as a whole"
    }
  }
}

extension EventFormError {
  package var message: String {
    switch self {
    case .missingLabel: "the recording needs a label."
    case .invalidEventDate(let text):
      "\"" + PrintableText.line(text) + "\" is not a date; use YYYY-MM-DD, such as 2026-11-20."
    case .unknownToday: "the date of the event is not known."
    case .tooLong(let field, let count, let limit):
      "the " + field + " has " + String(count) + " characters; GigHive takes at most " + String(limit) + "."
    case .invalidRating(let text):
      "\"" + PrintableText.line(text) + "\" is not a rating; GigHive takes only digits, such as 5."
    case .unknownEventType(let text):
      "GigHive has no event type \"" + PrintableText.line(text) + "\"; use band or wedding."
    }
  }
}

extension FormDataError {
  var message: String {
    switch self {
    case .fieldsTooLong(let limit): "the form fields exceed the total limit of " + String(limit) + " bytes."
    case .invalidMediaType(let text): "\"" + PrintableText.line(text) + "\" is not a media type."
    }
  }
}

extension RequestHeadError {
  var message: String {
    switch self {
    case .invalidField(let name): "the header field " + name + " contains a line break or control character."
    case .tooLong(let limit): "the request headers exceed the limit of " + String(limit) + " bytes."
    case .header(let error): error.message
    case .metadataTooLong(let limit): "the metadata exceeds the total limit of " + String(limit) + " bytes."
    }
  }
}

extension CustomFieldError {
  package var message: String {
    switch self {
    case .noColon: "a header field needs a name, a colon and a value, such as X-Team: sound."
    case .invalidName: "the name of a header field can contain only letters, digits and !#$%&'*+-.^_`|~."
    case .invalidValue(let name):
      "the value of the header field " + name + " contains a control character, such as a line break, or is not UTF-8."
    case .reserved(let name): "the header field " + name + " is part of the protocol and cannot be set."
    case .secret(let name): "the header field " + name + " holds a secret and belongs to the credentials."
    case .repeated(let name): "the header field " + name + " is given twice."
    case .tooLong(let limit): "the header fields exceed the total limit of " + String(limit) + " bytes."
    }
  }
}

extension FileError {
  /// - Parameter name: of the file, or a pronoun for it.
  func message(of name: String) -> String {
    name + " " + predicate
  }

  /// What follows the name of the file.
  private var predicate: String {
    switch self {
    case .missing: "does not exist."
    case .gone: "is gone: it was removed or renamed. Nothing was sent."
    case .waitingForMedium:
      "is not available: its drive or card is not mounted, or its directory was removed. Nothing was sent."
    case .unreadable(let error): "cannot be read: " + error.text + "."
    case .notRegular(let kind): "is " + kind + ", not a regular file."
    case .empty: "is empty; there is nothing to send."
    case .tooLarge(let size, let limit):
      "has " + SizeText.exact(size) + ", more than the limit of " + SizeText.exact(limit) + "."
    case .readFailed(let offset, let error): "could not be read at byte " + String(offset) + ": " + error.text + "."
    case .shrank(let from, let to):
      "shrank while it was being sent, from " + SizeText.exact(from) + " to " + SizeText.exact(to)
        + ". Nothing was delivered; send it again when it is finished."
    case .grew(let from, let to):
      "grew while it was being sent, from " + SizeText.exact(from) + " to " + SizeText.exact(to)
        + ". Nothing was delivered; send it again when it is finished."
    case .statusChanged:
      "has changed: its permissions or links changed while it was being sent, and without a SHA-256 nothing shows that its"
        + " content did not. Nothing was delivered."
    case .rewritten: "changed while it was being sent. Nothing was delivered; send it again when it is finished."
    case .changedInTransit:
      "changed while its last bytes were in transit, so the server may have a mix of old and new content. Check the"
        + " server, and send the file again when it is finished."
    case .unsettled(let reason): reason.predicate + " Nothing was sent."
    }
  }
}

extension UnsettledFile {
  fileprivate var predicate: String {
    switch self {
    case .changed: "has changed since it was found."
    case .beingWritten: "is being written."
    case .unknown(let error): "cannot be examined now: " + error.text + "."
    }
  }
}

extension UploadError.RedirectionProblem {
  var text: String {
    switch self {
    case .loginPage: "a login page."
    case .leavesTLS: "which is not encrypted. Nothing was sent there."
    case .circle: "and the redirects form a loop."
    case .tooMany(let limit): "and there were more than " + String(limit) + " redirects."
    case .noAddress: "which is not a valid address."
    }
  }
}

extension FileChange {
  var text: String {
    switch self {
    case .size(let from, let to): "it had " + SizeText.exact(from) + " and now has " + SizeText.exact(to)
    case .content: "its first or last bytes differ"
    case .modificationTime: "its modification time differs"
    }
  }
}

extension ResponseError {
  var message: String {
    switch self {
    case .notHTTP: "it is not HTTP/1.1 (check the port, and whether the server expects http or https)"
    case .headTooLong(let limit): "its header is longer than " + String(limit) + " bytes"
    case .tooManyFields(let limit): "it has more than " + String(limit) + " header fields"
    case .tooManyInterimResponses(let limit):
      "more than " + SizeText.exact(Int64(limit)) + " of interim responses came before it"
    case .invalidField: "it has a malformed header field"
    case .invalidContentLength: "its Content-Length is invalid or contradictory"
    case .unsupportedTransferEncoding: "it uses a transfer coding other than chunked"
    case .invalidChunk: "its chunked coding is malformed"
    case .trailerTooLong(let limit): "its trailer is longer than " + String(limit) + " bytes"
    case .unexpectedUpgrade: "it switches to another protocol without being asked"
    case .incomplete: "the connection was closed before it was complete"
    }
  }
}
