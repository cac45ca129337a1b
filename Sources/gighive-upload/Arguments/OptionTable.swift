/// Every option of the program, in the order of the help: a name here, and its row below, which the compiler asks for.
/// What an option does is where its value is used: most in `apply` of ``CommonArguments`` and ``SendArguments``.
enum Option: Int32, CaseIterable {
  // Above 255, so that they do not collide with the characters of short options.
  case server = 256
  case tusURL, uploadURL, uploadURLFile, putURL, putURLFile, s3, s3Endpoint, s3Region, overwrite, webDAV, multipartURL,
    protocolChoice, threshold,
    sendTest, link
  case label, eventDate, dayStarts, orgName, eventType, field, fileField, fileName, mime
  case user, passwordFile, netrc, bearerFile, uploadTokenFile, s3Credentials, s3Profile, headerFile,
    sharedSecrets, trustOrigin
  case cacert, cert, key, pin, insecure
  case connectTimeout, stallTimeout, responseTimeout, maxTime, retry, retryMaxDelay, limitRate, proxy, proxyUser,
    proxyPasswordFile, header, chunkSize, methodOverride, deferLength, jobs, connections, stateDir, maxSize, maxMemory,
    digest,
    congestion, ipv4, ipv6
  case config, to, set
  case recursive, match, exclude, minSize, from, live, liveLag, liveKeep, liveDeleted, dryRun, again, all, strict, once
  case settle, existing, order, interface, onEvent, metrics
  case after, keepFree, trustServer, trustSettle
  case progress, color, json, jsonProgress, quiet, verbose, help
  case asksWatcher

  // MARK: The table

  /// What is known about it. Everything else reads this: the parser, the help, records, configuration files, sidecars, watchers,
  /// and through `help --table` the man pages, completions and the reference.
  var row: OptionRow {
    switch self {
    case .server:
      .init(
        "server", .text("URL"), .destination, [.sending, .clean, .doctor], [.ordinary, .everyday, .destination],
        "GigHive server, such as https://gighive")
    case .tusURL:
      .init(
        "tus-url", .text("URL"), .destination, [.sending, .clean, .doctor], [.ordinary, .everyday, .destination],
        "URL that creates uploads on any tus 1.0 server")
    case .uploadURL:
      .init(
        "upload-url", .text("URL"), .destination, [.send, .resume], [.kept, .configurable, .destination],
        "URL of an upload on a tus server that was created for this one file")
    case .uploadURLFile:
      .init(
        "upload-url-file", .file, .destination, [.send, .resume], [.kept, .configurable, .destination, .secret],
        "file with that URL on its first line, if it is secret")
    case .putURL:
      .init(
        "put-url", .text("URL"), .destination, [.sending, .clean, .doctor],
        [.ordinary, .everyday, .destination, .template],
        "URL of the file on a server that takes PUT", more: "; may end with / or contain {name}")
    case .putURLFile:
      .init(
        "put-url-file", .file, .destination, [.sending, .clean, .doctor], [.ordinary, .destination, .secret],
        "file with that URL on its first line, if it is secret (signed)")
    case .s3:
      .init(
        "s3", .text("URL"), .destination, [.sending, .clean, .doctor], [.ordinary, .everyday, .destination, .template],
        "s3://BUCKET/KEY, an object on an S3 server", more: "; may end with / or contain {path}")
    case .s3Endpoint:
      .init(
        "s3-endpoint", .text("URL"), .destination, [.sending, .clean, .doctor], [.ordinary, .bound],
        "URL of the S3 server", more: "; with {bucket} if the bucket is part of the host name", standard: "Amazon's")
    case .s3Region:
      .init(
        "s3-region", .text("NAME"), .destination, [.sending, .clean, .doctor], [.ordinary, .fileOnly, .bound],
        "region of the bucket",
        standard: "$AWS_REGION or us-east-1")
    case .overwrite:
      .init(
        "overwrite", .none, .destination, .sending, [.ordinary, .bound],
        "replace an object that has this name already (S3, WebDAV, PUT)")
    case .webDAV:
      .init(
        "webdav", .text("URL"), .destination, [.sending, .clean, .doctor],
        [.ordinary, .everyday, .destination, .template],
        "URL of the file on a WebDAV server", more: "; may end with / or contain {path}")
    case .multipartURL:
      .init(
        "multipart-url", .text("URL"), .destination, [.sending, .clean, .doctor], [.ordinary, .everyday, .destination],
        "any other endpoint that takes multipart/form-data")
    case .protocolChoice:
      .init(
        "protocol", .choice("HOW", "auto multipart tus"), .destination, [.finding, .doctor],
        [.ordinary, .bound], "how to send to GigHive", standard: "auto")
    case .threshold:
      .init(
        "threshold", .text("SIZE"), .destination, [.finding, .doctor], [.ordinary, .bound],
        "with auto, use tus for files of this size or larger", standard: "100M")
    case .sendTest:
      .init(
        "send-test", .text("SIZE"), .destination, .doctor, .everyday, "send this many zeros, then delete them",
        more: " (1 to 1Gi); finds limits that only data reveals")
    case .link:
      .init(
        "link", .none, .destination, .doctor, .everyday, "measure the link with zeros for 10 s",
        more: " (94 MB at most), which are then deleted")
    case .label:
      .init(
        "label", .text("TEXT"), .form, .sending, [.ordinary, .everyday, .template, .sidecar],
        "title of the recording, such as '{stem}'", more: " (required by GigHive)")
    case .eventDate:
      .init(
        "event-date", .words("DATE", "today mtime"), .form, [.sending, .doctor], [.ordinary, .everyday, .sidecar],
        "YYYY-MM-DD, today or mtime", standard: "mtime for files found in directories, else today")
    case .dayStarts:
      .init(
        "day-starts", .text("HOUR"), .form, .finding, [.fileOnly, .configurable, .passedOn, .form],
        "time at which a day starts (HH:MM), for today and mtime", standard: "00:00")
    case .orgName:
      .init(
        "org-name", .text("TEXT"), .form, .sending, [.ordinary, .everyday, .template, .sidecar],
        "name of the band, or of the wedding couple")
    case .eventType:
      .init(
        "event-type", .choice("TYPE", "band wedding"), .form, .sending, [.ordinary, .sidecar],
        "type of the event", standard: "band")
    case .field:
      .init(
        "field", .text("NAME=VALUE"), .form, .sending, [.ordinary, .repeatable, .template, .sidecar],
        "another field",
        more: " of a form, such as GigHive's keywords, participants, location, rating and notes, or of tus metadata")
    case .fileField:
      .init(
        "file-field", .text("NAME"), .form, .sending, [.ordinary, .form], "name of the form field that holds the file",
        standard: "file")
    case .fileName:
      .init(
        "file-name", .text("NAME"), .form, .sending, [.kept, .passedOn, .template, .form],
        "name of the file on the server", standard: "its own name")
    case .mime:
      .init(
        "mime", .text("TYPE"), .form, .sending, [.ordinary, .fileOnly, .form], "media type",
        standard: "guessed from the file name's extension")
    case .user:
      .init(
        "user", letter: "u", .text("NAME"), .credentials, .connecting, [.ordinary, .everyday, .credential], "user name",
        more: "; the password comes from $GIGHIVE_PASSWORD or a file")
    case .passwordFile:
      .init(
        "password-file", .file, .credentials, .connecting, [.ordinary, .everyday, .credential, .secret],
        "file with the password on its first line")
    case .netrc:
      .init(
        "netrc", .optionalFile, .credentials, .connecting, [.ordinary, .everyday, .credential, .secret],
        "read user name and password from this netrc file", more: ", also those of the proxy", standard: "~/.netrc")
    case .bearerFile:
      .init(
        "bearer-file", .file, .credentials, .connecting, [.ordinary, .credential, .secret],
        "file with a bearer token on its first line")
    case .uploadTokenFile:
      .init(
        "upload-token-file", .file, .credentials, .connecting, [.ordinary, .everyday, .credential, .secret],
        "file with a GigHive guest token on its first line")
    case .s3Credentials:
      .init(
        "s3-credentials", .file, .credentials, [.sending, .clean, .doctor], [.ordinary, .credential, .secret],
        "file with the keys for the S3 server", standard: "$AWS_ACCESS_KEY_ID and others, or ~/.aws/credentials")
    case .s3Profile:
      .init(
        "s3-profile", .text("NAME"), .credentials, [.sending, .clean, .doctor], [.ordinary, .credential],
        "section of the file with the keys", standard: "$AWS_PROFILE or default")
    case .headerFile:
      .init(
        "header-file", .file, .credentials, .connecting, [.ordinary, .bound, .secret],
        "file with secret header fields, one 'Name: value' per line")
    case .sharedSecrets:
      .init(
        "shared-secrets", .none, .credentials, .connecting, [.ordinary, .fileOnly, .bound],
        "accept these files even if other users can read them")
    case .trustOrigin:
      .init(
        "trust-origin", .text("URL"), .credentials, .connecting, [.ordinary, .repeatable, .list, .bound],
        "send the credentials to uploads on this https server, too, if the tus server creates them there")
    case .cacert:
      .init(
        "cacert", .fileOrDirectory, .tls, .connecting, [.ordinary, .bound],
        "trust these certificates (PEM) instead of the system's",
        more: ": those in the file, or in the directory (openssl rehash)")
    case .cert:
      .init("cert", .file, .tls, .connecting, [.ordinary, .bound], "client certificate (PEM)")
    case .key:
      .init(
        "key", .file, .tls, .connecting, [.ordinary, .bound, .secret],
        "private key of --cert (PEM; default: in the same file)")
    case .pin:
      .init(
        "pin", .text("sha256//BASE64"), .tls, .connecting, [.ordinary, .fileOnly, .repeatable, .list, .bound],
        "require this public key (its SHA-256) from the server")
    case .insecure:
      .init(
        "insecure", letter: "k", .none, .tls, .connecting, [.ordinary, .bound],
        "accept any certificate; attackers can read the traffic")
    case .connectTimeout:
      .init(
        "connect-timeout", .text("TIME"), .transfer, .connecting, .ordinary, "time limit for connecting",
        more: ", and also each for the name lookup, the proxy and TLS", standard: "30s")
    case .stallTimeout:
      .init(
        "stall-timeout", .text("TIME"), .transfer, .connecting, [.ordinary, .fileOnly],
        "longest time without an acknowledged byte",
        standard: "30s")
    case .responseTimeout:
      .init(
        "response-timeout", .text("TIME"), .transfer, .connecting, [.ordinary, .fileOnly], "time limit for a response",
        standard: "120s")
    case .maxTime:
      .init(
        "max-time", .text("TIME"), .transfer, [.finding, .recorded], .ordinary,
        "time limit for a whole upload with all retries", standard: "none")
    case .retry:
      .init(
        "retry", .words("N|TIME|forever", "forever"), .transfer, [.send, .recorded],
        [.kept, .configurable, .everyday], "give up after N retries, or after this TIME",
        more: ", without progress; with a time, such as 12h, more kinds of errors are retried", standard: "5")
    case .retryMaxDelay:
      .init(
        "retry-max-delay", .text("TIME"), .transfer, [.finding, .recorded], [.ordinary, .fileOnly],
        "longest delay between retries, unless the server asks for more", standard: "60s")
    case .limitRate:
      .init(
        "limit-rate", .words("RATE", "off"), .transfer, .sending, [.ordinary, .everyday],
        "bytes per second, such as 2M, or a timetable", more: " that can pause: '07:00,pause 23:00,off'")
    case .proxy:
      .init(
        "proxy", .text("URL"), .transfer, .connecting, .ordinary,
        "HTTP proxy, overriding $https_proxy and similar; \"\" for none")
    case .proxyUser:
      .init(
        "proxy-user", .text("NAME"), .transfer, .connecting, [.ordinary, .fileOnly],
        "proxy user; the password comes from $GIGHIVE_PROXY_PASSWORD or a file")
    case .proxyPasswordFile:
      .init(
        "proxy-password-file", .file, .transfer, .connecting, [.ordinary, .fileOnly, .secret],
        "file with the proxy password on its first line")
    case .header:
      .init(
        "header", letter: "H", .text("FIELD"), .transfer, .connecting, [.ordinary, .repeatable, .list, .bound],
        "'Name: value' to send to the server with every request")
    case .chunkSize:
      .init(
        "chunk-size", .text("SIZE"), .transfer, .sending, .ordinary, "size of each tus request", standard: "adaptive")
    case .methodOverride:
      .init(
        "method-override", .none, .transfer, .connecting, [.ordinary, .fileOnly],
        "send POST instead of PATCH, for proxies that block PATCH")
    case .deferLength:
      .init(
        "defer-length", .none, .transfer, .sending, [.ordinary, .fileOnly],
        "send the size to a tus server with the first bytes, not at creation")
    case .jobs:
      .init(
        "jobs", letter: "j", .text("N"), .transfer, .sending, [.configurable, .passedOn, .everyday],
        "upload up to N files (1 to 16) at once", more: ", which takes little extra memory",
        standard: "1; 3 with --live")
    case .connections:
      .init(
        "connections", .words("N", "auto"), .transfer, .sending, .ordinary,
        "send parts over up to N connections (1 to 16) at once",
        more: "; auto tries up to 4; to GigHive and tus servers, only if packets are lost", standard: "auto")
    case .stateDir:
      .init(
        "state-dir", .directory, .transfer, .all, [.configurable],
        "directory where uploads are recorded, so that they can resume")
    case .maxSize:
      .init(
        "max-size", .text("SIZE"), .transfer, .sending, [.ordinary, .fileOnly], "refuse larger files",
        standard: "6Gi for GigHive, else none")
    case .maxMemory:
      .init(
        "max-memory", .text("SIZE"), .transfer, [.sending, .clean], [.configurable, .passedOn],
        "exit with code 12 rather than use more memory (12Mi is enough; watch: 13Mi)")
    case .digest:
      .init("digest", .none, .transfer, .sending, .ordinary, "compute SHA-256 even if the server is not GigHive")
    case .congestion:
      .init(
        "congestion", .words("NAME", "auto"), .transfer, .connecting, [.ordinary, .fileOnly],
        "congestion control; auto is BBR where it is allowed", standard: "auto")
    case .ipv4:
      .init("ipv4", letter: "4", .none, .transfer, .connecting, .ordinary, "use IPv4 addresses only")
    case .ipv6:
      .init("ipv6", letter: "6", .none, .transfer, .connecting, .ordinary, "use IPv6 addresses only")
    case .config:
      .init(
        "config", .file, .configuration, .all, [],
        "read this configuration file instead of the default ones; \"\" for none"
      )
    case .to:
      .init("to", .section, .configuration, .all, .everyday, "use the section [NAME] of the configuration")
    case .set:
      .init(
        "set", .text("NAME=VALUE"), .configuration, .all, .repeatable,
        "set an option that is only for configuration files (gighive-upload.conf(5))")
    case .recursive:
      .init("recursive", letter: "r", .none, .selection, .send, .everyday, "send directories and everything below them")
    case .match:
      .init(
        "match", .text("PATTERN"), .selection, .finding, [.configurable, .everyday, .repeatable],
        "in directories, send only files such as '*.wav'", alias: "include")
    case .exclude:
      .init(
        "exclude", .text("PATTERN"), .selection, .finding, [.configurable, .repeatable],
        "in directories, skip files such as '*.tmp'")
    case .minSize:
      .init("min-size", .text("SIZE"), .selection, .finding, .configurable, "in directories, skip smaller files")
    case .from:
      .init(
        "from", .file, .selection, .send, .everyday, "send the files in this list",
        more: ", one JSON object per line; - for standard input", alias: "files-from")
    case .live:
      .init(
        "live", .none, .selection, [.watch, .send, .resume], [.ordinary, .everyday],
        "send recordings while they are made",
        more: ": until no program writes to them; servers that join parts get all but the first one in the meantime")
    case .liveLag:
      .init(
        "live-lag", .text("SIZE"), .selection, [.watch, .send, .resume], [.ordinary, .live, .fileOnly],
        "with live: do not send what is nearer to the end", standard: "4Mi")
    case .liveKeep:
      .init(
        "live-keep", .text("SHARE"), .selection, [.watch, .send, .resume], [.ordinary, .live, .fileOnly],
        "with live: at most this share of what is sent, such as 30%, while finished recordings are sent, too")
    case .liveDeleted:
      .init(
        "live-deleted", .choice("HOW", "deliver cancel"), .selection, [.watch, .send, .resume],
        [.ordinary, .live, .fileOnly],
        "with live: what happens to a recording that is removed while it is made", standard: "deliver")
    case .dryRun:
      .init(
        "dry-run", .none, .selection, [.finding, .clean, .dropping], .everyday,
        "change nothing; show what would be done",
        more: ", and what was delivered before")
    case .again:
      .init(
        "again", .none, .selection, .send, .everyday, "also send what was delivered before",
        more: " to this destination", alias: "force")
    case .all:
      .init(
        "all", .none, .selection, [.resume, .forget], .everyday,
        "instead of IDs: resume all uploads that are not delivered, or forget all that are")
    case .strict:
      .init(
        "strict", .none, .selection, .resume, [],
        "with --all: exit with code 11 if another process is working on an upload")
    case .once:
      .init(
        "once", .none, .watching, .watch, .everyday, "send what is finished now, and end",
        more: "; without --on-event and metrics")
    case .settle:
      .init(
        "settle", .text("TIME"), .watching, [.watch, .send, .resume], [.ordinary, .live, .everyday],
        "send a file once it has not changed for this long", standard: "30s")
    case .existing:
      .init(
        "existing", .choice("HOW", "upload skip"), .watching, .watch, [.configurable, .everyday],
        "what to do with files present at the first start", standard: "upload")
    case .order:
      .init(
        "order", .choice("HOW", "oldest newest smallest name"), .watching, .watch, [.configurable, .fileOnly],
        "what to send first",
        standard: "oldest")
    case .interface:
      .init(
        "interface", .text("NAME"), .watching, .watch, [.configurable, .fileOnly],
        "send only while this network interface is up")
    case .onEvent:
      .init(
        "on-event", .file, .watching, .watch, [.configurable, .wholeWatcher, .everyday],
        "run this program for each event",
        more: ", with $GIGHIVE_EVENT_KIND and others")
    case .metrics:
      .init(
        "metrics", .file, .watching, .watch, [.configurable, .wholeWatcher, .fileOnly],
        "write metrics to this file (*.prom) for the Prometheus node exporter")
    case .after:
      .init(
        "after", .words("HOW", "keep remove move="), .afterDelivery, .sending, [.ordinary, .everyday],
        "delivered files: keep, remove or move=DIR", standard: "keep")
    case .keepFree:
      .init(
        "keep-free", .text("SIZE"), .afterDelivery, [.watch, .clean], [.configurable, .passedOn, .everyday],
        "remove delivered files while less than this is free", more: ", the oldest deliveries first")
    case .trustServer:
      .init(
        "trust-server", .none, .afterDelivery, [.sending, .clean], .ordinary,
        "remove files even where the server cannot be asked whether it still has them")
    case .trustSettle:
      .init(
        "trust-settle", .none, .afterDelivery, [.sending, .clean], [.ordinary, .fileOnly],
        "remove unchanged files even where open files cannot be detected, as on network shares")
    case .progress:
      .init(
        "progress", .choice("HOW", "auto bar plain none"), .output, [.send, .resume], .configurable,
        "how progress is shown", standard: "auto")
    case .color:
      .init(
        "color", .choice("WHEN", "auto always never"), .output, [.send, .recorded, .list], .configurable,
        "when to use colors", standard: "auto, which respects $NO_COLOR")
    case .json:
      .init(
        "json", .none, .output, .all, [.configurable, .everyday], "write one JSON object per line to standard output")
    case .jsonProgress:
      .init(
        "json-progress", .words("TIME", "none"), .output, [.send, .resume], .configurable,
        "interval of progress events with --json, or none", standard: "1s")
    case .quiet:
      .init(
        "quiet", letter: "q", .none, .output, [.connecting, .dropping], [.configurable, .wholeWatcher, .everyday],
        "print errors and warnings only")
    case .verbose:
      .init(
        "verbose", letter: "v", .none, .output, .connecting, [.configurable, .passedOn, .everyday],
        "show requests and responses, with secrets redacted")
    case .help:
      .init("help", letter: "h", .none, .output, .all, .everyday, "show this help")
    case .asksWatcher:
      .init("ask-watcher", .none, .none, [.send, .clean], [], "ask descriptor 3 before a recording is removed")
    }
  }
}
