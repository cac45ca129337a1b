import Testing
import UploadCore

struct ServiceMessageTests {
  @Test func theSignOfLifeComesAtHalfTheTime() {
    #expect(ServiceMessage.watchdogInterval("120000000", process: "42", own: 42) == 60_000)
    #expect(ServiceMessage.watchdogInterval("120000000", process: nil, own: 42) == 60_000)
    #expect(ServiceMessage.watchdogInterval("1", process: nil, own: 42) == 1)
  }

  @Test(
    arguments: [(nil, nil), ("0", nil), ("", nil), ("-1", nil), ("1s", nil), ("120000000", "41"), ("120000000", "x")]
      as [(String?, String?)])
  func nobodyWaitsForIt(microseconds: String?, process: String?) {
    #expect(ServiceMessage.watchdogInterval(microseconds, process: process, own: 42) == nil)
  }

  @Test func aReloadHasItsTime() {
    #expect(ServiceMessage.reloading(microseconds: 123) == "RELOADING=1\nMONOTONIC_USEC=123")
  }

  @Test func theStatusIsOneLine() {
    var snapshot = WatchSnapshot.sample
    let expected = "STATUS=1 uploading, 12 waiting (40.1 GB), 3 set aside; https://archive.example/files paused"
    #expect(ServiceMessage.status(snapshot) == expected)
    snapshot.groups = [WatchSnapshot.Group(destination: "https://gig\nhive/")]
    #expect(ServiceMessage.status(snapshot) == "STATUS=nothing to upload")
    snapshot.groups[0].state = .trouble(.unreachable, since: 0, nextAttempt: 0, message: "")
    #expect(ServiceMessage.status(snapshot) == "STATUS=nothing to upload; https://gig hive/ unreachable")
    snapshot.groups[0].state = .trouble(.failing, since: 0, nextAttempt: 0, message: "")
    #expect(ServiceMessage.status(snapshot) == "STATUS=nothing to upload; uploads fail on this machine")
  }
}
