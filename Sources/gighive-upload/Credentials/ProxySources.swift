import Uploader

/// Where the proxy comes from: options, or the usual environment variables.
struct ProxySources {
  var url: String?
  var user: String?
  var passwordFile: SecretFile?

  func load(allowsSharedSecrets: Bool) throws(UsageError) -> ProxySettings {
    var settings = ProxySettings()
    settings.exceptions = environment("no_proxy") ?? environment("NO_PROXY") ?? ""
    guard let url else {
      guard user == nil, passwordFile == nil else { throw UsageError("--proxy-user needs --proxy.") }
      // HTTP_PROXY in upper case is ignored: web servers set it from a request's "Proxy" field for CGI programs.
      (settings.http, settings.unusableHTTP) = fromEnvironment(["http_proxy", "all_proxy", "ALL_PROXY"])
      (settings.https, settings.unusableHTTPS) = fromEnvironment(
        ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"])
      return settings
    }
    if url.isEmpty { return settings }
    let proxy = try fromOptions(url, allowsSharedSecrets)
    settings.http = proxy
    settings.https = proxy
    return settings
  }

  private func fromOptions(_ url: String, _ allowsSharedSecrets: Bool) throws(UsageError) -> Proxy {
    let uri: TargetURI
    do throws(TargetURIError) {
      uri = try TargetURI(url.utf8.contains(ASCII.slash) ? url : "http://" + url)
    } catch {
      if error == .containsUserInformation {
        throw UsageError("--proxy cannot contain a user name or password; use --proxy-user and --proxy-password-file.")
      }
      throw UsageError("--proxy: \"" + PrintableText.line(url) + "\" is not a URL such as http://proxy:3128.")
    }
    guard uri.scheme == .http else { throw UsageError("--proxy: only http:// proxies are supported.") }
    guard let user else {
      guard passwordFile == nil else { throw UsageError("--proxy-password-file needs --proxy-user.") }
      return Proxy(uri)
    }
    guard !user.utf8.contains(ASCII.colon) else { throw UsageError("a user name cannot contain a colon.") }
    if let passwordFile {
      return Proxy(uri, user: user, password: try passwordFile.firstLine(allowsShared: allowsSharedSecrets))
    }
    guard let password = environmentBytes("GIGHIVE_PROXY_PASSWORD") else {
      throw UsageError("--proxy-user needs a password, from --proxy-password-file or $GIGHIVE_PROXY_PASSWORD.")
    }
    return Proxy(uri, user: user, password: password)
  }

  /// - Returns: the proxy in the first variable that is set; or the variable's name if that is no HTTP proxy, such as a SOCKS
  ///   proxy for other programs. Then only uploads that would use it fail.
  private func fromEnvironment(_ names: [String]) -> (proxy: Proxy?, unusable: String?) {
    for name in names {
      guard let value = environmentBytes(name) else { continue }
      // The value can contain a password, so it is not quoted.
      guard let proxy = try? Proxy(variable: value) else { return (nil, "$" + name) }
      return (proxy, nil)
    }
    return (nil, nil)
  }
}
