/// What a response asks of any client, whatever was requested (RFC 9110, 15).
package enum Disposition: Equatable, Sendable {
  /// Its meaning depends on the request.
  case judge
  /// 417: repeat the request without `Expect`.
  case repeatWithoutExpect
  /// 307 and 308: repeat the request at that address.
  case redirect(to: String)
  /// 301, 302 and 303 would turn an upload into a GET.
  case redirectAsGet(to: String)
  /// 401: repeat the request with other credentials.
  case authenticate
}

extension Answer {
  /// - Parameter expectedContinue: whether the request asked for `100 (Continue)`.
  package func disposition(expectedContinue: Bool) -> Disposition {
    switch status {
    case 417 where expectedContinue: .repeatWithoutExpect
    case 401: .authenticate
    case 307, 308: .redirect(to: location)
    case 300..<400: .redirectAsGet(to: location)
    default: .judge
    }
  }

  private var location: String { fields.first("Location") ?? "an unspecified address" }
}
