/// What connecting to each of a host's addresses says about uploads.
package enum AddressChecks {
  /// An address, such as "192.0.2.1:443", and why connecting to it failed; nil if it did not.
  package typealias Attempt = (address: String, problem: String?)

  /// - Parameters:
  ///   - peer: the address that a connection was established to.
  ///   - others: the host's other addresses.
  /// - Returns: nil if there are none.
  package static func finding(_ peer: String, _ others: [Attempt]) -> Finding? {
    let failed = others.filter { $0.problem != nil }
    guard let first = failed.first else {
      if others.isEmpty { return nil }
      return Finding(.addresses, .ok("its other addresses respond, too: " + list(others.map { $0.address })))
    }
    let all = String(others.count + 1)
    let text = String(failed.count) + " of its " + all + " addresses " + (failed.count == 1 ? "does" : "do")
    let reasons = failed.map { $0.address + " (" + ($0.problem ?? "") + ")" }
    // Then the choice of the other family leaves only addresses that respond.
    let isIPv6 = isIPv6(first.address)
    let isOneFamily =
      failed.allSatisfy { self.isIPv6($0.address) == isIPv6 } && self.isIPv6(peer) != isIPv6
      && others.allSatisfy { $0.problem != nil || self.isIPv6($0.address) != isIPv6 }
    let choice = isOneFamily ? ", or use " + (isIPv6 ? "--ipv4." : "--ipv6.") : "."
    return Finding(
      .addresses,
      .warning(
        text + " not respond: " + list(reasons) + ".",
        remedy: "Every connection attempt tries them, too. Correct the DNS entry, the server or the route" + choice))
  }

  static func isIPv6(_ address: String) -> Bool { address.utf8.first == UInt8(ascii: "[") }

  private static func list(_ texts: [String]) -> String { texts.joined(separator: ", ") }
}

/// What a proxy's refusal to connect to the server (CONNECT) means.
package enum ProxyChecks {
  /// What to do about it; nil if the error says enough.
  package static func remedy(status: Int) -> String? {
    switch status {
    case 403, 405:
      "Its rules forbid this host or port. Ask its administrator, or go without it if the server is in the local network"
        + " (NO_PROXY, or --proxy \"\")."
    case 502, 503, 504:
      "It runs, but it cannot reach the server. Check the server's address, and that it runs; or go without the proxy if"
        + " the server is in the local network (NO_PROXY, or --proxy \"\")."
    default: nil
    }
  }
}
