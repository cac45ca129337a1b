import CShims
import Uploader

/// Examines proxy, name, addresses and TLS.
enum ConnectionExamination {
  /// - Returns: whether the server can be asked.
  static func run(_ prober: Prober, _ configuration: Configuration, _ findings: Findings) -> Bool {
    let target = prober.target
    let proxy = configuration.proxies.proxy(for: target)
    if let proxy { findings.add(Finding(.proxy, .ok("requests go through the proxy " + proxy.text))) }
    let result = prober.connect()
    guard let peer = result.peer else {
      explain(result.error ?? .noSuchName(host: target.host), prober, configuration, findings)
      return false
    }
    let host = proxy == nil ? target.host : "the proxy"
    let time = String(result.roundTripMilliseconds) + " ms"
    findings.add(Finding(.connection, .ok("connected to " + host + " (" + peer + ") in " + time)))
    if proxy == nil { examineOthers(of: result, prober, configuration, findings) }
    if let tls = result.tls {
      findings.add(Finding(.tls, .ok(tls.summary)))
      let certificate = ServerChecks.certificate(tls, host: target.host, now: shim_unix_seconds())
      findings.add(
        configuration.tls.isInsecure
          ? Finding(
            .certificate,
            .warning("the certificate is not checked.", remedy: "Trust it with --cacert instead of --insecure."))
          : certificate)
    }
    return true
  }

  /// Whether the host's other addresses work, too. Each that does not costs time at every connect.
  private static func examineOthers(
    of connected: ProbeResult, _ prober: Prober, _ configuration: Configuration, _ findings: Findings
  ) {
    guard let peer = connected.peer, !AddressOrder.isLocalHost(prober.target.host) else { return }
    var configuration = configuration
    configuration.proxies = ProxySettings()
    configuration.timeouts.connectMilliseconds = min(configuration.timeouts.connectMilliseconds, otherMilliseconds)
    var others: [AddressChecks.Attempt] = []
    for address in connected.addresses where address != peer && !prober.cancellation.isCancelled {
      // Without TLS, which the others have, too.
      guard let target = try? TargetURI("http://" + address) else { continue }
      switch Prober(target, configuration, prober.cancellation).connect().error {
      case nil: others.append((address, nil))
      case .notConnected(_, _, let error): others.append((address, error.text))
      case .timedOut(_, _, let limit):
        others.append((address, "no response within " + DurationText.seconds(limit)))
      // It says nothing about the address.
      default: break
      }
    }
    if let finding = AddressChecks.finding(peer, others) { findings.add(finding) }
  }

  private static let otherMilliseconds: Int64 = 5000

  /// Reports why there is no connection. The content of an untrusted certificate is shown, too; nothing is sent.
  private static func explain(
    _ error: UploadError, _ prober: Prober, _ configuration: Configuration, _ findings: Findings
  ) {
    switch error {
    case .tls(.certificate, _), .tls(.chain, _):
      var isForAnother = false
      if case .tls(.certificate(let code, _), _) = error {
        isForAnother = [X509_V_ERR_HOSTNAME_MISMATCH, X509_V_ERR_IP_ADDRESS_MISMATCH].contains(Int32(clamping: code))
      }
      var configuration = configuration
      configuration.tls.isInsecure = true
      let facts = Prober(prober.target, configuration, prober.cancellation).connect().tls
      let description = facts.map { ServerChecks.description($0, isForAnother: isForAnother) }
      let parts = [description, error.commandRemedy].compactMap { $0 }
      findings.add(Finding(.certificate, .failure(error, remedy: parts.joined(separator: " "))))
    case .tls(.pinMismatch, _): findings.add(Finding(.certificate, .failure(error)))
    case .tls: findings.add(Finding(.tls, .failure(error)))
    case .proxyRefused(let status, _, _):
      findings.add(Finding(.proxy, .failure(error, remedy: ProxyChecks.remedy(status: status))))
    case .proxyUnusable: findings.add(Finding(.proxy, .failure(error)))
    case .addressExcluded:
      let isProxys = configuration.proxies.proxy(for: prober.target) != nil
      findings.add(Finding(isProxys ? .proxy : .connection, .failure(error)))
    default:
      if let proxy = configuration.proxies.proxy(for: prober.target) {
        let remedy = "Check --proxy and NO_PROXY, and that the proxy runs."
        return findings.add(Finding(.proxy, .failure(error, about: "the proxy " + proxy.text, remedy: remedy)))
      }
      findings.add(Finding(.connection, .failure(error, remedy: remedy(of: error, prober, configuration))))
    }
  }

  /// Whether a host without addresses of the chosen family has others.
  private static func hasOtherFamily(_ prober: Prober, _ configuration: Configuration) -> Bool {
    var configuration = configuration
    configuration.addressFamily = .any
    return switch Prober(prober.target, configuration, prober.cancellation).connect().error {
    case .noSuchName, .noResolver: false
    default: true
    }
  }

  /// What keeps a machine from connecting; nil if the error says so already.
  private static func remedy(of error: UploadError, _ prober: Prober, _ configuration: Configuration) -> String? {
    switch error {
    case .noSuchName where configuration.addressFamily != .any,
      .noResolver where configuration.addressFamily != .any:
      hasOtherFamily(prober, configuration)
        ? (configuration.addressFamily == .ipv4
          ? "It has only IPv6 addresses, which --ipv4 excludes." : "It has only IPv4 addresses, which --ipv6 excludes.")
        : nil
    case .notConnected(_, _, let error) where error.code == SHIM_ECONNREFUSED:
      "Nothing listens at that port. Check the server's address, and that its program runs."
    case .notConnected(_, let address, let error) where error.code == SHIM_ENETUNREACH:
      "This machine has no way there. Check its cable or Wi-Fi, its address and its routes"
        + (address.utf8.first == UInt8(ascii: "[")
          ? " (ip -6 route): it is an IPv6 address, which many networks cannot reach." : " (ip route).")
    case .notConnected(_, _, let error) where error.code == SHIM_EHOSTUNREACH:
      "Nobody has that address in this network, or a router or firewall on the way says so. Check that the server is"
        + " switched on and has this address."
    case .timedOut(.connecting, _, _): "The server is switched off, or a firewall on the way drops what is sent to it."
    default: nil
    }
  }
}
