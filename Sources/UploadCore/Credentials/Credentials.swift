/// How a client says who it is. The values are secrets: they are written into a request's head and nowhere else.
public enum Credentials: Sendable {
  case none
  /// RFC 7617. A user name holds no colon. The password goes as the bytes that it is, which need not be UTF-8.
  case basic(user: String, password: [UInt8])
  /// RFC 6750.
  case bearer(token: String)
  /// GigHive's guests: `X-Upload-Token`.
  case uploadToken(String)

  /// With a password in UTF-8.
  public static func basic(user: String, password: String) -> Credentials {
    .basic(user: user, password: Array(password.utf8))
  }

  /// The fields for the request's head.
  package var fields: [Field] {
    switch self {
    case .none: []
    case .basic(let user, let password):
      [Field("Authorization", BasicAuthentication.value(user: Array(user.utf8), password: password))]
    case .bearer(let token): [Field("Authorization", "Bearer " + token)]
    case .uploadToken(let token): [Field("X-Upload-Token", token)]
    }
  }

  /// Fields whose values must never be shown, by name.
  package static func isSecret(fieldName: String) -> Bool {
    ["Authorization", "X-Upload-Token", "Proxy-Authorization", "Cookie", "Set-Cookie"].contains {
      ASCII.equalsIgnoringCase($0.utf8, fieldName.utf8)
    }
  }
}
