/// An absolute `http` or `https` URI (RFC 3986, 4.3; RFC 9110, 4.2), parsed for a connection and a request line.
public struct TargetURI: Equatable, Sendable {
  /// The schemes that can be uploaded to.
  public enum Scheme: Equatable, Sendable { case http, https }

  /// Decides whether TLS is used.
  public let scheme: Scheme
  /// A name or address in lower case; an IPv6 address without its brackets and zone.
  public let host: String
  /// The network interface of an IPv6 address, such as "eth0" (RFC 6874); nil if there is none. It is local to this machine
  /// and never sent.
  public let zone: String?
  /// The TCP port; by default that of the scheme.
  public let port: UInt16
  /// Path and query, starting with "/": the origin-form of a request target (RFC 9112, 3.2.1).
  package let requestTarget: String

  /// Parses a URL as typed by a person. A fragment is dropped.
  public init(_ text: String) throws(TargetURIError) {
    let bytes = Array(text.utf8)
    guard bytes.count <= Limits.uriLength else { throw .tooLong(limit: Limits.uriLength) }
    let (scheme, rest) = try TargetURI.takeScheme(bytes[...])
    let authorityEnd =
      rest.firstIndex { $0 == ASCII.slash || $0 == ASCII.questionMark || $0 == ASCII.numberSign } ?? rest.endIndex
    let (host, zone, port) = try TargetURI.parseAuthority(rest[..<authorityEnd])
    self.scheme = scheme
    self.host = host
    self.zone = zone
    self.port = port ?? (scheme == .https ? 443 : 80)
    requestTarget = try TargetURI.parseTarget(rest[authorityEnd...])
    // Checks the normalized text, so that it can be parsed again.
    guard self.text.utf8.count <= Limits.uriLength else { throw .tooLong(limit: Limits.uriLength) }
  }

  package init(scheme: Scheme, host: String, zone: String?, port: UInt16, requestTarget: String) {
    self.scheme = scheme
    self.host = host
    self.zone = zone
    self.port = port
    self.requestTarget = requestTarget
  }

  /// The value of the Host field (RFC 9110, 7.2), with the port unless it is the scheme's default.
  package var authority: String { authority(withZone: false) }

  private func authority(withZone: Bool) -> String {
    let zone = withZone ? zone.map { "%25" + $0 } ?? "" : ""
    let name = hostIsIPv6 ? "[" + host + zone + "]" : host
    return port == (scheme == .https ? 443 : 80) ? name : name + ":" + String(port)
  }

  /// The name to look up: the host, with its zone as for getaddrinfo(3).
  package var lookupName: String { zone.map { host + "%" + $0 } ?? host }

  /// Host and port, even if it is the scheme's default: the authority-form (RFC 9112, 3.2.3).
  package var authorityWithPort: String { (hostIsIPv6 ? "[" + host + "]" : host) + ":" + String(port) }

  /// Scheme, host and port: the scope of a connection and of credentials (RFC 9110, 4.3.1).
  package var origin: String { schemeText + authority(withZone: true) }

  private var schemeText: String { scheme == .https ? "https://" : "http://" }

  package var lastPathSegment: String {
    let path = requestTarget.utf8.prefix { $0 != ASCII.questionMark }
    let start = path.lastIndex(of: ASCII.slash).map { path.index(after: $0) } ?? path.startIndex
    return String(decoding: Array(path[start...]), as: UTF8.self)
  }

  /// The URI as text.
  public var text: String { origin + requestTarget }

  /// The absolute-form of a request target (RFC 9112, 3.2.2), which has no zone (RFC 6874, 4).
  package var absoluteForm: String { schemeText + authority + requestTarget }

  private var hostIsIPv6: Bool { host.utf8.contains(ASCII.colon) }

  var withoutQuery: TargetURI {
    let path = requestTarget.utf8.prefix { $0 != ASCII.questionMark }
    return TargetURI(
      scheme: scheme, host: host, zone: zone, port: port, requestTarget: String(decoding: Array(path), as: UTF8.self))
  }

  /// A target below this one's path: `https://hive/base` and `api/x?y` give `https://hive/base/api/x?y`. The query of this
  /// URI is dropped.
  package func appending(_ relative: String) -> TargetURI {
    precondition(relative.utf8.allSatisfy { $0 > ASCII.space && $0 < ASCII.delete }, "not part of a URI")
    var path = Array(requestTarget.utf8.prefix { $0 != ASCII.questionMark })
    if path.last != ASCII.slash { path.append(ASCII.slash) }
    let target = String(decoding: path, as: UTF8.self) + relative
    return TargetURI(scheme: scheme, host: host, zone: zone, port: port, requestTarget: target)
  }

  // MARK: Parts

  private static func takeScheme(
    _ bytes: ArraySlice<UInt8>
  ) throws(TargetURIError) -> (Scheme, ArraySlice<UInt8>) {
    if ASCII.equalsIgnoringCase(bytes.prefix(7), "http://".utf8) { return (.http, bytes.dropFirst(7)) }
    if ASCII.equalsIgnoringCase(bytes.prefix(8), "https://".utf8) { return (.https, bytes.dropFirst(8)) }
    throw .unsupportedScheme
  }

  private static func parseAuthority(
    _ bytes: ArraySlice<UInt8>
  ) throws(TargetURIError) -> (host: String, zone: String?, port: UInt16?) {
    if bytes.contains(UInt8(ascii: "@")) { throw .containsUserInformation }
    var host = bytes
    var zone: ArraySlice<UInt8>?
    var port: ArraySlice<UInt8>?
    if bytes.first == UInt8(ascii: "[") {
      guard let close = bytes.firstIndex(of: UInt8(ascii: "]")) else { throw .invalidHost }
      host = bytes[(bytes.startIndex + 1)..<close]
      let after = bytes[(close + 1)...]
      guard after.isEmpty || after.first == ASCII.colon else { throw .invalidHost }
      if !after.isEmpty { port = after.dropFirst() }
      (host, zone) = try splitZone(host)
      guard host.contains(ASCII.colon), host.allSatisfy(isIPv6Character) else { throw .invalidHost }
    } else {
      if let colon = bytes.firstIndex(of: ASCII.colon) {
        host = bytes[..<colon]
        port = bytes[(colon + 1)...]
      }
      guard host.allSatisfy(isHostCharacter) else { throw .invalidHost }
    }
    guard !host.isEmpty else { throw .missingHost }
    return (
      ASCII.lowercased(String(decoding: host, as: UTF8.self)), zone.map { String(decoding: $0, as: UTF8.self) },
      try parsePort(port)
    )
  }

  /// "fe80::1%25eth0" (RFC 6874, 2), or "fe80::1%eth0" as copied from ip(8). The interface name keeps its case.
  private static func splitZone(
    _ bytes: ArraySlice<UInt8>
  ) throws(TargetURIError) -> (host: ArraySlice<UInt8>, zone: ArraySlice<UInt8>?) {
    guard let percent = bytes.firstIndex(of: ASCII.percent) else { return (bytes, nil) }
    var zone = bytes[(percent + 1)...]
    // "%25" alone is interface number 25.
    if zone.count > 2, zone.starts(with: "25".utf8) { zone = zone.dropFirst(2) }
    guard !zone.isEmpty, zone.count <= Limits.zoneLength, zone.allSatisfy(isZoneCharacter) else { throw .invalidHost }
    return (bytes[..<percent], zone)
  }

  /// "http://hive:/" is allowed and means the default port (RFC 3986, 3.2.3).
  private static func parsePort(_ digits: ArraySlice<UInt8>?) throws(TargetURIError) -> UInt16? {
    guard let digits, !digits.isEmpty else { return nil }
    guard let value = ASCII.decimal(digits), value > 0, value <= 65535 else { throw .invalidPort }
    return UInt16(value)
  }

  private static func parseTarget(_ bytes: ArraySlice<UInt8>) throws(TargetURIError) -> String {
    let target = bytes.prefix { $0 != ASCII.numberSign }
    guard target.allSatisfy({ $0 > ASCII.space && $0 < ASCII.delete }) else { throw .invalidCharacter }
    let text = String(decoding: target, as: UTF8.self)
    return target.first == ASCII.slash ? text : "/" + text
  }

  /// `unreserved` of RFC 3986, 2.3.
  private static func isZoneCharacter(_ byte: UInt8) -> Bool { isHostCharacter(byte) || byte == UInt8(ascii: "~") }

  private static func isIPv6Character(_ byte: UInt8) -> Bool {
    ASCII.hexValue(byte) != nil || byte == ASCII.colon || byte == UInt8(ascii: ".")
  }

  /// Letters, digits, "-", "." and "_", which names in local networks can have.
  private static func isHostCharacter(_ byte: UInt8) -> Bool {
    ASCII.isLetter(byte) || ASCII.isDigit(byte) || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".")
      || byte == UInt8(ascii: "_")
  }
}

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
    guard let colon = bytes.firstIndex(of: ASCII.colon), ASCII.isLetter(bytes[0]) else { return false }
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

/// What is wrong with a URL.
public enum TargetURIError: Error, Equatable {
  /// The limit is in bytes.
  case tooLong(limit: Int)
  /// It starts with neither `http://` nor `https://`.
  case unsupportedScheme
  /// Nothing between the scheme and the path.
  case missingHost
  /// A host with invalid characters, or an invalid address in brackets.
  case invalidHost
  /// Not a number from 1 to 65535.
  case invalidPort
  /// `user:password@`. Secrets in URLs end up in logs and process lists, so they are refused (RFC 9110, 4.2.4).
  case containsUserInformation
  /// A space, a control character or a non-ASCII byte that is not percent-encoded.
  case invalidCharacter
}
