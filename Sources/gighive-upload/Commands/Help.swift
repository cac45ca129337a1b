import CShims
import Uploader

/// `gighive-upload help [COMMAND]`
enum Help {
  static let commands = Command.allCases.map { $0.rawValue } + ["version", "help"]

  static let overview = """
    gighive-upload \(Uploader.version): uploads large recordings to a GigHive server, in a few megabytes of memory.

    Usage:
      gighive-upload send FILE... --server URL --label TEXT [options]   upload recordings
      gighive-upload watch DIR... --server URL --label TEXT [options]   upload what appears in directories
      gighive-upload resume ID... | --all                               resume interrupted uploads
      gighive-upload list [--json]                                      list pending, failed and delivered uploads
      gighive-upload cancel ID...                                       cancel an upload here and on the server
      gighive-upload delete ID...                                       remove a delivered recording from GigHive
      gighive-upload clean DIR... --keep-free SIZE                      remove delivered files when space runs short
      gighive-upload doctor [FILE] --server URL                         find out why an upload fails, or would fail
      gighive-upload status [--json]                                    show what the watcher is doing
      gighive-upload version [--verbose]                                show the versions of the program and its libraries
      gighive-upload help [COMMAND]                                     show this, or a command's options and exit codes

    Example:
      gighive-upload send gig.mp4 --server https://gighive --label "First set" \\
        --user uploader --password-file ~/.gighive-password

    """

  static func of(_ command: Command) -> String {
    var text = introduction(to: command)
    for group in OptionTable.groups {
      let options = group.options.filter { command.takes($0.option) }
      if !options.isEmpty { text += "\n" + group.title + ":\n" }
      for option in options {
        let usage = "--" + option.name + (option.argument.map { " " + $0 } ?? "")
        text += "  " + usage + String(repeating: " ", count: max(1, 28 - usage.utf8.count)) + option.help + "\n"
      }
    }
    text += "\nExit codes:\n"
    for row in ExitCode.table(of: command) {
      text += "  " + row.code + String(repeating: " ", count: 10 - row.code.utf8.count) + row.meaning + "\n"
    }
    return text
  }

  private static func introduction(to command: Command) -> String {
    switch command {
    case .send:
      """
      Usage: gighive-upload send FILE... --server URL --label TEXT [options]
             gighive-upload send FILE... --tus-url URL [options]
             gighive-upload send FILE... --put-url URL [options]
             gighive-upload send FILE... --multipart-url URL [options]
             gighive-upload send --recursive DIR... --server URL --label TEXT [options]
             gighive-upload send --from FILE --server URL [options]

      Sends recordings to a server. Files are streamed, never copied. GigHive confirms each recording with
      its SHA-256, which must match that of the file. Large files are sent with tus: if an upload is interrupted,
      the same command, or gighive-upload resume --all, continues at the server's offset.

      SIZE takes the suffixes k, M, G and Ki, Mi, Gi. TIME takes ms, s, m, h, d and w.

      """
    case .watch:
      """
      Usage: gighive-upload watch DIR... --server URL --label TEXT [options]
             gighive-upload watch [options]

      Uploads every recording that appears in the directories and their subdirectories, and none twice. Runs until
      SIGINT or SIGTERM; SIGHUP reloads the configuration. A recording is sent once no program is writing to it and
      it has not changed for the --settle time. Failures are retried; a recording that the server refuses is set
      aside until it changes. Without DIR, the [watch DIR] sections of the configuration name the directories.
      With --quiet, it logs errors only; --json works only with --dry-run. See docs/station.md for details.

      SIZE takes the suffixes k, M, G and Ki, Mi, Gi. TIME takes ms, s, m, h, d and w.

      """
    case .resume:
      """
      Usage: gighive-upload resume ID... [options]
             gighive-upload resume --all [options]

      Resumes uploads that were interrupted or failed, with the options they were started with. Options given
      here override the stored ones for this run only, except credentials, which are stored. If the password came
      from $GIGHIVE_PASSWORD, set it again. --all skips uploads that another process is working on, and those
      whose files are missing. With --server, --tus-url, --put-url or --multipart-url, it resumes only uploads to
      that destination.

      """
    case .list:
      """
      Usage: gighive-upload list [--json]
             gighive-upload list --forget [ID...]
             gighive-upload list --prune AGE

      Lists pending, failed and delivered uploads. Delivered ones stay in the list, along with the token that
      delete needs, until you delete, forget or prune them. A missing file is shown as gone, or as waiting for
      its drive if its directory is missing or on another file system. Records of waiting files and of pending
      uploads are never pruned. AGE takes ms, s, m, h, d and w.

      """
    case .cancel:
      """
      Usage: gighive-upload cancel ID... [options]

      Cancels uploads that are not delivered yet, here and on the server. The files on this machine are kept.

      """
    case .status:
      """
      Usage: gighive-upload status [--json] [options]

      Shows whether a watcher with this state directory is running, and what it is doing: uploads, waiting
      recordings, those that were set aside and why, the last delivery and free space.

      """
    case .delete:
      """
      Usage: gighive-upload delete ID... [options]

      Removes delivered recordings from GigHive, using the delete tokens it issued. The files on this machine are kept.

      """
    case .clean:
      """
      Usage: gighive-upload clean DIR... --keep-free SIZE [options]

      Frees space on this machine. If less than SIZE is free on the file system of a directory, it removes
      delivered files in that directory and its subdirectories, the oldest deliveries first, until SIZE is free.
      A file is removed only if it has not changed since its delivery, no program has it open, and the server
      confirms that it still has it. With --server, --tus-url, --put-url or --multipart-url, it removes only files
      that were delivered there. SIZE takes the suffixes k, M, G and Ki, Mi, Gi.

      """
    case .doctor:
      """
      Usage: gighive-upload doctor [FILE] --server URL [options]
             gighive-upload doctor [FILE] --tus-url URL [options]
             gighive-upload doctor [FILE] --multipart-url URL [options]

      Checks everything between a recording and the server: this machine, the host name, the network, TLS, the
      server, the credentials, and the server's limits for requests. It says what would fail, why, and what to do.
      It sends no content unless you give --send-test or --link: it creates an empty upload, which it removes, and
      asks whether the server would accept requests of several lengths, including FILE's. The exit code is that of
      the first failure.

      """
    }
  }
}

extension ExitCode {
  /// The table of codes in the help of a command.
  fileprivate static func table(of command: Command) -> [(code: String, meaning: String)] {
    let success =
      switch command {
      case .send, .resume: "delivered"
      case .watch: "stopped by a signal; with --dry-run: success"
      default: "success"
      }
    let interruption = command == .watch ? "stopped by a second signal" : "interrupted"
    return [("0", success)] + failures + [("130, 143", interruption)]
  }

  private static let failures: [(code: String, meaning: String)] = [
    ("1", "internal error"), ("2", "usage error"),
    ("3", "input file: missing, unreadable, empty, not a regular file, too large, or changed while it was sent"),
    ("4", "no connection (unknown name, refused, timeout, lost): try again"),
    ("5", "TLS"), ("6", "credentials refused"),
    ("7", "refused by the server"), ("8", "too large for the server"),
    ("9", "server failure after all retries: try again"),
    ("10", "integrity: checksum or size differs, or no confirmation"),
    ("11", "conflict: another process runs the same upload, the server has locked it, or something else has its URL"),
    ("12", "memory ceiling (--max-memory) reached, or another resource exhausted"),
    ("13", "state directory unusable"),
    ("14", "output failed or was not read; everything else succeeded"),
    ("15", "not enough space could be freed (clean)"),
    ("16", "the recording may already be stored; it is never sent again by itself"),
  ]
}

/// `gighive-upload version [--verbose]`
enum Version {
  static func run() throws(UsageError) -> Int32 {
    var text = "gighive-upload " + Uploader.version
    if CommandLineArguments.count > 2 {
      let argument = CommandLineArguments.text(at: 2)
      guard CommandLineArguments.count == 3, argument == "--verbose" || argument == "-v" else {
        throw UsageError("version takes no arguments except --verbose.")
      }
      text += "\n" + String(cString: shim_library_versions()) + String(cString: shim_components())
    }
    Console.out(text)
    return ExitCode.delivered
  }
}
