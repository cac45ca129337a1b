/// Which proxy a target is reached through.
public struct ProxySettings: Equatable, Sendable {
  /// For http targets.
  public var http: Proxy?
  /// For https targets.
  public var https: Proxy?
  /// Hosts that are reached directly, as `NO_PROXY` lists them: names (which stand for all below them as well),
  /// addresses and blocks of addresses such as `192.168.0.0/16`, each with a port if it is to count; `*` stands for all.
  public var exceptions = ""
  /// Where a proxy for http targets is named that cannot be used, such as "$ALL_PROXY"; nil if there is none. It matters only
  /// to targets that it would be used for.
  package var unusableHTTP: String?
  /// The same for https targets.
  package var unusableHTTPS: String?

  /// No proxies.
  public init() {}

  package func proxy(for target: TargetURI) -> Proxy? {
    guard let proxy = target.scheme == .https ? https : http, !isException(target) else { return nil }
    return proxy
  }

  /// Where the proxy that the target would have to be reached through is named, if it cannot be used.
  package func unusable(for target: TargetURI) -> String? {
    guard let source = target.scheme == .https ? unusableHTTPS : unusableHTTP, !isException(target) else { return nil }
    return source
  }

  private func isException(_ target: TargetURI) -> Bool { ProxyExceptions(exceptions).contain(target) }
}
