/// A header field of the caller, sent with every request to the destination's origin (RFC 9110, 5). The program's own fields, and
/// those that frame a message or belong to a connection, cannot be set.
public struct CustomField: Equatable, Sendable {
  /// A token, as given. Names are case-insensitive.
  public let name: String
  /// Without spaces at either end; can be empty.
  public let value: String

  /// A field. Spaces and tabs around the value are removed.
  public init(_ name: String, _ value: String) throws(CustomFieldError) {
    guard !name.isEmpty, name.utf8.allSatisfy(ASCII.isTokenCharacter) else { throw .invalidName }
    let bytes = ASCII.trimmed(Array(value.utf8)[...])
    guard name.utf8.count + bytes.count <= Limits.ownFieldsLength else { throw .tooLong(limit: Limits.ownFieldsLength) }
    guard !bytes.contains(where: ASCII.isControl) else { throw .invalidValue(name: name) }
    guard !CustomField.isReserved(name) else { throw .reserved(name: name) }
    self.name = name
    self.value = String(decoding: bytes, as: UTF8.self)
  }

  /// Parses `Name: value`.
  package init(line: [UInt8]) throws(CustomFieldError) {
    guard line.count <= Limits.ownFieldsLength else { throw .tooLong(limit: Limits.ownFieldsLength) }
    guard let colon = line.firstIndex(of: ASCII.colon) else { throw .noColon }
    let name = String(decoding: line[..<colon], as: UTF8.self)
    guard let value = String(validating: line[(colon + 1)...], as: UTF8.self) else {
      guard !name.isEmpty, name.utf8.allSatisfy(ASCII.isTokenCharacter) else { throw .invalidName }
      throw .invalidValue(name: name)
    }
    try self.init(name, value)
  }

  package var field: Field { Field(name, value) }

  /// Whether a field of this name usually holds a secret.
  package static func isSecret(_ name: String) -> Bool {
    let name = comparable(name)
    return secretNames.contains(name) || secretEndings.contains { name.hasSuffix($0) }
  }

  private static func isReserved(_ name: String) -> Bool {
    let name = comparable(name)
    return reservedNames.contains(name) || reservedBeginnings.contains { name.hasPrefix($0) }
  }

  /// In lower case. An underscore counts as a hyphen, because CGI servers cannot tell them apart.
  private static func comparable(_ name: String) -> String {
    let hyphen = UInt8(ascii: "-")
    return String(
      decoding: name.utf8.map { $0 == UInt8(ascii: "_") ? hyphen : ASCII.lowercased($0) }, as: UTF8.self)
  }

  private static let secretNames = ["authorization", "cookie"]
  private static let secretEndings = ["-key", "-token", "apikey", "-secret", "-password", "-authorization"]
  /// Proxy-Authorization goes to the proxy. An upload server that gets another Accept need not answer with JSON.
  private static let reservedNames = [
    "host", "transfer-encoding", "te", "trailer", "connection", "keep-alive", "upgrade", "expect", "accept",
    "accept-encoding", "x-http-method-override", "x-http-method", "x-method-override",
  ]
  private static let reservedBeginnings = ["content-", "proxy-", "tus-", "upload-"]
}

/// Why a header field cannot be sent. Contains no values, because they can be secrets.
public enum CustomFieldError: Error, Equatable, Sendable {
  case noColon
  /// The name is not a token (RFC 9110, 5.6.2).
  case invalidName
  /// The value has a control character, such as a line break, or is not UTF-8.
  case invalidValue(name: String)
  /// The program sets the field itself.
  case reserved(name: String)
  /// The field holds a secret, which belongs to the credentials: ``Credentials/headers(_:and:)``.
  case secret(name: String)
  /// A field of the credentials that is given more than once.
  case repeated(name: String)
  /// All fields together are longer, in bytes.
  case tooLong(limit: Int)
}

extension CustomField {
  /// The error of the first field that cannot be sent with these credentials; nil if there is none.
  package static func problem(in fields: [CustomField], with credentials: Credentials) -> CustomFieldError? {
    if let secret = fields.first(where: { isSecret($0.name) }) { return .secret(name: secret.name) }
    let own = fields.map { $0.field }
    var earlier: [Field] = []
    for field in credentials.fields {
      if (own + earlier).contains(where: { $0.hasName(field.name) }) { return .repeated(name: field.name) }
      earlier.append(field)
    }
    // Not a list: a second one would be dropped or refused.
    if own.values(of: "User-Agent").count > 1 { return .repeated(name: "User-Agent") }
    for fields in [fields, credentials.ownHeaders] {
      let length = fields.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count }
      if length > Limits.ownFieldsLength { return .tooLong(limit: Limits.ownFieldsLength) }
    }
    return nil
  }
}

extension Limits {
  /// The caller's header fields with their names, in bytes, and as much again for those with secrets: half a head.
  static let ownFieldsLength = 4 << 10
}
