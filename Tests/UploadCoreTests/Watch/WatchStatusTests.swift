import Testing
import UploadCore

struct WatchStatusTests {
  private func status(_ snapshot: WatchSnapshot) throws -> WatchStatus {
    let text = snapshot.json(process: 1234, nowUnixMilliseconds: 1_795_421_200_500)
    return WatchStatus(isWatching: true, watcher: try JSONReader.read(Array(text.utf8)))
  }

  private func lines(_ status: WatchStatus) -> [String] {
    status.lines(stateDirectory: "/var/lib/gighive-upload", recordsHint: "gighive-upload list")
  }

  @Test func aSnapshotHasEveryFigureInJSON() throws {
    let text = WatchSnapshot.sample.json(process: 1234, nowUnixMilliseconds: 1_795_421_200_500)
    let object = try JSONReader.read(Array(text.utf8))
    #expect(object["pid"] == .number("1234"))
    #expect(object["started"] == .string("2026-11-23T08:00:00.000Z"))
    #expect(object["updated"] == .string("2026-11-23T08:06:40.500Z"))
    let venue = try #require(object["groups"]?.elements.first)
    #expect(
      venue.members.map { $0.name } == [
        "destination", "state", "directories", "uploads", "waiting_count", "waiting_bytes", "unready_count", "unready",
        "postponed_count", "postponed", "set_aside_count", "set_aside", "last_delivery",
        "delivered_count", "delivered_bytes", "failed_count", "removed_count",
        "not_compared_count",
      ])
    #expect(venue["state"] == .string("ready"))
    #expect(venue["uploads"]?.elements.first?["remaining_seconds"] == .number("245"))
    #expect(venue["last_delivery"]?["id"] == .null)
    #expect(venue["set_aside"]?.elements.first?["id"] == .string("0badcafe"))
    let archive = try #require(object["groups"]?.elements.last)
    #expect(archive["state"] == .string("paused"))
    #expect(archive["next_retry"] == .string("2026-11-23T09:01:40.000Z"))
    #expect(archive["last_delivery"] == .null)
    let card = try #require(archive["directories"]?.elements.first)
    #expect(card["directory"] == .string("/c\u{FFFD}\"\\\n"))
    #expect(card["directory_percent"] == .string("/c%E9%22%5C%0A"))
  }

  @Test func eachStateOfADirectoryHasItsName() throws {
    let states: [WatchSnapshot.Directory.State] = [.watched, .scanned, .missing, .unreadable("x")]
    var snapshot = WatchSnapshot(startedAt: 0)
    snapshot.groups = [WatchSnapshot.Group(destination: "https://gighive/")]
    snapshot.groups[0].directories = states.map {
      var directory = WatchSnapshot.Directory(path: [0x2F])
      directory.state = $0
      return directory
    }
    let object = try JSONReader.read(Array(snapshot.json(process: 1, nowUnixMilliseconds: 0).utf8))
    let names = object["groups"]?.elements.first?["directories"]?.elements.map { $0["state"]?.string }
    #expect(names == ["watched", "scanned", "missing", "unreadable"])
  }

  @Test func aMachineThatFailsIsNotCalledAnUnreachableServer() throws {
    var snapshot = WatchSnapshot.sample
    snapshot.groups[0].state = .trouble(.failing, since: 0, nextAttempt: 60, message: "no permission.")
    let shown = lines(try status(snapshot)).joined(separator: "\n")
    #expect(shown.contains("failing on this machine since") && shown.contains("no permission."))
  }

  @Test func anUploadThatStandsStillHasNoRemainingTime() throws {
    var snapshot = WatchSnapshot.sample
    snapshot.groups[0].uploads[0].bytesPerSecond = 0
    let text = snapshot.json(process: 1, nowUnixMilliseconds: 0)
    #expect(text.contains("\"bytes_per_second\":0"))
    #expect(!text.contains("remaining_seconds"))
  }

  @Test func aRecordingThatIsMadeHasNoEndButATime() throws {
    var snapshot = WatchSnapshot.sample
    snapshot.groups[0].uploads[0].arrivedUntil = 1_795_421_199
    let text = snapshot.json(process: 1, nowUnixMilliseconds: 0)
    #expect(text.contains(#""arrived_until":"2026-11-23T08:06:39.000Z""#) && !text.contains("remaining_seconds"))
    #expect(lines(try status(snapshot)).joined(separator: "\n").contains("11.4 MB/s  up to 08:06:39 UTC"))
    #expect(
      snapshot.metrics.contains(
        #"gighive_upload_arrived_until_timestamp_seconds{destination="https://gighive/",directory="/srv/recordings"} 1795421199"#
      ))
  }

  @Test func theStatusForProgramsAddsTheRecords() throws {
    var status = try status(WatchSnapshot(startedAt: 0))
    status.pendingCount = 2
    status.failedCount = 1
    status.removalDueCount = 3
    let expected =
      #"{"watching":true,"pid":1234,"started":"1970-01-01T00:00:00.000Z","updated":"2026-11-23T08:06:40.500Z","#
      + #""groups":[],"pending_count":2,"failed_count":1,"removal_due_count":3}"#
    #expect(status.json == expected)
    let absent = WatchStatus(isWatching: false, watcher: nil)
    #expect(absent.json == #"{"watching":false,"pending_count":0,"failed_count":0,"removal_due_count":0}"#)
  }

  @Test func theStatusForPeopleIsAligned() throws {
    let expected = """
      Watching since 2026-11-23 08:00 UTC (process 1234).

      https://gighive/  ready
        directory  /srv/recordings  watched, 12.3 GB free
        directory  /media/stick  missing
        uploading  gig.mp4  40 %  1.9 GB of 4.7 GB  11.4 MB/s  ETA 4:05
        waiting    12 recordings, 40.1 GB
        set aside  3 recordings
                   /srv/recordings/bad.mp4: the server refused (400): Missing required
                   field label.
                   and 2 more
        delivered  45 recordings, 120.0 GB since the start
        last       first.mp4 (asset 17), 2026-11-23 08:05 UTC

      https://archive.example/files  PAUSED since 2026-11-23 08:01 UTC; next attempt
        2026-11-23 09:01 UTC. 401 Unauthorized: check the password.
        directory  /c�"\\  unreadable: Permission denied
        waiting    none
        delivered  none since the start
      """
    #expect(lines(try status(.sample)).joined(separator: "\n") == expected)
  }

  @Test func aShortageIsShown() throws {
    var snapshot = WatchSnapshot.sample
    snapshot.groups[0].directories[0].isSpaceShort = true
    let line = "  directory  /srv/recordings  watched, 12.3 GB free, TOO LITTLE SPACE"
    #expect(lines(try status(snapshot)).contains(line))
    let text = snapshot.json(process: 1, nowUnixMilliseconds: 0)
    #expect(text.contains(#""free_bytes":12300000000,"space_short":true"#))
    #expect(text.contains(#""state":"missing","space_short":false"#))
  }

  /// Each with one of the longest paths, without uploads.
  @Test func theStatusOf700DirectoriesCanBeRead() {
    var snapshot = WatchSnapshot.sample
    let path = [ASCII.slash] + [UInt8](repeating: 0x61, count: Limits.pathLength - 2)
    snapshot.groups[0].directories = Array(repeating: WatchSnapshot.Directory(path: path), count: 700)
    #expect(snapshot.json(process: 1, nowUnixMilliseconds: 0).utf8.count <= Limits.watchStatusLength)
  }

  @Test func noLineIsWiderThanATerminal() throws {
    var snapshot = WatchSnapshot.sample
    let path = "/srv/" + String(repeating: "超長い名前", count: 30) + "/" + String(repeating: "x", count: 200)
    snapshot.groups[0].setAside[0].path = Array(path.utf8)
    snapshot.groups[0].uploads[0].path = Array(path.utf8)
    snapshot.groups[0].directories[0].path = Array(path.utf8)
    for line in lines(try status(snapshot)) {
      #expect(PrintableText.columns(of: line) <= WatchStatus.columns, "\(line)")
      #expect(line.last != " ", "\(line)")
    }
  }

  @Test func withoutAWatcherTheRecordsAreCounted() {
    var status = WatchStatus(isWatching: false, watcher: nil)
    #expect(lines(status) == ["Not watching. State directory: /var/lib/gighive-upload"])
    status.failedCount = 2
    #expect(lines(status).last == "0 pending and 2 failed uploads: gighive-upload list")
    let started = WatchStatus(isWatching: true, watcher: nil)
    #expect(lines(started) == ["Watching; no status yet. State directory: /var/lib/gighive-upload"])
  }

  /// The file belongs to another process, which may be of another version.
  @Test(arguments: ["null", "[]", "{}", #"{"groups":{}}"#, #"{"groups":[null,{"uploads":[1],"directories":"x"}]}"#])
  func aStatusFileOfAnotherKindIsShownAsFarAsItGoes(text: String) throws {
    let status = WatchStatus(isWatching: true, watcher: try JSONReader.read(Array(text.utf8)))
    #expect(!lines(status).isEmpty)
    #expect(try JSONReader.read(Array(status.json.utf8))["watching"] == .bool(true))
  }

  @Test func figuresAtTheirLimitsDoNotTrap() throws {
    var snapshot = WatchSnapshot.sample
    snapshot.startedAt = .max
    for value in [Int64.max, 0, 1] {
      snapshot.groups[0].uploads[0].bytes = value
      snapshot.groups[0].uploads[0].totalBytes = .max
      snapshot.groups[0].uploads[0].bytesPerSecond = 1
      snapshot.groups[0].waitingBytes = value
      snapshot.groups[1].waitingBytes = .max
      #expect(!lines(try status(snapshot)).isEmpty)
      #expect(!snapshot.metrics.isEmpty && !snapshot.summary.isEmpty)
    }
  }
}
