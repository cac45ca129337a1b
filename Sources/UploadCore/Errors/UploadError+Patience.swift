/// Errors that look permanent but often pass without a person doing anything. docs/networks.md has the list.
extension UploadError {
  /// - Parameters:
  ///   - host: the server's.
  ///   - unixSeconds: the time on this machine.
  package func oftenPasses(host: String, unixSeconds: Int64) -> Bool {
    switch self {
    case .noSuchName: true
    case .refused(let status, _), .tus(.notSupported(let status)), .tus(.refused(_, let status)):
      status >= 500 || isStrangers(host: host)
    case .proxyRefused(let status, _, _): status >= 500
    case .redirected, .redirectionRefused, .unconfirmed, .prematureSuccess: isStrangers(host: host)
    case .tls(.certificate(let code, _), _):
      code == TLSError.notYetValid || (code == TLSError.expired && unixSeconds < Limits.builtOn)
    case .invalidConfiguration, .form, .formData, .requestHead, .file, .changed, .state, .conflict, .delivered: false
    case .noResolver, .noLocalName, .congestionControlRefused, .notConnected, .timedOut, .connectionLost, .tls: false
    case .mayBeStored, .uncertain, .invalidResponse, .proxyUnusable, .checksumDiffers, .sizeDiffers, .notFromServer:
      false
    case .guestTokenRefused, .termsNotAccepted, .stillProcessing, .tus, .uploadLost, .postponed: false
    case .addressExcluded, .cancelled, .outOfResources, .formDropped: false
    }
  }

  /// The host of a Location field; nil if it is a path on the same host, or unreadable.
  private static func host(of location: String) -> String? {
    // One without a scheme keeps that of the request, which does not matter here.
    let location = location.hasPrefix("//") ? "http:" + location : location
    return (try? TargetURI(location))?.host
  }

  /// Whether the response does not prove to be the server's, as that of a captive portal: a redirect to another host, or a
  /// success that means nothing.
  /// - Parameter host: the server's.
  package func isStrangers(host: String) -> Bool {
    switch self {
    case .notFromServer, .unconfirmed, .prematureSuccess: true
    case .refused(let status, _), .tus(.notSupported(let status)), .tus(.refused(_, let status)):
      (200..<300).contains(status)
    case .redirected(_, let location), .redirectionRefused(let location, .circle),
      .redirectionRefused(let location, .tooMany), .redirectionRefused(let location, .loginPage):
      UploadError.host(of: location).map { $0 != host } ?? false
    case .invalidConfiguration, .form, .formData, .requestHead, .file, .changed, .state, .conflict, .delivered: false
    case .noSuchName, .noResolver, .noLocalName, .congestionControlRefused, .notConnected, .timedOut: false
    case .connectionLost, .tls, .mayBeStored, .uncertain, .invalidResponse, .redirectionRefused, .proxyUnusable: false
    case .proxyRefused, .checksumDiffers, .sizeDiffers, .guestTokenRefused, .termsNotAccepted, .stillProcessing: false
    case .addressExcluded, .tus, .uploadLost, .postponed, .cancelled, .outOfResources, .formDropped: false
    }
  }
}
