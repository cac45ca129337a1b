import UploadCore

/// Diagnostics of requests and responses, with secrets redacted.
struct Diagnostics {
  let tell: ((String) -> Void)?
  /// The secrets to redact in fields from the server.
  let secrets: Secrets

  func show(_ head: RequestHead) {
    guard let tell else { return }
    tell("> " + head.method + " " + secrets.line(ofURI: head.target.text))
    for field in head.fields { tell("> " + visible(field)) }
  }

  func show(_ response: Response) {
    guard let tell else { return }
    tell("< " + String(response.status))
    for field in response.head.fields { tell("< " + visible(field)) }
  }

  private func visible(_ field: Field) -> String {
    if Credentials.isSecret(fieldName: field.name) { return field.name + ": (secret)" }
    let isAddress = field.hasName("Location")
    return secrets.line(field.name) + ": " + (isAddress ? secrets.line(ofURI: field.value) : secrets.line(field.value))
  }
}
