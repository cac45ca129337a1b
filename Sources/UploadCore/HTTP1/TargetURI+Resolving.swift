extension TargetURI {
  /// Resolves a reference from a response of this URI, such as a Location field (RFC 3986, 5.2): an absolute URI,
  /// `//host/path`, `/path`, `?query` or `path`.
  package func resolving(_ reference: String) throws(TargetURIError) -> TargetURI {
    let bytes = [UInt8](reference.utf8)
    if TargetURI.hasScheme(bytes) { return try TargetURI(reference).inZone(of: self) }
    if bytes.starts(with: "//".utf8) {
      return try TargetURI((scheme == .https ? "https:" : "http:") + reference).inZone(of: self)
    }
    let path = Array(requestTarget.utf8.prefix { $0 != ASCII.questionMark })
    let target: [UInt8]
    switch bytes.first {
    case nil, ASCII.numberSign: target = Array(requestTarget.utf8)
    case ASCII.slash: target = TargetURI.withoutDotSegments(bytes)
    case ASCII.questionMark: target = path + bytes
    default:
      // Relative to everything up to the last slash.
      let folder = path[...(path.lastIndex(of: ASCII.slash) ?? 0)]
      target = TargetURI.withoutDotSegments(Array(folder) + bytes)
    }
    return try TargetURI(origin + String(decoding: target, as: UTF8.self))
  }

  /// The same URI with the zone of the other one. A server does not know its client's zone, so its Location fields have
  /// none.
  private func inZone(of other: TargetURI) throws(TargetURIError) -> TargetURI {
    guard zone == nil, other.zone != nil, IPAddress(host.utf8)?.isLinkLocal == true || host == other.host else {
      return self
    }
    let uri = TargetURI(scheme: scheme, host: host, zone: other.zone, port: port, requestTarget: requestTarget)
    guard uri.text.utf8.count <= Limits.uriLength else { throw .tooLong(limit: Limits.uriLength) }
    return uri
  }

  /// The same path and query with the other URI's scheme, host and port.
  package func moved(toOriginOf other: TargetURI) -> TargetURI {
    TargetURI(
      scheme: other.scheme, host: other.host, zone: other.zone, port: other.port, requestTarget: requestTarget)
  }

  /// `ALPHA *( ALPHA / DIGIT / "+" / "-" / "." ) ":"` (RFC 3986, 3.1)
  private static func hasScheme(_ bytes: [UInt8]) -> Bool {
    guard let colon = bytes.firstIndex(of: ASCII.colon), colon > 0, ASCII.isLetter(bytes[0]) else { return false }
    return bytes[..<colon].allSatisfy {
      ASCII.isLetter($0) || ASCII.isDigit($0) || $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "-")
        || $0 == UInt8(ascii: ".")
    }
  }

  /// RFC 3986, 5.2.4. The query is left as it is.
  private static func withoutDotSegments(_ target: [UInt8]) -> [UInt8] {
    let path = target.prefix { $0 != ASCII.questionMark && $0 != ASCII.numberSign }
    var segments: [ArraySlice<UInt8>] = []
    let all = path.dropFirst().split(separator: ASCII.slash, omittingEmptySubsequences: false)
    for (index, segment) in all.enumerated() {
      let isDots = segment.elementsEqual(".".utf8) || segment.elementsEqual("..".utf8)
      if segment.elementsEqual("..".utf8) { _ = segments.popLast() }
      if !isDots { segments.append(segment) }
      if isDots, index == all.count - 1 { segments.append([]) }
    }
    var result: [UInt8] = []
    for segment in segments { result += [ASCII.slash] + segment }
    return (result.isEmpty ? [ASCII.slash] : result) + target[path.endIndex...]
  }
}
