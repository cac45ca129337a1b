import Uploader

/// `gighive-upload help [COMMAND]` and `gighive-upload version`
enum Help {
  static let commands = Command.allCases.map { $0.rawValue } + ["version", "help"]

  static let overview = """
    gighive-upload \(Uploader.version): streams recordings of any size to a GigHive server in a few megabytes of memory.

    Usage:
      gighive-upload send FILE... --server URL --label TEXT [options]   deliver recordings now
      gighive-upload resume ID... | --all                               go on with interrupted uploads
      gighive-upload list [--json]                                      what is pending, failed and delivered
      gighive-upload cancel ID...                                       end an upload here and on the server
      gighive-upload delete ID...                                       remove a delivered recording from GigHive
      gighive-upload version                                            print the version
      gighive-upload help [COMMAND]                                     print help

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
        text += "  " + usage + String(repeating: " ", count: max(1, 26 - usage.utf8.count)) + option.help + "\n"
      }
    }
    text += "\nExit codes:\n"
    for row in ExitCode.table {
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
             gighive-upload send FILE... --multipart-url URL [options]

      Delivers recordings. Each is never copied, and sent as it is read; with GigHive the server's SHA-256 is held
      against that of what was read. Large ones go by tus: when an upload is interrupted, the same command goes on with
      it where the server stands, and so does resume. Sizes take k M G or Ki Mi Gi, times ms s m h.

      """
    case .resume:
      """
      Usage: gighive-upload resume ID... [options]
             gighive-upload resume --all [options]

      Goes on with uploads that were interrupted or have failed, with the options that they were begun with. Options that
      are given here count instead of those. A password that came from $GIGHIVE_PASSWORD has to be there again.

      """
    case .list:
      """
      Usage: gighive-upload list [--json]
             gighive-upload list --forget [ID...]

      Shows the uploads that are pending, have failed, or were delivered. Delivered ones stay, with what delete needs,
      until they are deleted or forgotten.

      """
    case .cancel:
      """
      Usage: gighive-upload cancel ID... [options]

      Ends uploads that are not delivered, here and on the server. The file stays.

      """
    case .delete:
      """
      Usage: gighive-upload delete ID... [options]

      Removes delivered recordings from GigHive, with the delete tokens that it gave. The file stays.

      """
    }
  }
}
