import Foundation
import Glibc
import Testing

@testable import Uploader

/// What was delivered before, and what a delivery leaves.
extension LockedRecordTests {
  @Test func aDeliveredRecordingIsNotSentAgain() throws {
    let previous = try leave { $0.state = .delivered(RecordedDelivery()) }
    #expect(throws: DeliveredBefore(PreviousDelivery(previous, .incomparable))) { try open() }
    // Also under another name on the same disk.
    try FileManager.default.moveItem(
      atPath: bench.directory.path(of: "set.wav"), toPath: bench.directory.path(of: "renamed.wav"))
    #expect(throws: DeliveredBefore(PreviousDelivery(previous, .incomparable))) { try open("renamed.wav") }
  }

  @Test(arguments: [true, false])
  func aPUTReplacesNoOtherRecordingUnasked(hasIndex: Bool) throws {
    let (first, second) = (bench.directory.file("a.wav", [1]), bench.directory.file("b.wav", [1, 2]))
    let url = try TargetURI("https://store/latest?sig=1")
    let put = Destination.put(url, isSigned: true)
    let begun = try bench.openRecord(first, to: put)
    if !hasIndex {
      unlink(bench.path + "/index")
      mkdir(bench.path + "/index", 0o700)
    }
    // Under way, and delivered.
    for deliver in [{ () throws in }, { try begun.noteDelivery(size: 1) }] {
      try deliver()
      #expect(throws: UploadError.objectRecorded(upload: begun.record.id)) { try bench.openRecord(second, to: put) }
    }
    let (state, replacing) = (try bench.open(), Destination.put(url, isSigned: true, mayReplace: true))
    let kept = try bench.openRecord(second, to: replacing)
    #expect(state.replacement(of: begun.record.id) == .possible)
    // Perhaps no byte of it has arrived.
    try kept.remove()
    #expect(throws: UploadError.objectRecorded(upload: begun.record.id)) { try bench.openRecord(second, to: put) }
    let again = try bench.openRecord(second, to: replacing)
    try again.noteDelivery(size: 2)
    #expect(state.replacement(of: begun.record.id) == .certain && state.replacement(of: again.record.id) == .none)
  }

  @Test(arguments: [true, false])
  func anUploadWhoseFileIsGoneKeepsItsURLIfItWasDelivered(isDelivered: Bool) throws {
    let put = Destination.put(try TargetURI("https://store/latest?sig=1"), isSigned: true)
    let begun = try bench.openRecord(bench.directory.file("a.wav", [1]), to: put)
    if isDelivered { try begun.noteDelivery(size: 1) }
    unlink(bench.directory.path(of: "a.wav"))
    let open = { _ = try bench.openRecord(bench.directory.file("b.wav", [1, 2]), to: put) }
    if isDelivered {
      #expect(throws: UploadError.objectRecorded(upload: begun.record.id), performing: open)
    } else {
      try open()
    }
  }

  @Test func ofTwoThatReplaceEachOtherAtTheSameTimeNobodyKnowsWhichOneIsThere() throws {
    let replacing = Destination.put(try TargetURI("https://store/latest"), isSigned: false, mayReplace: true)
    let uploads = try [("a.wav", [1]), ("b.wav", [1, 2])].map {
      try bench.openRecord(bench.directory.file($0, $1), to: replacing)
    }
    for upload in uploads.reversed() { try upload.noteDelivery(size: 1) }
    let state = try bench.open()
    #expect(uploads.allSatisfy { state.replacement(of: $0.record.id) != .none })
  }

  @Test func aDeliveredUploadIsSentAgainOnRequest() throws {
    let previous = try leave {
      $0.state = .delivered(RecordedDelivery())
      $0.delivery?.deleteToken = "5ec2e7"
    }
    let kept = try open { $0.sendsAgain = true }
    #expect(kept.record.id != previous.id && kept.record.remote == nil && kept.record.phase == .pending)
    let records = try bench.open().records(.all)
    #expect(records.count == 2 && records.contains { $0.id == previous.id && $0.delivery?.deleteToken == "5ec2e7" })
  }

  @Test func aDeliveredUploadThatIsAskedForByItsIDIsNotSent() throws {
    let previous = try leave { $0.state = .delivered(RecordedDelivery()) }
    #expect(throws: DeliveredBefore(PreviousDelivery(previous))) { try open(requiredID: previous.id) }
    #expect(Set(bench.names) == ["directory.lock", "index", previous.id + ".delivered"])
  }

  /// Leaves the record of an upload and that of its delivery, as a power cut does between the two steps.
  private func leaveDoubled() throws -> UploadRecord {
    let previous = try leave()
    let pending = try #require(bench.content(of: previous.id + ".record"))
    var delivered = previous
    delivered.state = .delivered(RecordedDelivery())
    try bench.open().write(delivered)
    bench.put(pending, at: previous.id + ".record")
    return delivered
  }

  @Test func aDeliveryThatAPowerCutInterruptedIsNotResumed() throws {
    let delivered = try leaveDoubled()
    #expect(throws: DeliveredBefore(PreviousDelivery(delivered, .incomparable))) { try open() }
    #expect(!bench.names.contains(delivered.id + ".record") && bench.names.contains(delivered.id + ".delivered"))
  }

  /// The same, and then the file is written to. Without an index all records are read, also what is left.
  @Test(arguments: [true, false])
  func aFileThatHasChangedSinceADeliveryThatAPowerCutInterruptedIsSent(hasIndex: Bool) throws {
    let delivered = try leaveDoubled()
    if !hasIndex {
      unlink(bench.path + "/index")
      mkdir(bench.path + "/index", 0o700)
    }
    _ = bench.directory.file("set.wav", content + [1])
    let kept = try open()
    #expect(kept.record.id != delivered.id && kept.record.remote == nil && kept.record.file.identity.size == 200_001)
    #expect(bench.content(of: delivered.id + ".delivered") != nil)
  }

  /// As when it was cancelled in another process after all records were listed.
  @Test func anUploadWhoseRecordIsGoneIsNotTakenForDelivered() throws {
    let previous = try leave()
    try bench.open().remove(previous.id)
    #expect(throws: UploadError.state(.noSuchRecord(previous.id))) { try open(requiredID: previous.id) }
    #expect(try bench.open().records(.all).isEmpty && bench.names.allSatisfy { !$0.hasPrefix(previous.id) })
  }

  // MARK: Delete tokens

  @Test func aDeliveryIsWrittenAndLeavesNoLockBehind() throws {
    let previous = try leave { $0.unfinished?.message = "the connection was lost" }
    try open().noteDelivery(asset: 7, token: "5ec2e7", size: 200_000)
    let record = try #require(try bench.open().records(.all).first)
    #expect(record.id == previous.id && record.phase == .delivered && record.offset == 200_000)
    #expect(record.assetID == 7 && record.delivery?.deleteToken == "5ec2e7" && record.delivery?.sha256 == "ab")
    #expect(Set(bench.names) == ["directory.lock", "index", previous.id + ".delivered"])
  }

  /// GigHive issues the token once, with the first delivery of a recording.
  @Test func aSecondDeliveryInheritsTheDeleteToken() throws {
    let previous = try leave {
      $0.state = .delivered(RecordedDelivery())
      $0.delivery?.assetID = 7
      $0.delivery?.deleteToken = "5ec2e7"
    }
    let kept = try open { $0.sendsAgain = true }
    #expect(kept.record.id != previous.id)
    try kept.noteDelivery(asset: 7, size: 200_000, isAgain: true)
    let records = try bench.open().records(.all)
    #expect(records.map { $0.id } == [kept.record.id] && records.first?.delivery?.deleteToken == "5ec2e7")
  }

  /// Otherwise the first file would be unknown again, and both would be sent in turn for ever.
  @Test func aCopyOfARecordingAndTheRecordingAreBothRemembered() throws {
    let previous = try leave {
      $0.state = .delivered(RecordedDelivery())
      $0.delivery?.assetID = 7
      $0.delivery?.deleteToken = "5ec2e7"
    }
    _ = bench.directory.file("copy.wav", content)
    let kept = try open("copy.wav")
    try kept.noteDelivery(asset: 7, size: 200_000)
    #expect(try bench.open().records(.all).map { $0.delivery?.deleteToken } == ["5ec2e7", "5ec2e7"])
    for name in ["set.wav", "copy.wav"] {
      #expect(throws: DeliveredBefore.self) { try open(name) }
    }
    #expect(bench.names.allSatisfy { !$0.hasSuffix(".lock") || $0 == "directory.lock" })
    // Once the file is gone, its record has no purpose but the token.
    unlink(bench.directory.path(of: "set.wav"))
    let again = try open("copy.wav") { $0.sendsAgain = true }
    try again.noteDelivery(asset: 7, size: 200_000, isAgain: true)
    #expect(try bench.open().current(previous.id) == nil && again.record.delivery?.deleteToken == "5ec2e7")
  }

  /// On a server that numbers nothing, the newest record of a file is enough.
  @Test func aSecondDeliverySupersedesTheRecordOfTheFirst() throws {
    let previous = try leave { $0.state = .delivered(RecordedDelivery()) }
    let kept = try open { $0.sendsAgain = true }
    try kept.noteDelivery(size: 200_000, isAgain: true)
    #expect(try bench.open().records(.all).map { $0.id } == [kept.record.id] && kept.record.id != previous.id)
  }
}
