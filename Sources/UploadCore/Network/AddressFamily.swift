/// The addresses of a host to use.
public enum AddressFamily: Sendable {
  case any, ipv4, ipv6

  /// The error for a host that has no address of this family: one that is itself an address of the other family, or no such host.
  package func problem(ofUnknown host: String) -> UploadError {
    guard let address = IPAddress(host.utf8.prefix { $0 != ASCII.percent }) else { return .noSuchName(host: host) }
    let isIPv6 = address.bytes.count == 16
    return self == (isIPv6 ? .ipv4 : .ipv6) ? .addressExcluded(host: host, isIPv6: isIPv6) : .noSuchName(host: host)
  }
}
