/// An ``Answer`` to show to people and programs: without secrets and of limited length.
public struct RedactedAnswer: Equatable, Sendable {
  /// 200 to 599.
  public let status: Int
  /// The Location field, without its query.
  public let location: String?
  /// The start of the decoded content as text, at most 1,024 bytes of UTF-8. Empty if it could not be decoded.
  public let body: String
  /// Whether there was more content.
  public let isBodyTruncated: Bool
  /// Which software wrote it, as far as it shows.
  public let software: LikelySoftware
  package let request: AnsweredRequest
  /// What to do about it, if its software is known and has a setting for it; otherwise nil.
  package let remedy: String?
  /// Whether it is a 401 to a request without credentials.
  package let lacksCredentials: Bool
  /// The scheme of a 401 that offers neither Basic nor Bearer (RFC 9110, 11.6.1), if it is known by name; nil for others. This program has
  /// only those two.
  package let otherScheme: String?
  /// The error with which PHP ended a program, on one line; nil for other software.
  package let phpError: String?

  /// - Parameters:
  ///   - secrets: what this process knows; redacted like everything that is named as a secret.
  ///   - hasCredentials: whether this process has any for the server.
  package init(
    _ answer: Answer, to request: AnsweredRequest = .other, _ secrets: Secrets, hasCredentials: Bool = true
  ) {
    self.request = request
    otherScheme =
      answer.status == 401 ? RedactedAnswer.otherScheme(answer.fields.listMembers(of: "WWW-Authenticate")) : nil
    lacksCredentials = answer.status == 401 && !hasCredentials && otherScheme == nil
    status = answer.status
    location = answer.fields.first("Location").map { SecretMembers.redacted(secrets.line(ofURI: $0)) }
    (body, isBodyTruncated) = RedactedAnswer.text(answer.content, secrets)
    software = LikelySoftware(of: answer)
    remedy =
      GigHiveFailure(status: answer.status, json: try? JSONReader.read(answer.content))?.remedy
      ?? LikelySoftware.remedyOfWords(answer)
      ?? software.remedy(status: status, to: request, hasCredentials: hasCredentials)
    phpError = software == .phpError ? PHPError.text(in: answer.content).map { secrets.line($0) } : nil
  }

  /// - Parameter members: of the field, in lower case. The first parameter of a challenge follows its scheme behind a space.
  private static func otherScheme(_ members: [String]) -> String? {
    func offers(_ scheme: String) -> Bool { members.contains { $0 == scheme || $0.hasPrefix(scheme + " ") } }
    if offers("basic") || offers("bearer") { return nil }
    return ["Digest", "Negotiate", "NTLM"].first { offers(ASCII.lowercased($0)) }
  }

  /// The start of a response's decoded content, redacted.
  package static func text(_ content: [UInt8], _ secrets: Secrets) -> (text: String, isTruncated: Bool) {
    // Redacted first: a truncated secret might not be recognized.
    let whole = String(decoding: SecretMembers.redacted(secrets.redacted(content)), as: UTF8.self)
    guard whole.utf8.count > Limits.answerBodyLength else { return (whole, false) }
    var text = ""
    var length = 0
    for scalar in whole.unicodeScalars {
      length += UTF8.width(scalar)
      if length > Limits.answerBodyLength { break }
      text.unicodeScalars.append(scalar)
    }
    return (text, true)
  }
}

/// What a response answers, as far as advice depends on it.
package enum AnsweredRequest: Equatable, Sendable {
  /// A recording as a form for GigHive, which may take it over tus, too.
  case gigHiveForm
  /// A recording as a form for another server.
  case otherForm
  /// A request of tus, or one that sends no recording.
  case other
}
