/// How a client authenticates. The values are secrets: they are written only into request heads.
public enum Credentials: Sendable {
  case none
  /// RFC 7617. The user name contains no colon. The password is sent byte for byte, and need not be UTF-8.
  case basic(user: String, password: [UInt8])
  /// RFC 6750.
  case bearer(token: String)
  /// The token of a GigHive guest: `X-Upload-Token`.
  case uploadToken(String)
  /// Keys that sign requests to an S3 server.
  case s3(S3Keys)
  /// Header fields with secrets, such as those of a gateway in front of the server, and other credentials beside them. No name may
  /// occur twice, and all together have at most 4,096 bytes.
  indirect case headers([CustomField], and: Credentials)

  /// Basic credentials with a UTF-8 password.
  public static func basic(user: String, password: String) -> Credentials {
    .basic(user: user, password: Array(password.utf8))
  }

  /// The fields for the request head.
  package var fields: [Field] {
    switch self {
    case .none, .s3: []
    case .basic(let user, let password):
      [Field("Authorization", BasicAuthentication.value(user: Array(user.utf8), password: password))]
    case .bearer(let token): [Field("Authorization", "Bearer " + token)]
    case .uploadToken(let token): [Field(Credentials.uploadTokenName, token)]
    case .headers(let headers, let other): other.fields + headers.map { $0.field }
    }
  }

  /// The keys that sign requests; nil if there are none.
  package var s3Keys: S3Keys? {
    switch self {
    case .s3(let keys): keys
    case .headers(_, let other): other.s3Keys
    case .none, .basic, .bearer, .uploadToken: nil
    }
  }

  /// The header fields with secrets.
  var ownHeaders: [CustomField] {
    if case .headers(let headers, let other) = self { headers + other.ownHeaders } else { [] }
  }

  /// Whether they are those of a GigHive guest.
  package var areGuests: Bool { fields.first(Credentials.uploadTokenName) != nil }

  /// Whether the value of the field must never be shown.
  package static func isSecret(fieldName: String) -> Bool {
    CustomField.isSecret(fieldName) || ASCII.equalsIgnoringCase(fieldName.utf8, "Set-Cookie".utf8)
  }

  private static let uploadTokenName = "X-Upload-Token"
}

/// The Basic scheme (RFC 7617, 2), for servers and proxies. User name and password are sent byte for byte.
enum BasicAuthentication {
  /// The value of Authorization or Proxy-Authorization.
  static func value(user: [UInt8], password: [UInt8]) -> String {
    "Basic " + Base64.encode(userPass(user: user, password: password))
  }

  /// The bytes before Base64.
  static func userPass(user: [UInt8], password: [UInt8]) -> [UInt8] { user + [ASCII.colon] + password }
}
