/// One option, as the parser and the help need it.
struct OptionDescription {
  let option: Option
  let name: String
  /// The name of its argument; nil if it takes none.
  let argument: String?
  let help: String

  init(_ option: Option, _ name: String, _ argument: String?, _ help: String) {
    self.option = option
    self.name = name
    self.argument = argument
    self.help = help
  }
}

/// The one table behind both the parser and the help.
enum OptionTable {
  static let groups: [(title: String, options: [OptionDescription])] = [
    (
      "Destination",
      [
        .init(.server, "server", "URL", "GigHive server, such as https://gighive"),
        .init(.multipartURL, "multipart-url", "URL", "any other endpoint that accepts multipart/form-data"),
        .init(.tusURL, "tus-url", "URL", "URL that creates uploads on any tus 1.0 server"),
        .init(
          .putURL, "put-url", "URL", "URL that the file gets on a server that takes PUT; may end with / or have {name}"),
        .init(
          .putURLFile, "put-url-file", "FILE", "file with such a URL on its first line, if that is a secret (signed)"),
        .init(.protocolChoice, "protocol", "HOW", "with --server: auto, multipart or tus (default: auto)"),
        .init(.threshold, "threshold", "SIZE", "with auto, use tus for files of this size or larger (default: 100M)"),
        .init(
          .sendTest, "send-test", "SIZE",
          "send this many zeros (1 to 1Gi), then remove them; finds limits that only data reveals"),
        .init(
          .link, "link", nil, "send zeros for 10 s (94 MB at most), then remove them; measures the link"),
      ]
    ),
    (
      "Form",
      [
        .init(.label, "label", "TEXT", "title of the recording, such as '{stem}' (required by GigHive)"),
        .init(
          .eventDate, "event-date", "DATE",
          "YYYY-MM-DD, today or mtime (default: mtime for files found in directories, else today)"
        ),
        .init(
          .dayStarts, "day-starts", "HOUR", "time at which a day starts (HH:MM), for today and mtime (default: 00:00)"),
        .init(.orgName, "org-name", "TEXT", "name of the band, or of the wedding couple"),
        .init(.eventType, "event-type", "TYPE", "band or wedding (default: band)"),
        .init(.participants, "participants", "LIST", "names, separated by commas"),
        .init(.keywords, "keywords", "LIST", "keywords, separated by commas"),
        .init(.location, "location", "TEXT", "place of the event"),
        .init(.rating, "rating", "TEXT", "rating, in digits"),
        .init(.notes, "notes", "TEXT", "notes"),
        .init(.field, "field", "NAME=VALUE", "additional form field; can be repeated"),
        .init(.fileField, "file-field", "NAME", "name of the form field that holds the file (default: file)"),
        .init(.fileName, "file-name", "NAME", "name of the file on the server (default: its own name)"),
        .init(.mime, "mime", "TYPE", "media type (default: guessed from the file name's extension)"),
        .init(.metadata, "metadata", "NAME=VALUE", "additional metadata for a tus server; can be repeated"),
      ]
    ),
    (
      "Credentials (no option takes a secret as its argument)",
      [
        .init(.user, "user", "NAME", "user name; the password comes from $GIGHIVE_PASSWORD or a file"),
        .init(.passwordFile, "password-file", "FILE", "file with the password on its first line"),
        .init(.netrc, "netrc", nil, "read user name and password from ~/.netrc"),
        .init(.netrcFile, "netrc-file", "FILE", "read user name and password from this netrc file"),
        .init(.bearerFile, "bearer-file", "FILE", "file with a bearer token on its first line"),
        .init(.uploadTokenFile, "upload-token-file", "FILE", "file with a GigHive guest token on its first line"),
        .init(.headerFile, "header-file", "FILE", "file with secret header fields, one 'Name: value' per line"),
        .init(.sharedSecrets, "shared-secrets", nil, "accept these files even if other users can read them"),
      ]
    ),
    (
      "TLS",
      [
        .init(.cacert, "cacert", "FILE", "trust these certificates (PEM) instead of the system's"),
        .init(
          .capath, "capath", "DIR", "trust the certificates in this directory (openssl rehash) instead of the system's"),
        .init(.cert, "cert", "FILE", "client certificate (PEM)"),
        .init(.key, "key", "FILE", "private key of --cert (PEM; default: in the same file)"),
        .init(.pin, "pin", "sha256//BASE64", "require this public key (its SHA-256) from the server; can be repeated"),
        .init(.insecure, "insecure", nil, "accept any certificate; attackers can read the traffic"),
      ]
    ),
    (
      "Transfer",
      [
        .init(.resolveTimeout, "resolve-timeout", "TIME", "time limit for the name lookup (default: 30s)"),
        .init(.connectTimeout, "connect-timeout", "TIME", "time limit for connecting to any address (default: 30s)"),
        .init(.handshakeTimeout, "handshake-timeout", "TIME", "time limit for TLS or the proxy (default: 30s)"),
        .init(.stallTimeout, "stall-timeout", "TIME", "longest time without an acknowledged byte (default: 30s)"),
        .init(.responseTimeout, "response-timeout", "TIME", "time limit for a response (default: 120s)"),
        .init(.maxTime, "max-time", "TIME", "time limit for a whole upload with all retries (default: none)"),
        .init(.retries, "retries", "N", "give up after N retries without progress (default: 5)"),
        .init(
          .retryFor, "retry-for", "TIME|forever",
          "instead of --retries: retry for this long without progress, and retry more kinds of errors"),
        .init(
          .retryMaxDelay, "retry-max-delay", "TIME",
          "longest delay between retries, unless the server asks for more (default: 60s)"),
        .init(
          .limitRate, "limit-rate", "RATE",
          "bytes per second, off, or a timetable that can pause: '07:00,pause 23:00,off'"),
        .init(.proxy, "proxy", "URL", "HTTP proxy, overriding $https_proxy and similar; \"\" for none"),
        .init(
          .proxyUser, "proxy-user", "NAME", "proxy user; the password comes from $GIGHIVE_PROXY_PASSWORD or a file"),
        .init(.proxyPasswordFile, "proxy-password-file", "FILE", "file with the proxy password on its first line"),
        .init(.header, "header", "FIELD", "'Name: value' to send to the server with every request; can be repeated"),
        .init(.chunkSize, "chunk-size", "SIZE", "size of each tus request (default: adaptive)"),
        .init(.methodOverride, "method-override", nil, "send POST instead of PATCH, for proxies that block PATCH"),
        .init(.deferLength, "defer-length", nil, "send the size to a tus server with the first bytes, not at creation"),
        .init(
          .jobs, "jobs", "N", "upload up to N files (1 to 16) at once, which takes little extra memory (-j; default: 1)"
        ),
        .init(.stateDir, "state-dir", "DIR", "directory where uploads are recorded, so that they can resume"),
        .init(.maxSize, "max-size", "SIZE", "refuse larger files (default: 6Gi for GigHive, else none)"),
        .init(
          .maxMemory, "max-memory", "SIZE",
          "exit with code 12 rather than use more memory (12Mi is enough; the default of watch)"),
        .init(.digest, "digest", nil, "compute SHA-256 even if the server is not GigHive"),
        .init(.congestion, "congestion", "NAME", "congestion control; auto is BBR where it is allowed (default: auto)"),
        .init(.ipv4, "ipv4", nil, "use IPv4 addresses only"),
        .init(.ipv6, "ipv6", nil, "use IPv6 addresses only"),
      ]
    ),
    (
      "Configuration",
      [
        .init(.config, "config", "FILE", "read this configuration file instead of the default ones; \"\" for none"),
        .init(.to, "to", "NAME", "use the section [NAME] of the configuration"),
      ]
    ),
    (
      "Selection",
      [
        .init(.recursive, "recursive", nil, "send directories and everything below them (-r)"),
        .init(
          .match, "match", "PATTERN",
          "in directories, send only files whose names match, such as '*.wav'; can be repeated"),
        .init(.exclude, "exclude", "PATTERN", "in directories, skip files whose names match; can be repeated"),
        .init(.minSize, "min-size", "SIZE", "in directories, skip smaller files"),
        .init(.from, "from", "FILE", "send the files in this list, one JSON object per line; - for standard input"),
        .init(
          .dryRun, "dry-run", nil,
          "change nothing; show what would be sent or removed, and what was delivered before"),
        .init(.again, "again", nil, "also send recordings that were delivered to this destination before"),
        .init(.all, "all", nil, "resume every upload that is not delivered"),
        .init(.strict, "strict", nil, "with --all: exit with code 11 if another process is working on an upload"),
        .init(.forget, "forget", nil, "drop the records of these uploads (without IDs: of all delivered ones)"),
        .init(
          .prune, "prune", "AGE", "drop records of delivered and failed uploads older than this whose files are gone"),
      ]
    ),
    (
      "Watching",
      [
        .init(.settle, "settle", "TIME", "send a file once it has not changed for this long (default: 30s)"),
        .init(.existing, "existing", "HOW", "files present at the first start: upload or skip (default: upload)"),
        .init(.order, "order", "HOW", "what to send first: oldest, newest, smallest or name (default: oldest)"),
        .init(.interface, "interface", "NAME", "send only while this network interface is up"),
        .init(.onEvent, "on-event", "FILE", "run this program for each event, with $GIGHIVE_EVENT_KIND and others"),
        .init(.metrics, "metrics", "FILE", "write metrics to this file (*.prom) for the Prometheus node exporter"),
      ]
    ),
    (
      "After delivery",
      [
        .init(.after, "after", "HOW", "what to do with a delivered file: keep, delete or move=DIR (default: keep)"),
        .init(.keepFree, "keep-free", "SIZE", "remove the oldest delivered files while less than this is free"),
        .init(
          .trustServer, "trust-server", nil,
          "remove files even where the server cannot be asked whether it still has them"),
        .init(
          .trustSettle, "trust-settle", nil,
          "remove unchanged files even where open files cannot be detected, as on network shares"),
      ]
    ),
    (
      "Output",
      [
        .init(.progress, "progress", "HOW", "auto, bar, plain or none (default: auto)"),
        .init(.color, "color", "WHEN", "auto, always or never (default: auto, which respects $NO_COLOR)"),
        .init(.json, "json", nil, "write one JSON object per line to standard output"),
        .init(.jsonProgress, "json-progress", "TIME", "interval of progress events with --json, or none (default: 1s)"),
        .init(.quiet, "quiet", nil, "print errors and warnings only (-q)"),
        .init(.verbose, "verbose", nil, "show requests and responses, with secrets redacted (-v)"),
        .init(.help, "help", nil, "show this help (-h)"),
      ]
    ),
  ]

  static var all: [OptionDescription] { groups.flatMap { $0.options } }
}

extension OptionTable {
  static func name(of option: Option) -> String { all.first { $0.option == option }?.name ?? "" }
}

/// Every option of the program, in the order of the help.
enum Option: Int32 {
  // Above 255, so that they do not collide with the characters of short options.
  case server = 256
  case multipartURL, tusURL, putURL, putURLFile, protocolChoice, threshold, sendTest, link
  case eventDate, dayStarts, orgName, eventType, label, participants, keywords, location, rating, notes
  case field, fileField, fileName, mime, metadata
  case user, passwordFile, netrc, netrcFile, bearerFile, uploadTokenFile, headerFile, sharedSecrets
  case cacert, capath, cert, key, pin, insecure
  case resolveTimeout, connectTimeout, handshakeTimeout, stallTimeout, responseTimeout, maxTime
  case retries, retryFor, retryMaxDelay
  case limitRate, proxy, proxyUser, proxyPasswordFile, header, chunkSize, methodOverride, deferLength
  case jobs, stateDir, maxSize, maxMemory, digest, congestion, ipv4, ipv6
  case config, to
  case recursive, match, exclude, minSize, from, dryRun, again, all, strict, forget, prune
  case settle, existing, order, interface, after, keepFree, trustServer, trustSettle, onEvent, metrics
  case progress, color, json, jsonProgress, quiet, verbose, help
}
