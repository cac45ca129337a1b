/// What HTTP itself tells a client to do after a response, whatever was requested (RFC 9110, 15).
package enum HTTPInstruction: Equatable, Sendable {
  /// Nothing: the response's meaning depends on the request.
  case none
  /// 417: repeat the request without `Expect`.
  case repeatWithoutExpect
  /// 307 and 308: repeat the request at that address.
  case redirect(to: String)
  /// 301, 302 and 303 would turn an upload into a GET.
  case redirectAsGet(to: String)
  /// 401, and perhaps 403: repeat the request with other credentials.
  case authenticate
}

extension Answer {
  /// What HTTP tells the client to do after it.
  /// - Parameter expectedContinue: whether the request asked for `100 (Continue)`.
  package func instruction(expectedContinue: Bool) -> HTTPInstruction {
    switch status {
    case 417 where expectedContinue: .repeatWithoutExpect
    case 401, 403: .authenticate
    case 307, 308: .redirect(to: location)
    case 300..<400: .redirectAsGet(to: location)
    default: .none
    }
  }

  private var location: String { fields.first("Location") ?? "an unspecified address" }
}
