/// What the command line and the help need to know of an option.
struct OptionDescription {
  let option: Option
  let name: String
  /// What its argument is called; nil if it takes none.
  let argument: String?
  let help: String

  init(_ option: Option, _ name: String, _ argument: String?, _ help: String) {
    self.option = option
    self.name = name
    self.argument = argument
    self.help = help
  }
}

/// The one table that parsing and help are made from.
enum OptionTable {
  static let groups: [(title: String, options: [OptionDescription])] = [
    (
      "Destination",
      [
        OptionDescription(.server, "server", "URL", "GigHive server, such as https://gighive"),
        OptionDescription(.multipartURL, "multipart-url", "URL", "any other endpoint that takes multipart/form-data"),
        OptionDescription(.tusURL, "tus-url", "URL", "any tus 1.0 server: where it creates uploads"),
        OptionDescription(.protocolChoice, "protocol", "HOW", "to GigHive: auto, multipart or tus (default: auto)"),
        OptionDescription(.threshold, "threshold", "SIZE", "with auto, tus from this size upward (default: 100M)"),
      ]
    ),
    (
      "Form",
      [
        OptionDescription(.label, "label", "TEXT", "what the recording is called (GigHive requires it)"),
        OptionDescription(.eventDate, "event-date", "DATE", "the event's day, YYYY-MM-DD (default: today)"),
        OptionDescription(.orgName, "org-name", "TEXT", "the band, or whose wedding it is"),
        OptionDescription(.eventType, "event-type", "TYPE", "band or wedding (default: band)"),
        OptionDescription(.participants, "participants", "LIST", "names, separated by commas"),
        OptionDescription(.keywords, "keywords", "LIST", "keywords, separated by commas"),
        OptionDescription(.location, "location", "TEXT", "where it was"),
        OptionDescription(.rating, "rating", "TEXT", "a rating"),
        OptionDescription(.notes, "notes", "TEXT", "notes"),
        OptionDescription(.field, "field", "NAME=VALUE", "a further form field; can be repeated"),
        OptionDescription(.fileField, "file-field", "NAME", "the form's name for the file (default: file)"),
        OptionDescription(.fileName, "file-name", "NAME", "what the file is called on the server (default: its name)"),
        OptionDescription(.mime, "mime", "TYPE", "media type (default: by the file name's extension)"),
      ]
    ),
    (
      "Credentials (never a secret as an argument)",
      [
        OptionDescription(.user, "user", "NAME", "user name; the password is in $GIGHIVE_PASSWORD or a file"),
        OptionDescription(.passwordFile, "password-file", "FILE", "file whose first line is the password"),
        OptionDescription(.netrc, "netrc", nil, "user name and password from ~/.netrc"),
        OptionDescription(.netrcFile, "netrc-file", "FILE", "user name and password from this netrc file"),
        OptionDescription(.bearerFile, "bearer-file", "FILE", "file whose first line is a bearer token"),
        OptionDescription(.uploadTokenFile, "upload-token-file", "FILE", "file whose first line is a guest's token"),
        OptionDescription(.sharedSecrets, "shared-secrets", nil, "take such files also if other users can read them"),
      ]
    ),
    (
      "TLS",
      [
        OptionDescription(.cacert, "cacert", "FILE", "trusted certificates (PEM) instead of the system's"),
        OptionDescription(.capath, "capath", "DIR", "hashed directory of trusted certificates"),
        OptionDescription(.cert, "cert", "FILE", "client certificate (PEM)"),
        OptionDescription(.key, "key", "FILE", "its key (PEM; default: in the certificate's file)"),
        OptionDescription(.pin, "pin", "sha256//BASE64", "the server's key must be this one; can be repeated"),
        OptionDescription(.insecure, "insecure", nil, "accept any certificate; anybody in between can read along"),
      ]
    ),
    (
      "Transfer",
      [
        OptionDescription(.resolveTimeout, "resolve-timeout", "TIME", "for looking the name up (default: 30s)"),
        OptionDescription(.connectTimeout, "connect-timeout", "TIME", "for all addresses together (default: 30s)"),
        OptionDescription(.handshakeTimeout, "handshake-timeout", "TIME", "for TLS, and for a proxy (default: 30s)"),
        OptionDescription(.stallTimeout, "stall-timeout", "TIME", "without a byte acknowledged (default: 30s)"),
        OptionDescription(.responseTimeout, "response-timeout", "TIME", "for an answer (default: 120s)"),
        OptionDescription(.maxTime, "max-time", "TIME", "for a whole upload with all its tries (default: none)"),
        OptionDescription(.retries, "retries", "N", "tries after a failure without progress (default: 5)"),
        OptionDescription(.retryMaxDelay, "retry-max-delay", "TIME", "longest pause of its own choice (default: 60s)"),
        OptionDescription(.limitRate, "limit-rate", "SIZE", "send no more than so many bytes a second"),
        OptionDescription(.proxy, "proxy", "URL", "HTTP proxy instead of $https_proxy …; an empty one: none"),
        OptionDescription(.proxyUser, "proxy-user", "NAME", "its user; password: $GIGHIVE_PROXY_PASSWORD or a file"),
        OptionDescription(.proxyPasswordFile, "proxy-password-file", "FILE", "file whose first line is that password"),
        OptionDescription(.chunkSize, "chunk-size", "SIZE", "length of tus requests (default: adapts itself)"),
        OptionDescription(.methodOverride, "method-override", nil, "for proxies that know no PATCH: POST in its place"),
        OptionDescription(.deferLength, "defer-length", nil, "tell a tus server the size with the first bytes"),
        OptionDescription(.jobs, "jobs", "N", "files at a time, up to 16, in the same memory (-j; default: 1)"),
        OptionDescription(.stateDir, "state-dir", "DIR", "where uploads are recorded, to be resumed"),
        OptionDescription(.maxSize, "max-size", "SIZE", "refuse larger files (default: 6Gi for GigHive, else none)"),
        OptionDescription(.maxMemory, "max-memory", "SIZE", "end with exit code 12 rather than take more (12Mi does)"),
        OptionDescription(.digest, "digest", nil, "compute SHA-256 also where the server is no GigHive"),
        OptionDescription(.ipv4, "ipv4", nil, "use IPv4 addresses only"),
        OptionDescription(.ipv6, "ipv6", nil, "use IPv6 addresses only"),
      ]
    ),
    (
      "Choice",
      [
        OptionDescription(.all, "all", nil, "every upload that is not delivered"),
        OptionDescription(.forget, "forget", nil, "drop the records of these uploads (no ID: of all delivered ones)"),
      ]
    ),
    (
      "Output",
      [
        OptionDescription(.progress, "progress", "HOW", "auto, bar, plain or none (default: auto)"),
        OptionDescription(.json, "json", nil, "one event a line on standard output"),
        OptionDescription(.quiet, "quiet", nil, "say nothing but errors (-q)"),
        OptionDescription(.verbose, "verbose", nil, "show what happens on the wire, without secrets (-v)"),
        OptionDescription(.help, "help", nil, "this help (-h)"),
      ]
    ),
  ]

  static var all: [OptionDescription] { groups.flatMap { $0.options } }
}

extension OptionTable {
  static func name(of option: Option) -> String { all.first { $0.option == option }?.name ?? "" }
}
