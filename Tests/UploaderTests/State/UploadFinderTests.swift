import CShims
import Glibc
import Testing

@testable import Uploader

/// What a caller that sends nothing itself says about uploads.
struct UploadFinderTests {
  private let bench = StateBench()

  private func request(_ name: String) throws -> UploadRequest {
    UploadRequest(
      file: LocalPath(bench.directory.path(of: name)), destination: .tus(try TargetURI("https://hive/")))
  }

  private func finder() throws -> UploadFinder { try UploadFinder(LocalPath(bench.path), warn: { _ in }) }

  /// A child process of another test holds this process's locks until it has executed its program.
  private func begin(_ name: String, _ finder: UploadFinder) throws -> Bool {
    let request = try request(name)
    for _ in 0..<1000 {
      if finder.begin(request) { return true }
      usleep(5000)
    }
    return false
  }

  @Test func anUploadThatAnotherProcessWillBeginHasARecord() throws {
    bench.place("a.wav")
    let finder = try finder()
    #expect(try begin("a.wav", finder))
    let begun = try bench.open().records(.open)
    #expect(begun.map { $0.file.path } == [try request("a.wav").file] && begun[0].phase == .pending)
    // It is that of the upload.
    #expect(try bench.openRecord("a.wav").record.id == begun[0].id)
    #expect(try begin("a.wav", finder))
    #expect(try bench.open().records(.open).count == 1)
  }

  @Test func uploadsThatNeedNoRecordGetNone() throws {
    bench.place("a.wav")
    try bench.openRecord("a.wav").noteDelivery()
    let finder = try finder()
    #expect(try begin("a.wav", finder) && begin("missing.wav", finder))
    #expect(try bench.open().records(.open).isEmpty)
  }

  private func request(_ name: String, band: String) throws -> UploadRequest {
    var (request, form) = (try request(name), EventForm())
    form.orgName = band
    request.destination = .gigHive(try TargetURI("https://hive/"), form)
    request.hasDefaultEventDate = true
    request.note = band
    return request
  }

  /// The options have changed while it was interrupted. What another section names stays, and so does what may be stored.
  @Test(arguments: [["Two"], ["One", "Two"]], [false, true])
  func anInterruptedUploadGoesToTheEventThatIsNamedNow(_ others: [String], mayBeStored: Bool) throws {
    bench.place("a.wav")
    let finder = try finder()
    for _ in 0..<1000 where !finder.begin(try request("a.wav", band: "One")) { usleep(5000) }
    let began = try bench.open().records(.open)[0]
    do {
      let kept = try #require(try LockedRecord.reopen(began.id, in: try bench.open()))
      try kept.update {
        $0.unfinished?.remote = RemoteUpload(url: "https://hive/files/1", offset: 500)
        if mayBeStored { $0.unfinished?.failure = .mayBeStored }
      }
    }
    let now = try request("a.wav", band: "Now")
    finder.redirect(now, unlessTo: others)
    let isRedirected = !others.contains("One") && !mayBeStored
    let record = try bench.open().record(began.id)
    #expect(record.destination.event == (isRedirected ? "Now" : "One") && record.note == (isRedirected ? "Now" : "One"))
    #expect(record.offset == 500 && record.remote?.url == "https://hive/files/1")
    // The index knows it.
    var status = shim_file_status()
    _ = shim_stat(now.file.cName, &status)
    let found = finder.find(now, status, hasStableInodes: true)
    #expect(found == (isRedirected ? .begun(nil) : .unknown))
  }

  /// Such as a directory whose name is that of the event.
  @Test(arguments: [true, false])
  func anInterruptedUploadGoesToTheNewEventOfARenamedFile(isGone: Bool) throws {
    bench.place("a.wav")
    let finder = try finder()
    for _ in 0..<1000 where !finder.begin(try request("a.wav", band: "One")) { usleep(5000) }
    let began = try bench.open().records(.open)[0]
    let (old, new) = (bench.directory.path(of: "a.wav"), bench.directory.path(of: "b.wav"))
    #expect((isGone ? rename(old, new) : link(old, new)) == 0)
    finder.redirect(try request("b.wav", band: "Now"), unlessTo: [])
    #expect(try bench.open().record(began.id).destination.event == (isGone ? "Now" : "One"))
  }

  @Test func anotherServersUploadKeepsItsEvent() throws {
    bench.place("a.wav")
    let finder = try finder()
    for _ in 0..<1000 where !finder.begin(try request("a.wav", band: "One")) { usleep(5000) }
    var other = try request("a.wav", band: "Now")
    if case .gigHive(_, let form) = other.destination {
      other.destination = .gigHive(try TargetURI("https://other/"), form)
    }
    finder.redirect(other, unlessTo: [])
    #expect(try bench.open().records(.open).map { $0.destination.event } == ["One"])
  }

  /// With other content, that one does not keep the file from being removed.
  @Test func otherContentGetsItsOwnRecordBesideAnUploadThatMayBeStored() throws {
    bench.place("a.wav")
    let finder = try finder()
    do {
      let former = try bench.openRecord("a.wav")
      try former.update { $0.unfinished?.lastByteMayBeSent = true }
      #expect(try begin("a.wav", finder))
      bench.place("a.wav", recording(1018))
      // While it is in progress, there cannot be one.
      #expect(!finder.begin(try request("a.wav")))
      withExtendedLifetime(former) {}
    }
    #expect(try bench.open().records(.open).map { $0.file.identity.size } == [1000])
    #expect(try begin("a.wav", finder))
    #expect(Set(try bench.open().records(.open).map { $0.file.identity.size }) == [1000, 1018])
  }

  @Test func aStateDirectoryThatIsLockedForTheMomentIsReported() throws {
    bench.place("a.wav")
    let finder = try finder()
    let search = try RecordSearch.locked(bench.open(), usesIndex: false)
    #expect(!finder.begin(try request("a.wav")))
    withExtendedLifetime(search) {}
  }
}
