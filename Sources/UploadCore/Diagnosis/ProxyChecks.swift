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
