/// Limits and delays of `watch`.
extension Limits {
  /// The text of a notice, in characters: an error with its advice.
  package static let watchNoticeLength = 1000
  /// Recordings set aside that `status` lists; the others are counted.
  package static let setAsideShown = 16
  /// Recordings whose removal a watcher tries again. Those for which there is no room wait until it is started again.
  package static let watchedRemovals = 1024
  /// Recordings that are found and not delivered; for more of them, the directories are scanned again when there is room.
  package static let watchedCandidates = 4096
  /// Recordings set aside that are remembered with their messages, and in all: 400 KiB at most. More of them are neither counted nor tried
  /// again until the next start.
  package static let watchSetAsideMessages = 256
  package static let watchSetAsideCount = 2048
  /// What a watcher leaves for the next one about them, in bytes. What is beyond is tried again.
  package static let setAsideListLength = 1 << 20
  /// Keys of files that need no action, so that a scan does not look for their records, and a failure is reported once: 1 MiB at most.
  package static let watchedKnownCount = 128 << 10
  /// Directories whose changes are watched, in one process. The kernel needs about 1 KiB for each; others are only scanned.
  package static let watchedDirectoryCount = 2048
  /// Directories that appeared and wait to be scanned; with more of them, everything is scanned.
  package static let watchScanCount = 64
  /// Places that could not be scanned and are remembered, in each watched directory, with 24 bytes for each. Of more, one line says that.
  package static let watchScanFailureCount = 1024
  /// The names of one directory that a scan sorts at a time, in bytes: less than for a batch, because a watcher runs for years.
  package static let watchNamesLength = 64 << 10
  /// Entries that a scan examines before the loop does something else.
  package static let watchScanStep = 64
  /// Groups of directories, each with a worker.
  package static let watchGroupCount = 16
  /// Files passed to the worker that it has not started yet: one more than it uploads at a time, so that it never waits.
  package static let watchedAheadCount = 2
  /// Attempts with one recording that end in a server failure, while others are delivered, before it is set aside.
  package static let watchServerFailureCount = 3
  /// How often the worker may end during one recording before that is set aside.
  package static let watchCrashCount = 3
  /// When a recording that failed for a reason of its own is tried again: if the cause may pass, and if the server has refused the
  /// recording itself. The last delay is repeated. In milliseconds.
  package static let watchReattemptMilliseconds: [Int64] = [0, 3_600_000, 6 * 3_600_000, 24 * 3_600_000]
  /// The most after a start of the watcher, if the cause may pass.
  package static let watchReattemptAtStartMilliseconds: Int64 = 3_600_000
  package static let watchRareReattemptMilliseconds: [Int64] = [7, 30, 90].map { $0 * 24 * 3_600_000 }
  /// The longest line of a worker, in bytes: an event with an answer and the longest path, escaped.
  package static let workerLineLength = 64 << 10
  /// How long a file must not change where its writers cannot be detected, in milliseconds.
  package static let watchBlindSettleMilliseconds: Int64 = 300_000
  /// How much longer a recording that has grown since its delivery settles, and the longest time for that, in milliseconds.
  package static let watchGrowthFactor: Int64 = 10
  package static let watchGrowthSettleMilliseconds: Int64 = 3_600_000
  /// Recordings whose delivered size a watcher remembers.
  package static let watchedGrowthCount = 1024
  /// How often everything is scanned, and how often a missing directory, the clock and the like are checked, in milliseconds.
  package static let watchScanMilliseconds: Int64 = 300_000
  package static let watchCheckMilliseconds: Int64 = 30_000
  /// The longest delay between two attempts to reach a destination, and between two probes of a paused one, in milliseconds.
  package static let watchRetryMaximumMilliseconds: Int64 = 600_000
  package static let watchProbeMilliseconds: Int64 = 3_600_000
  /// How often free space is checked while it is short, and how often it is tried again to make room although nothing was delivered
  /// meanwhile, in milliseconds: each attempt asks the server about what it would remove.
  package static let spaceCheckMilliseconds: Int64 = 60_000
  package static let spaceRetryMilliseconds: Int64 = 600_000
  /// When it is asked again whether other groups let recordings be removed, in milliseconds.
  package static let spaceWaitMilliseconds: Int64 = 2000
  /// When a recording that another process works on is tried again, in milliseconds.
  package static let watchConflictMilliseconds: Int64 = 60_000
  /// The pause after a change of the network, because changes come in groups, in milliseconds.
  package static let watchNetworkMilliseconds: Int64 = 500
  /// How long a worker may take to end after SIGTERM, in milliseconds.
  package static let workerEndMilliseconds: Int64 = 4000
  /// The memory ceiling of a worker, in bytes: what an upload and all those that wait for their recordings need, and more for each of
  /// several jobs.
  package static func workerMemory(jobs: Int) -> Int64 { memoryNeeded + Int64(jobs - 1) * (256 << 10) }
  /// Files that `--existing skip` can remember, with 8 bytes for each.
  package static let existingFileCount = 1_000_000
  /// The file with a watcher's status, in bytes, as `status` reads it: hundreds of directories, each with uploads in progress and
  /// recordings set aside.
  package static let watchStatusLength = 4 << 20
  /// The shortest interval between two writes of it, in milliseconds.
  package static let watchStatusMilliseconds: Int64 = 5000
  /// Events that wait for the program of `--on-event`, each a few hundred bytes.
  package static let hookQueueCount = 64
  /// How often to check whether that program has ended, where the kernel does not report it, in milliseconds.
  package static let hookPollMilliseconds: Int64 = 1000
  /// How often unread lines of the log are offered again, in milliseconds.
  package static let watchLogMilliseconds: Int64 = 1000
  /// How long that program may take, how long it then has after SIGTERM, and both at the end of the watcher, in milliseconds.
  package static let hookMilliseconds: Int64 = 60_000
  package static let hookGraceMilliseconds: Int64 = 5000
  package static let hookEndMilliseconds: Int64 = 1000
  package static let hookEndGraceMilliseconds: Int64 = 1000
}
