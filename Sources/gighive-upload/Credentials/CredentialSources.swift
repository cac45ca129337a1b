import CShims
import Uploader

/// Where credentials come from: files and the environment, never arguments, which every user of the machine can read.
struct CredentialSources {
  var user: String?
  var passwordFile: SecretFile?
  var netrcFile: SecretFile?
  var bearerFile: SecretFile?
  var uploadTokenFile: SecretFile?
  /// Whether requests are signed with the keys of a profile in this file, or those in the environment.
  var isForS3 = false
  var s3File: SecretFile?
  var s3Profile: String?
  /// Whether a request to an S3 server is certain to be signed. If not, keys may be missing.
  var needsS3Keys = true
  /// A file with header fields, beside any of these.
  var headerFile: SecretFile?
  /// Whether files that other users can read are accepted.
  var allowsShared = false
  /// Whether to wait until a pipe has a writer.
  var mayWait = true

  /// Reads the one source that was given, and the file with header fields.
  /// - Parameter host: the host to look up in a netrc file.
  func load(host: String) throws(UsageError) -> Credentials {
    let credentials = try loadOne(host: host)
    guard let headerFile else { return credentials }
    let name = headerFile.name
    let bytes = try headerFile.read(limit: Limits.headerFileLength, allowsShared: allowsShared, mayWait: mayWait)
    let headers: [CustomField]
    do throws(HeaderFileError) { headers = try HeaderFile.fields(in: bytes) } catch {
      throw UsageError(name + ":" + String(error.line) + ": " + error.reason.message)
    }
    guard !headers.isEmpty else { throw UsageError(name + " has no header fields.") }
    if let twice = headers.first(where: { credentials.fields.first($0.name) != nil }) {
      throw UsageError(
        name + " has " + twice.name + ", which another option sets as well: --user, --netrc, --bearer-file or"
          + " --upload-token-file. Use only one of them.")
    }
    let all = Credentials.headers(headers, and: credentials)
    if let problem = CustomField.problem(in: [], with: all) { throw UsageError(name + ": " + problem.message) }
    return all
  }

  private func loadOne(host: String) throws(UsageError) -> Credentials {
    let kinds = [user != nil || netrcFile != nil, bearerFile != nil, uploadTokenFile != nil].filter { $0 }.count
    guard kinds <= 1 else {
      throw UsageError("use only one of: --user or --netrc, --bearer-file, --upload-token-file.")
    }
    if isForS3 {
      guard kinds == 0 else {
        throw UsageError("an S3 server takes only keys: --s3-credentials or $AWS_ACCESS_KEY_ID.")
      }
      if !needsS3Keys { return (try? s3Keys()).map { .s3($0) } ?? .none }
      return .s3(try s3Keys())
    }
    guard s3File == nil, s3Profile == nil else { throw UsageError("--s3-credentials and --s3-profile need --s3.") }
    if passwordFile != nil, user == nil || netrcFile != nil {
      throw UsageError("--password-file needs --user, and cannot be combined with --netrc.")
    }
    if let bearerFile { return .bearer(token: try token(in: bearerFile)) }
    if let uploadTokenFile { return .uploadToken(try token(in: uploadTokenFile)) }
    if let netrcFile { return try fromNetrc(netrcFile, host: host) }
    guard let user else { return .none }
    guard !user.utf8.contains(ASCII.colon) else { throw UsageError("a user name cannot contain a colon.") }
    if let passwordFile { return .basic(user: user, password: try firstLine(of: passwordFile)) }
    if let password = environmentBytes("GIGHIVE_PASSWORD") { return .basic(user: user, password: password) }
    throw UsageError("--user needs a password, from --password-file, $GIGHIVE_PASSWORD or --netrc.")
  }

  /// As other programs for S3: what was named, else the environment, else the file in the home directory.
  private func s3Keys() throws(UsageError) -> S3Keys {
    if s3File == nil, s3Profile == nil, let id = environment("AWS_ACCESS_KEY_ID"),
      let secret = environment("AWS_SECRET_ACCESS_KEY")
    {
      return S3Keys(id: id, secret: secret, sessionToken: environment("AWS_SESSION_TOKEN"))
    }
    let usual =
      environmentPath("AWS_SHARED_CREDENTIALS_FILE") ?? environmentPath("HOME")?.appending("/.aws/credentials")
    guard let file = s3File ?? usual.flatMap({ shim_file_status(at: $0) == nil ? nil : SecretFile($0) }) else {
      throw UsageError(
        "there are no keys for the S3 server: use --s3-credentials FILE, or $AWS_ACCESS_KEY_ID and $AWS_SECRET_ACCESS_KEY."
      )
    }
    let profile = s3Profile ?? environment("AWS_PROFILE") ?? "default"
    let bytes = try file.read(limit: Limits.profileFileLength, allowsShared: allowsShared, mayWait: mayWait)
    guard let keys = S3Profile.keys(profile, in: bytes) else {
      throw UsageError(
        file.name + " has no section [" + PrintableText.line(profile)
          + "] with aws_access_key_id and aws_secret_access_key.")
    }
    return keys
  }

  private func fromNetrc(_ file: SecretFile, host: String) throws(UsageError) -> Credentials {
    let bytes = try file.read(limit: Limits.netrcFileLength, allowsShared: allowsShared, mayWait: mayWait)
    guard let login = Netrc.login(host: host, user: user, in: bytes) else {
      throw UsageError(file.name + " has no entry for " + host + ".")
    }
    return .basic(user: login.user, password: login.password)
  }

  /// Looks up what a proxy without credentials needs in the netrc file, if it has it.
  func complete(_ proxies: inout ProxySettings) throws(UsageError) {
    guard let netrcFile, [proxies.http, proxies.https].contains(where: { $0.map { !$0.hasCredentials } ?? false })
    else {
      return
    }
    let bytes = try netrcFile.read(limit: Limits.netrcFileLength, allowsShared: allowsShared, mayWait: mayWait)
    func completed(_ proxy: Proxy?) -> Proxy? {
      guard var proxy, !proxy.hasCredentials,
        let login = Netrc.login(host: proxy.host, user: nil, in: bytes, takesDefault: false)
      else { return proxy }
      proxy.logIn(Array(login.user.utf8), login.password)
      return proxy
    }
    (proxies.http, proxies.https) = (completed(proxies.http), completed(proxies.https))
  }

  /// Tokens are visible ASCII (RFC 6750, 2.1). One that is not UTF-8 is refused, because decoding would change it.
  private func token(in file: SecretFile) throws(UsageError) -> String {
    let bytes = try firstLine(of: file)
    let text = String(decoding: bytes, as: UTF8.self)
    guard text.utf8.elementsEqual(bytes) else {
      throw UsageError(file.name + " contains a token that is not UTF-8. Is it the right file?")
    }
    return text
  }

  private func firstLine(of file: SecretFile) throws(UsageError) -> [UInt8] {
    try file.firstLine(allowsShared: allowsShared, mayWait: mayWait)
  }
}

/// Where the proxy comes from: options, or the usual environment variables.
struct ProxySources {
  var url: String?
  var user: String?
  var passwordFile: SecretFile?

  func load(allowsSharedSecrets: Bool) throws(UsageError) -> ProxySettings {
    var settings = ProxySettings()
    settings.exceptions = environment("no_proxy") ?? environment("NO_PROXY") ?? ""
    guard let url else {
      guard user == nil, passwordFile == nil else { throw UsageError("proxy-user needs proxy.") }
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
    // Whatever its form, it is not quoted.
    if url.utf8.contains(UInt8(ascii: "@")) {
      throw UsageError(
        "--proxy cannot contain a user name or password; use proxy-user and proxy-password-file in a configuration file."
      )
    }
    guard let uri = try? TargetURI(url.utf8.contains(ASCII.slash) ? url : "http://" + url) else {
      throw UsageError("--proxy: \"" + PrintableText.line(url) + "\" is not a URL such as http://proxy:3128.")
    }
    guard uri.scheme == .http else { throw UsageError("--proxy: only http:// proxies are supported.") }
    guard let user else {
      guard passwordFile == nil else { throw UsageError("proxy-password-file needs proxy-user.") }
      return Proxy(uri)
    }
    guard !user.utf8.contains(ASCII.colon) else { throw UsageError("a user name cannot contain a colon.") }
    if let passwordFile {
      return Proxy(uri, user: user, password: try passwordFile.firstLine(allowsShared: allowsSharedSecrets))
    }
    guard let password = environmentBytes("GIGHIVE_PROXY_PASSWORD") else {
      throw UsageError("proxy-user needs a password, from proxy-password-file or $GIGHIVE_PROXY_PASSWORD.")
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

extension Limits {
  /// A file with the keys of S3 profiles, in bytes.
  static let profileFileLength = 64 << 10
  /// A file with header fields and comments, in bytes.
  static let headerFileLength = 16 << 10
  /// A netrc file, in bytes.
  static let netrcFileLength = 64 << 10
}
