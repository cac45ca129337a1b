import Testing
import UploadCore

/// A file of which only the status (ctime) changes while it is sent, not its size or modification time.
struct StatusChangeTests {
  private let atEnd = UploadEvent.statusChanged(.beforeEnd(isDigested: true))
  private let same = UploadEvent.hashed(.wholeFileAgain(sent: "ab", now: "ab", isStable: true))

  /// A machine with its first request in flight.
  private func machine(
    to destination: Destination? = nil, configure: (inout UploadRequest) -> Void = { _ in }
  ) throws -> UploadMachine {
    var machine = try UploadMachine.upload(to: destination ?? .gigHive, configure: configure)
    guard case .send = machine.next(nowMilliseconds: 0) else { throw Unexpected() }
    return machine
  }

  private struct Unexpected: Error {}

  private func error(of machine: UploadMachine) -> FileError? {
    if case .failed(.file(_, let error)) = machine.state { error } else { nil }
  }

  // MARK: Without a digest

  @Test(arguments: [StatusChange.whileReading, .beforeEnd(isDigested: true), .beforeEnd(isDigested: false)])
  func withoutADigestNothingTellsAChangeOfItsNameFromOneOfItsContent(statusChange: StatusChange) throws {
    var machine = try machine(to: .plain)
    machine.handle(.statusChanged(statusChange))
    #expect(error(of: machine) == .statusChanged)
  }

  @Test func theServerMayHaveAMixtureOfWhatChangedInTransit() throws {
    for destination in [try Destination.plain, try .gigHive] {
      var machine = try machine(to: destination)
      machine.handle(.statusChanged(.afterEnd))
      #expect(error(of: machine) == .changedInTransit)
    }
  }

  // MARK: With a digest

  @Test(arguments: [false, true])
  func withADigestTheFileIsReadAgainBeforeItsEndGoesOut(isForGigHive: Bool) throws {
    var machine = try machine(to: isForGigHive ? .gigHive : .plain) { $0.computesDigest = true }
    machine.handle(.statusChanged(.whileReading))
    #expect(machine.next(nowMilliseconds: 0) == .await)
    machine.handle(atEnd)
    #expect(machine.inFlightCount == 1)
    #expect(machine.next(nowMilliseconds: 0) == .hash(.wholeFileAgain))
    #expect(machine.next(nowMilliseconds: 0) == .await)
    machine.handle(same)
    #expect(machine.inFlightCount == 1 && machine.next(nowMilliseconds: 0) == .await)
  }

  @Test func whatIsReadAgainAndFoundTheSameIsDelivered() throws {
    var machine = try machine()
    for event in [atEnd, same, .answered(Answer(status: 201, content: bytes(GigHive.created)))] {
      machine.handle(event)
      _ = machine.next(nowMilliseconds: 0)
    }
    machine.handle(.hashed(.wholeFile(sha256: GigHive.sha256)))
    guard case .finished(.delivered) = machine.next(nowMilliseconds: 0) else { throw Unexpected() }
  }

  @Test(arguments: [("cd", true), ("ab", false)])
  func otherContentOrAChangeInTheMeantimeEndsTheUpload(now: String, isStable: Bool) throws {
    var machine = try machine()
    machine.handle(atEnd)
    _ = machine.next(nowMilliseconds: 0)
    machine.handle(.hashed(.wholeFileAgain(sent: "ab", now: now, isStable: isStable)))
    #expect(error(of: machine) == .rewritten)
  }

  @Test(arguments: [StatusChange.whileReading, .beforeEnd(isDigested: true)])
  func itIsReadAgainOnce(statusChange: StatusChange) throws {
    var machine = try machine()
    machine.handle(atEnd)
    _ = machine.next(nowMilliseconds: 0)
    machine.handle(same)
    machine.handle(.statusChanged(statusChange))
    #expect(error(of: machine) == .rewritten)
  }

  /// A watcher decides later whether a file is the one that was sent, and so does a removal: both compute a digest.
  @Test func whereADigestIsNeededLaterThereIsOneForAPlainServer() throws {
    let configurations: [(inout UploadRequest) -> Void] = [
      { $0.needsRecord = true }, { $0.afterDelivery.removal = .delete },
    ]
    for configure in configurations {
      var machine = try machine(to: .plain, configure: configure)
      machine.handle(.statusChanged(.whileReading))
      machine.handle(atEnd)
      #expect(machine.next(nowMilliseconds: 0) == .hash(.wholeFileAgain))
    }
  }

  /// After a resume, the digest may not cover what was sent, but the server's does.
  @Test func whatTheDigestDoesNotKnowIsTheServersToConfirm() throws {
    var gigHive = try machine()
    gigHive.handle(.statusChanged(.beforeEnd(isDigested: false)))
    #expect(gigHive.next(nowMilliseconds: 0) == .hash(.wholeFileAgain))
    var plain = try machine(to: .plain) { $0.computesDigest = true }
    plain.handle(.statusChanged(.beforeEnd(isDigested: false)))
    #expect(error(of: plain) == .rewritten)
  }

  /// The checksum does not match what the server read. After a status change, the file is the cause.
  @Test func aChecksumThatDoesNotMatchIsTheFilesFaultIfItsStatusHasChanged() throws {
    for hasStatusChanged in [false, true] {
      var machine = try machine { $0.computesDigest = true }
      if hasStatusChanged { machine.handle(.statusChanged(.whileReading)) }
      machine.handle(.interrupted(Interruption(.tus(.checksumMismatch(offset: 0)), sent: .whole)))
      #expect(error(of: machine) == (hasStatusChanged ? .rewritten : nil))
    }
    var settled = try machine()
    settled.handle(atEnd)
    _ = settled.next(nowMilliseconds: 0)
    settled.handle(same)
    settled.handle(.interrupted(Interruption(.tus(.checksumMismatch(offset: 0)), sent: .whole)))
    #expect(error(of: settled) == nil)
  }

  @Test func aConnectionLostInTheMeantimeIsRetried() throws {
    var machine = try machine()
    machine.handle(atEnd)
    _ = machine.next(nowMilliseconds: 0)
    machine.handle(.interrupted(Interruption(.connectionLost(.sending, peer: "hive", nil), sent: .partial)))
    guard case .reportRetry = machine.next(nowMilliseconds: 0) else { throw Unexpected() }
  }

  /// A plain server confirms no digest, so the digest of a changed file would be reported.
  @Test func aDigestOfWhatHasChangedIsNotClaimed() throws {
    var machine = try machine(to: .plain) { $0.computesDigest = true }
    machine.handle(.answered(Answer(status: 200)))
    #expect(machine.next(nowMilliseconds: 0) == .hash(.wholeFile))
    machine.handle(.hashed(.wholeFile(sha256: "ab", isStable: false)))
    #expect(error(of: machine) == .changedInTransit)
  }
}
