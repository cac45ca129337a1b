import CShims
import Uploader

/// The commands that have options.
enum Command: String, CaseIterable {
  case send, watch, status, resume, list, forget, prune, cancel, delete, clean, doctor

  @inline(never)
  func takes(_ option: Option) -> Bool { option.row.commands.contains(set) }

  var set: Commands {
    switch self {
    case .send: .send
    case .watch: .watch
    case .status: .status
    case .resume: .resume
    case .list: .list
    case .forget: .forget
    case .prune: .prune
    case .cancel: .cancel
    case .delete: .delete
    case .clean: .clean
    case .doctor: .doctor
    }
  }
}

/// What the help says about a command. Its options are those whose rows name it.
struct CommandRow {
  /// What stands behind the options.
  enum Operands: String {
    case none, files, directories
    /// IDs of uploads: any, those that are not delivered, those that are.
    case ids, open, delivered
  }

  /// Its name and what stands behind it, in a list of all commands.
  let synopsis: StaticString
  let summary: StaticString
  let operands: Operands
  /// The ways to call it, one in each line.
  let usage: StaticString
  /// One paragraph in each line.
  let text: StaticString

  init(
    _ synopsis: StaticString, _ summary: StaticString, _ operands: Operands = .none, usage: StaticString = "",
    text: StaticString = ""
  ) {
    self.synopsis = synopsis
    self.summary = summary
    self.operands = operands
    self.usage = usage
    self.text = text
  }
}

extension CommandRow {
  static var all: [CommandRow] {
    Command.allCases.map { $0.row } + [
      CommandRow("version [--verbose]", "show the versions of the program and its libraries"),
      CommandRow("help [COMMAND]", "show this, or a command's options and exit codes"),
    ]
  }

  var name: String { String(synopsis.text.prefix { $0 != " " }) }
}

extension Command {
  var row: CommandRow {
    switch self {
    case .send:
      .init(
        "send FILE...", "upload recordings", .files,
        usage: """
          send FILE... --server URL --label TEXT [options]
          send FILE... --tus-url URL [options]
          send FILE... --put-url URL [options]
          send FILE... --s3 s3://BUCKET/KEY [options]
          send FILE... --webdav URL [options]
          send FILE... --multipart-url URL [options]
          send -r DIR... --server URL --label TEXT [options]
          send --from FILE --server URL [options]
          """,
        text: """
          Sends recordings to a server. Files are streamed, never copied. GigHive confirms each recording with \
          its SHA-256, which must match that of the file. Large files are sent with tus: if an upload is \
          interrupted, the same command, or gighive-upload resume --all, continues at the server's offset.
          SIZE takes the suffixes k, M, G and Ki, Mi, Gi. TIME takes ms, s, m, h, d and w.
          """)
    case .watch:
      .init(
        "watch DIR...", "upload what appears in directories", .directories,
        usage: """
          watch DIR... --server URL --label TEXT [options]
          watch --once DIR... --server URL --label TEXT [options]
          watch [options]
          """,
        text: """
          Uploads every recording that appears in the directories and their subdirectories, and none twice. \
          Runs until SIGINT or SIGTERM; SIGHUP reloads the configuration. A recording is sent once no program \
          is writing to it and it has not changed for the --settle time. Failures are retried; a recording \
          that the server refuses is set aside, and tried again after days. Without DIR, the [watch DIR] sections of the \
          configuration name the directories. With --once, it sends what is finished \
          now and ends with the exit code of send. --json works only with --once or --dry-run. See docs/watch.md for details.
          SIZE takes the suffixes k, M, G and Ki, Mi, Gi. TIME takes ms, s, m, h, d and w.
          """)
    case .status:
      .init(
        "status [--json]", "show what the watcher is doing", .none,
        usage: "status [--json] [options]",
        text: """
          Shows whether a watcher with this state directory is running, and what it is doing: uploads, waiting \
          recordings, those that were set aside and why, the last delivery and free space. The exit code is 3 if \
          no watcher is running.
          """)
    case .resume:
      .init(
        "resume ID... | --all", "resume interrupted uploads", .open,
        usage: "resume ID... | --all [options]",
        text: """
          Resumes uploads that were interrupted or failed, with the options they were started with. Options \
          given here override the stored ones for this run only, except credentials, which are stored. If the \
          password came from $GIGHIVE_PASSWORD, set it again. --all skips uploads that another process is \
          working on, and those whose files are missing. With a destination, such as --server, it resumes only \
          uploads to that destination.
          """)
    case .list:
      .init(
        "list [--json]", "list pending, failed and delivered uploads", .ids,
        usage: "list [--json] [options]",
        text: """
          Lists pending, failed and delivered uploads. Delivered ones stay in the list, along with the token \
          that delete needs, until you forget or prune them. A missing file is shown as gone or removed, or as \
          waiting for its drive if its directory is missing or on another file system.
          """)
    case .forget:
      .init(
        "forget ID... | --all", "drop the records of uploads", .ids,
        usage: "forget ID... | --all [options]",
        text: """
          Drops the records of these uploads, or with --all of all that are delivered, and says what is lost \
          with each: delete needs the token in the record, and a file that is still there is uploaded again by \
          send or watch if they find it. The server is not asked: what it has of an unfinished upload stays until the server \
          drops it.
          """)
    case .prune:
      .init(
        "prune AGE", "drop old records of files that are gone", .none,
        usage: "prune AGE [options]",
        text: """
          Drops the records of delivered and failed uploads that have not changed for this long and whose files \
          are gone, and says what is lost with each. Those of pending uploads, and of files that wait for their \
          drive, are kept. AGE takes ms, s, m, h, d and w.
          """)
    case .cancel:
      .init(
        "cancel ID...", "cancel an upload here and on the server", .open,
        usage: "cancel ID... [options]",
        text: """
          Cancels uploads that are not delivered yet, here and on the server. The files on this machine are \
          kept.
          """)
    case .delete:
      .init(
        "delete ID...", "delete a delivered recording from the server", .delivered,
        usage: "delete ID... [options]",
        text: """
          Deletes delivered recordings from GigHive, using the delete tokens that it issued, or from a WebDAV \
          server. The files on this machine are kept.
          """)
    case .clean:
      .init(
        "clean DIR...", "remove delivered files when space runs short", .directories,
        usage: "clean DIR... --keep-free SIZE [options]",
        text: """
          Frees space on this machine. If less than SIZE is free on the file system of a directory, it removes \
          delivered files in that directory and its subdirectories, the oldest deliveries first, until SIZE is \
          free. A file is removed only if it has not changed since its delivery, no program has it open, and \
          the server confirms that it still has it. With a destination, such as --server, it removes only files \
          that were delivered there. SIZE takes the suffixes k, M, G and Ki, Mi, Gi.
          """)
    case .doctor:
      .init(
        "doctor [FILE]", "find out why an upload fails, or would fail", .files,
        usage: """
          doctor [FILE] --server URL [options]
          doctor [FILE] --tus-url URL [options]
          doctor [FILE] --put-url URL [options]
          doctor [FILE] --s3 s3://BUCKET/KEY [options]
          doctor [FILE] --webdav URL [options]
          doctor [FILE] --multipart-url URL [options]
          """,
        text: """
          Checks everything between a recording and the server: this machine, the host name, the network, TLS, \
          the server, the credentials, and the server's limits for requests. It says what would fail, why, and \
          what to do. Unless you give --send-test or --link, it sends no recording: it creates and deletes an empty \
          upload (on an S3, WebDAV or PUT server, a small test object), and asks whether the server would accept \
          requests of several lengths, including that of FILE. The exit code is that of the first failure.
          """)
    }
  }
}

struct Commands: OptionSet {
  let rawValue: UInt16

  static let send = Commands(rawValue: 1 << 0)
  static let watch = Commands(rawValue: 1 << 1)
  static let status = Commands(rawValue: 1 << 2)
  static let resume = Commands(rawValue: 1 << 3)
  static let list = Commands(rawValue: 1 << 4)
  static let cancel = Commands(rawValue: 1 << 5)
  static let delete = Commands(rawValue: 1 << 6)
  static let clean = Commands(rawValue: 1 << 7)
  static let doctor = Commands(rawValue: 1 << 8)
  static let forget = Commands(rawValue: 1 << 9)
  static let prune = Commands(rawValue: 1 << 10)

  static let finding: Commands = [.send, .watch]
  static let sending: Commands = [.finding, .resume]
  /// Those about uploads that have a record.
  static let recorded: Commands = [.resume, .cancel, .delete, .clean]
  /// Those that talk to a server.
  static let connecting: Commands = [.sending, .recorded, .doctor]
  /// Those that drop records.
  static let dropping: Commands = [.forget, .prune]
  static let all: Commands = [.connecting, .dropping, .status, .list]
}

/// The operands of a command, such as files. They are not copied from the command line, because there can be very many.
struct Operands: RandomAccessCollection {
  let startIndex = 0
  let endIndex: Int
  /// The index of the first operand among the process's arguments; nil if the operands are `paths`.
  private let firstArgument: Int?
  private let paths: [LocalPath]

  init(_ paths: [LocalPath] = []) {
    endIndex = paths.count
    firstArgument = nil
    self.paths = paths
  }

  init(firstArgument: Int, count: Int) {
    endIndex = count
    self.firstArgument = firstArgument
    paths = []
  }

  subscript(position: Int) -> LocalPath {
    guard let firstArgument else { return paths[position] }
    precondition(position >= 0 && position < endIndex, "not one of the operands")
    return LocalPath(cString: shim_argument(Int32(firstArgument + position)))
  }
}

enum Suggestion {
  /// " Did you mean --form?", or nothing.
  static func question(about word: some Sequence<UInt8>, among names: [String], prefix: String = "") -> String {
    nearest(to: Array(word), among: names).map { " Did you mean " + prefix + $0 + "?" } ?? ""
  }

  /// The name that starts with the word, or else the one with the fewest changed letters, if they are few.
  static func nearest(to word: [UInt8], among names: [String]) -> String? {
    if word.count > 1, let name = names.first(where: { $0.utf8.starts(with: word) }) { return name }
    var best: (name: String, distance: Int)?
    for name in names {
      let distance = editDistance(word, Array(name.utf8))
      if distance <= max(word.count < 4 ? 1 : 2, word.count / 3), distance < best?.distance ?? Int.max,
        !isOpposite(word, Array(name.utf8))
      {
        best = (name, distance)
      }
    }
    return best?.name
  }

  /// Whether one of them says the contrary of the other: "secure" and "insecure", "no-verbos" and "verbose".
  private static func isOpposite(_ word: [UInt8], _ name: [UInt8]) -> Bool {
    let distance = editDistance(word, name)
    func isNearer(_ one: [UInt8], _ other: [UInt8]) -> Bool {
      ["no-", "no", "in", "un"].contains {
        one.starts(with: $0.utf8) && editDistance(Array(one.dropFirst($0.utf8.count)), other) < distance
      }
    }
    return isNearer(word, name) || isNearer(name, word)
  }

  /// The Levenshtein distance.
  private static func editDistance(_ one: [UInt8], _ other: [UInt8]) -> Int {
    var row = Array(0...other.count)
    for (index, byte) in one.enumerated() {
      var diagonal = row[0]
      row[0] = index + 1
      for column in 0..<other.count {
        let substitution = diagonal + (byte == other[column] ? 0 : 1)
        diagonal = row[column + 1]
        row[column + 1] = min(substitution, diagonal + 1, row[column] + 1)
      }
    }
    return row[other.count]
  }
}

/// An invalid command line.
struct UsageError: Error {
  let message: String

  init(_ message: String) { self.message = message }
}
