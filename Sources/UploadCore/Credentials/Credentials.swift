/// How a client authenticates. The values are secrets: they are written only into request heads.
public enum Credentials: Sendable {
  case none
  /// RFC 7617. The user name contains no colon. The password is sent byte for byte, and need not be UTF-8.
  case basic(user: String, password: [UInt8])
  /// RFC 6750.
  case bearer(token: String)
  /// The token of a GigHive guest: `X-Upload-Token`.
  case uploadToken(String)

  /// Basic credentials with a UTF-8 password.
  public static func basic(user: String, password: String) -> Credentials {
    .basic(user: user, password: Array(password.utf8))
  }

  /// The fields for the request head.
  package var fields: [Field] {
    switch self {
    case .none: []
    case .basic(let user, let password):
      [Field("Authorization", BasicAuthentication.value(user: Array(user.utf8), password: password))]
    case .bearer(let token): [Field("Authorization", "Bearer " + token)]
    case .uploadToken(let token): [Field("X-Upload-Token", token)]
    }
  }

  /// Whether the value of the field must never be shown.
  package static func isSecret(fieldName: String) -> Bool {
    ["Authorization", "X-Upload-Token", "Proxy-Authorization", "Cookie", "Set-Cookie"].contains {
      ASCII.equalsIgnoringCase($0.utf8, fieldName.utf8)
    }
  }
}
