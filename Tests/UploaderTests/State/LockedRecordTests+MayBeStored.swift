import Foundation
import Glibc
import Testing

@testable import Uploader

/// Uploads that may be stored.
extension LockedRecordTests {
  /// Only a person can find out that it is not stored.
  @Test func anUploadThatMayBeStoredIsOpenedOnlyByItsID() throws {
    let previous = try leave {
      $0.unfinished?.apply(UploadEnd(.mayBeStored(.uploadLost), offset: 1000)) { _ in "who knows" }
      $0.unfinished?.lastByteMayBeSent = true
    }
    #expect(previous.phase == .failed && previous.mayBeStored)
    #expect(throws: UploadError.uncertain(upload: previous.id)) { try open() }
    // Another process may have sent it after `resume --all` chose it.
    #expect(throws: UploadError.uncertain(upload: previous.id)) {
      try open(requiredID: previous.id) { $0.isChosen = false }
    }
    #expect(try bench.open().records(.all) == [previous])
    let again = try open(requiredID: previous.id).record
    // The old URL may lead to the stored recording.
    #expect(again.id == previous.id && again.remote == nil)
    #expect(
      again.phase == .pending && !again.mayBeStored && !again.lastByteMayBeSent && again.unfinished?.message == nil)
    #expect(try bench.open().records(.all) == [again])
  }

  /// A recorder that rotates its files gives the name to the next one.
  @Test func anUploadThatMayBeWholeIsFoundUnderTheFilesNewName() throws {
    let previous = try leave { $0.unfinished?.lastByteMayBeSent = true }
    #expect(rename(bench.directory.path(of: "set.wav"), bench.directory.path(of: "set.1.wav")) == 0)
    _ = bench.directory.file("set.wav", content + [1])
    let kept = try open()
    #expect(kept.record.id != previous.id && kept.superseded == nil && bench.warnings.isEmpty)
    let renamed = try open("set.1.wav").record
    #expect(renamed.id == previous.id && renamed.remote == previous.remote && renamed.lastByteMayBeSent)
  }

  @Test func nothingElseBeginsWhileTheFormerContentIsBeingSent() throws {
    _ = bench.directory.file("set.wav", content)
    let sending = try open()
    try sending.updateUpload { $0.lastByteMayBeSent = true }
    _ = bench.directory.file("set.wav", content + [1])
    #expect(throws: UploadError.conflict(upload: sending.record.id)) { try open() }
  }

  /// Each of them counts, in any order.
  @Test func anyFormerContentMayStillBeBeingSent() throws {
    var last: LockedRecord?
    for length in 0..<4 {
      _ = bench.directory.file("set.wav", content + [UInt8](repeating: 1, count: length))
      last = nil
      last = try open()
      try last?.updateUpload { $0.failure = .mayBeStored }
    }
    _ = bench.directory.file("set.wav", content + [2])
    #expect(throws: UploadError.conflict(upload: last?.record.id ?? "")) { try open() }
  }

  /// Only GigHive recognizes what it has.
  @Test func aRecordThatCannotBeReadHoldsUpItsFileAlone() throws {
    let previous = try leave()
    // A link to itself, because root may read everything.
    let path = bench.path + "/" + previous.id + ".record"
    #expect(unlink(path) == 0 && symlink(path, path) == 0)
    #expect(throws: UploadError.state(.unusable(LocalPath(path), SystemError(code: ELOOP)))) { try open() }
    #expect(bench.warnings.isEmpty)
    _ = bench.directory.file("other.wav", content + [1])
    #expect(try open("other.wav").record.id != previous.id)
  }

  @Test(arguments: [true, false])
  func aRecordThatCannotBeReadDoesNotHoldUpAnUploadToGigHive(isDamaged: Bool) throws {
    _ = bench.directory.file("set.wav", content)
    let previous = try open(to: gigHive("2026-11-20")).record
    let path = bench.path + "/" + previous.id + ".record"
    #expect(unlink(path) == 0 && (isDamaged ? mkdir(path, 0o700) : symlink(path, path)) == 0)
    #expect(try open(to: gigHive("2026-11-20")).record.id != previous.id)
    #expect(bench.warnings.count == 1 && bench.warnings[0].contains(previous.id))
  }

  /// A server can have it twice then, but nothing would ever send it otherwise.
  @Test func aRecordThatCanNeverBeReadHoldsUpNothing() throws {
    let previous = try leave()
    bench.put(bytes("gighive-upload record 9 x"), at: previous.id + ".record")
    #expect(try open().record.id != previous.id && bench.warnings.count == 1)
  }

  /// Its name says enough.
  @Test func aDeliveryThatCanNeverBeReadHoldsUpItsFile() throws {
    _ = bench.directory.file("set.wav", content)
    let delivered = try open()
    try delivered.noteDelivery()
    let name = delivered.record.id + ".delivered"
    bench.put(bytes("gighive-upload record 9 x"), at: name)
    #expect(throws: UploadError.state(.unsupportedVersion(LocalPath(bench.path + "/" + name)))) { try open() }
  }

  /// Cameras use their names again on every card.
  @Test func anUploadThatMayBeStoredDoesNotHoldUpAnotherFileOfTheSameName() throws {
    let previous = try leave {
      $0.unfinished?.apply(UploadEnd(.mayBeStored(.uploadLost), offset: 1000)) { _ in "who knows" }
    }
    _ = bench.directory.file("set.wav", content + [1])
    let kept = try open()
    #expect(kept.record.id != previous.id && kept.record.remote == nil)
    #expect(try bench.open().current(previous.id) == previous)
    let path = LocalPath(bench.directory.path(of: "set.wav"))
    let changed = UploadError.changed(path, .size(from: 200_000, to: 200_001), upload: previous.id)
    #expect(throws: changed) { try open(requiredID: previous.id) }
  }
}
