import Testing
import UploadCore

struct WatchNoticeTextTests {
  private func text(_ variables: [[UInt8]]) -> [String] { variables.map { String(decoding: $0, as: UTF8.self) } }

  @Test func theJournalGetsPriorities() {
    let priorities: [WatchNotice.Priority] = [.error, .warning, .information]
    let lines = priorities.map { WatchNotice(.warning, "the card\nis full", $0).logLine(inJournal: true) }
    #expect(lines == ["<3>the card is full\n", "<4>the card is full\n", "<6>the card is full\n"])
    let plain = WatchNotice(.started, "watching.").logLine(inJournal: false)
    #expect(plain == "gighive-upload: watching.\n")
  }

  @Test func theEnvironmentTellsEverything() {
    var notice = WatchNotice(.delivered, "gig.mp4 was\n delivered.", path: Array("/rec/gig\n.mp4".utf8))
    notice.id = "5e1f0a77"
    notice.assetID = 17
    notice.exitCode = 0
    notice.size = 5_000_000_000
    #expect(
      text(notice.environment(unixMilliseconds: 1_795_420_800_123)) == [
        "GIGHIVE_EVENT_KIND=delivered", "GIGHIVE_EVENT_MESSAGE=gig.mp4 was delivered.",
        "GIGHIVE_EVENT_FILE=/rec/gig\n.mp4", "GIGHIVE_EVENT_ID=5e1f0a77", "GIGHIVE_EVENT_ASSET_ID=17",
        "GIGHIVE_EVENT_EXIT_CODE=0", "GIGHIVE_EVENT_SIZE=5000000000", "GIGHIVE_EVENT_TIME=2026-11-23T08:00:00.123Z",
      ])
  }

  @Test func aDirectoryThatIsNotWatchedIsShownAndReportedAsMissing() {
    let cases: [(DirectoryProblem, WatchSnapshot.Directory.State, String)] = [
      (.missing, .missing, "/c does not exist; it will be watched once it appears."),
      (.gone, .missing, "/c is gone; it will be watched again once it is back."),
      (.unusable("not a directory"), .unreadable("not a directory"), "/c cannot be watched: not a directory."),
      (.locked, .unreadable("another watcher has locked it"), "/c is watched by another process."),
    ]
    for (problem, state, message) in cases {
      let notice = WatchNotice(.directoryMissing, message, .warning, path: Array("/c".utf8))
      #expect(problem.state == state && problem.notice(of: "/c") == notice)
    }
  }

  @Test(arguments: [("/tmp/rec", true), ("/var/tmp/rec", true), ("/tmpfs/rec", false), ("/srv/tmp/rec", false)])
  func aDirectoryBelowTmpMayBeMissingForAServiceAlone(path: LocalPath, isTold: Bool) {
    let message = DirectoryProblem.missing.notice(of: path).message
    #expect(message.hasSuffix("PrivateTmp= has a /tmp of its own.") == isTold)
  }

  @Test func placesThatCouldNotBeScannedAreNamedWithTheirDirectory() {
    let message = "/c was not scanned completely: /c/d cannot be read."
    let notice = WatchNotice.incomplete("/c", "/c/d", "cannot be read")
    #expect(notice == WatchNotice(.warning, message, .warning, path: Array("/c".utf8)))
  }

  @Test func unknownVariablesAreNotSet() {
    let variables = WatchNotice(.paused, "401", .error).environment(unixMilliseconds: 0)
    #expect(
      text(variables) == [
        "GIGHIVE_EVENT_KIND=paused", "GIGHIVE_EVENT_MESSAGE=401", "GIGHIVE_EVENT_TIME=1970-01-01T00:00:00.000Z",
      ])
  }

  @Test func aNulEndsNoVariable() {
    let notice = WatchNotice(.warning, "a\0b", path: [0x61, 0, 0xE9])
    let variables = notice.environment(unixMilliseconds: 0)
    #expect(variables.allSatisfy { !$0.contains(0) })
    #expect(variables[2] == Array("GIGHIVE_EVENT_FILE=a".utf8) + [0xE9])
  }
}
