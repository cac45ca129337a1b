/// The proxies to use.
public struct ProxySettings: Equatable, Sendable {
  /// For http targets.
  public var http: Proxy?
  /// For https targets.
  public var https: Proxy?
  /// Hosts that are reached directly, in the syntax of `NO_PROXY`: names (which include all names below them), addresses,
  /// or address blocks such as `192.168.0.0/16`, each with an optional port; `*` means all.
  public var exceptions = ""
  /// The source of an unusable proxy for http targets, such as "$ALL_PROXY"; nil if there is none. It matters only to targets
  /// that would use it.
  package var unusableHTTP: String?
  /// The same for https targets.
  package var unusableHTTPS: String?

  /// No proxies.
  public init() {}

  package func proxy(for target: TargetURI) -> Proxy? {
    guard let proxy = target.scheme == .https ? https : http, !isException(target) else { return nil }
    return proxy
  }

  /// The source of the proxy for the target, if that proxy cannot be used; otherwise nil.
  package func unusable(for target: TargetURI) -> String? {
    guard let source = target.scheme == .https ? unusableHTTPS : unusableHTTP, !isException(target) else { return nil }
    return source
  }

  /// The error for a proxy's demand for credentials (407); nil for other responses. Those to an https target come through a tunnel,
  /// so they are not the proxy's.
  package func refusal(_ answer: Answer, to target: TargetURI) -> UploadError? {
    guard answer.status == 407, target.scheme == .http else { return nil }
    return proxy(for: target)?.refusal(status: 407)
  }

  private func isException(_ target: TargetURI) -> Bool { ProxyExceptions(exceptions).contain(target) }
}
