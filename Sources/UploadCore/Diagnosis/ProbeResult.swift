package final class ProbeResult {
  /// "192.0.2.1:443"; nil if no connection was established. Behind a proxy, the proxy's.
  package var peer: String?
  /// All addresses of that host that can be tried.
  package var addresses: [String] = []
  /// The duration of the TCP handshake.
  package var roundTripMilliseconds: Int64 = 0
  /// nil without TLS.
  package var tls: TLSFacts?
  /// Whether the server asked for the content (100).
  package var isContinued = false
  /// How many bytes of the content the peer has acknowledged at least.
  package var arrivedLength: Int64 = 0
  /// How long the content took, from its first byte to the response.
  package var contentMilliseconds: Int64 = 0
  /// What the kernel has counted meanwhile; nil unless the link was to be measured.
  package var link: LinkMeasurement?
  /// The final response; nil if there was none.
  package var answer: Answer?
  /// The same for people and programs, without secrets.
  package var shown: RedactedAnswer?
  /// Why there is no response, or what a response above 299 means for any request. Nil also if the server was asked about content
  /// and has not answered in time, and if the request was cut short on purpose.
  package var error: UploadError?

  /// "Server: x, Via: y": the programs that the response names; nil if it names none. Without secrets.
  package var signature: String?

  /// Where redirects have led, without query and secrets; nil without any.
  package var redirectedTo: String?

  package init(error: UploadError? = nil) { self.error = error }

  /// Where to ask again, as an upload does: 307 and 308 within the origin, which leave the credentials in place. A test object keeps its name:
  /// another one would be replaced.
  package func redirection(of request: HTTPRequest) -> TargetURI? {
    let target = request.target
    guard let answer, case .redirect(let location) = answer.instruction(expectedContinue: false),
      let destination = try? target.resolving(location), destination.origin == target.origin, destination != target,
      request.mayMove(to: destination),
      !["PUT", "MOVE"].contains(request.method) || destination.lastPathSegment == target.lastPathSegment
    else { return nil }
    return destination
  }

  /// Where to look for the limit, if a program that is not known has refused a length (413); otherwise nil.
  var remedyOfUnknownLimit: String? {
    guard answer?.status == 413, shown?.software == .unknown else { return nil }
    return signature.map { "Its response has " + $0 + ": raise the limit there." }
      ?? "Its response names no program (no Server, no Via)."
  }
}

/// Where a request of a diagnosis is cut short: its connection is closed although there is more to send.
package enum ProbeCut: Equatable, Sendable {
  /// After this much of its file, in bytes.
  case afterBytes(Int64)
  /// This long after its first byte, in milliseconds. Until then the link is measured, with short segments if it is narrow
  /// (``Limits/narrowSegmentLength``).
  case afterMilliseconds(Int64, isNarrow: Bool)
}
