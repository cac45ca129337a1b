import Uploader

/// `gighive-upload help [COMMAND]` and `gighive-upload version`
enum Help {
  static let commands = ["send", "version", "help"]

  static let overview = """
    gighive-upload \(version): streams recordings of any size to a GigHive server in a few megabytes of memory.

    Usage:
      gighive-upload send FILE... --server URL --label TEXT [options]   deliver recordings now
      gighive-upload version                                            print the version
      gighive-upload help [COMMAND]                                     print help

    Example:
      gighive-upload send gig.mp4 --server https://gighive --label "First set" \\
        --user uploader --password-file ~/.gighive-password

    """

  static func send() -> String {
    var text = """
      Usage: gighive-upload send FILE... --server URL --label TEXT [options]
             gighive-upload send FILE... --multipart-url URL [options]

      Delivers recordings one after the other. Each is read once, never copied, and sent as it is read; with GigHive
      the server's SHA-256 is held against that of what was read. Sizes take k M G or Ki Mi Gi, times ms s m h.

      """
    for group in OptionTable.groups {
      text += "\n" + group.title + ":\n"
      for option in group.options {
        let usage = "--" + option.name + (option.argument.map { " " + $0 } ?? "")
        text += "  " + usage + String(repeating: " ", count: max(1, 26 - usage.utf8.count)) + option.help + "\n"
      }
    }
    text += "\nExit codes:\n"
    for row in ExitCode.table {
      text += "  " + row.code + String(repeating: " ", count: 10 - row.code.utf8.count) + row.meaning + "\n"
    }
    return text
  }
}
