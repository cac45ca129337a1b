import UploadCore

/// What ``Configuration/diagnostics`` gets of requests (`>`) and responses (`<`), with secrets redacted.
struct RequestTrace {
  let tell: ((String) -> Void)?
  /// The secrets to redact in fields from the server.
  let secrets: Secrets
  /// Fields of requests whose values are secret, whatever their names.
  let secretFields: [Field]

  func show(_ request: HTTPRequest) {
    guard let tell else { return }
    tell("> " + request.method + " " + secrets.line(ofURI: request.target.text))
    for field in request.fields {
      let isSecret = secretFields.first(field.name) != nil
      tell("> " + (isSecret ? field.name + ": (secret)" : visible(field)))
    }
  }

  func show(_ head: ResponseHead) {
    guard let tell else { return }
    tell("< HTTP/1." + String(head.minorVersion) + " " + String(head.status))
    for field in head.fields { tell("< " + visible(field)) }
  }

  /// The start of a response's decoded content, on one line.
  func show(_ content: [UInt8]) {
    guard let tell, !content.isEmpty else { return }
    let (text, isTruncated) = RedactedAnswer.text(content, secrets)
    tell("< " + PrintableText.line(text, limit: Limits.answerBodyLength) + (isTruncated ? "…" : ""))
  }

  private func visible(_ field: Field) -> String {
    if Credentials.isSecret(fieldName: field.name) { return field.name + ": (secret)" }
    let value = field.hasName("Location") ? secrets.line(ofURI: field.value) : secrets.line(field.value)
    return secrets.line(field.name) + ": " + SecretMembers.redacted(value)
  }
}
