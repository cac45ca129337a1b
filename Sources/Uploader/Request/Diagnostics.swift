import UploadCore

/// Diagnostics of requests and responses, with secrets redacted.
struct Diagnostics {
  let tell: ((String) -> Void)?
  /// The secrets to redact in fields from the server.
  let secrets: Secrets

  func show(_ request: HTTPRequest) {
    guard let tell else { return }
    tell("> " + request.method + " " + secrets.line(ofURI: request.target.text))
    for field in request.fields { tell("> " + visible(field)) }
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
