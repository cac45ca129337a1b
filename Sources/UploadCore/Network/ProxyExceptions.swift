/// Hosts that are reached without a proxy, in the syntax of curl's `NO_PROXY`: names, which include all names below them,
/// addresses, address blocks (`192.168.0.0/16`, `fd00::/8`), or `*` for all. Commas, spaces and tabs separate them. Unlike in
/// curl, an element can end in a port.
package struct ProxyExceptions: Equatable, Sendable {
  private let elements: [[UInt8]]

  package init(_ text: String) {
    elements = text.utf8.split { $0 == UInt8(ascii: ",") || $0 == ASCII.space || ($0 >= 0x09 && $0 <= 0x0D) }.map {
      Array(ASCII.lowercased(String(decoding: Array($0), as: UTF8.self)).utf8)
    }
  }

  package func contain(_ target: TargetURI) -> Bool {
    let host = ProxyExceptions.withoutTrailingDots(Array(target.host.utf8)[...])
    let address = IPAddress(host)
    return elements.contains { element in
      if element.elementsEqual("*".utf8) { return true }
      let (name, port) = ProxyExceptions.splitPort(element[...])
      if let port, port != target.port { return false }
      let plain = name.filter { $0 != UInt8(ascii: "[") && $0 != UInt8(ascii: "]") }
      if let address { return ProxyExceptions.isBlock(plain, around: address) }
      return ProxyExceptions.isDomain(plain, of: host)
    }
  }

  /// "example.org", ".example.org", "*.example.org" or "example.org.": that host, or one below it.
  private static func isDomain(_ element: [UInt8], of host: ArraySlice<UInt8>) -> Bool {
    var domain = withoutTrailingDots(element[...])
    while domain.first == dot || domain.starts(with: "*.".utf8) { domain = domain.dropFirst() }
    guard !domain.isEmpty, host.count >= domain.count else { return false }
    guard host.suffix(domain.count).elementsEqual(domain) else { return false }
    return host.count == domain.count || host.dropLast(domain.count).last == dot
  }

  /// "192.0.2.7", or "192.0.2.0/24" with the length of the prefix. As in curl, "/0" means no prefix.
  private static func isBlock(_ element: [UInt8], around address: IPAddress) -> Bool {
    let parts = element.split(separator: ASCII.slash, maxSplits: 1, omittingEmptySubsequences: false)
    let text = withoutTrailingDots(parts[0].prefix { $0 != ASCII.percent })
    guard let block = IPAddress(text) else { return false }
    var bits = address.bytes.count * 8
    if parts.count > 1 {
      guard let length = ASCII.decimal(parts[1]), length <= 128 else { return false }
      if length > 0 { bits = Int(length) }
    }
    return address.shares(bits, with: block)
  }

  /// "host:8080". An IPv6 address has a port only in brackets.
  private static func splitPort(_ element: ArraySlice<UInt8>) -> (name: ArraySlice<UInt8>, port: UInt16?) {
    guard let colon = element.lastIndex(of: ASCII.colon), let port = ASCII.decimal(element[(colon + 1)...]),
      port > 0, port <= 65535
    else { return (element, nil) }
    let name = element[..<colon]
    guard name.contains(UInt8(ascii: "]")) || !name.contains(ASCII.colon) else { return (element, nil) }
    return (name, UInt16(port))
  }

  /// "hive.example." is "hive.example", looked up from the root (RFC 1034, 3.1).
  private static func withoutTrailingDots(_ name: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    var name = name
    while name.last == dot { name = name.dropLast() }
    return name
  }
}

private let dot = UInt8(ascii: ".")
