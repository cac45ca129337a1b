import Testing

@testable import UploadCore

struct RecordNameTests {
  private func name(_ text: String) -> RecordName? { bytes(text).withUnsafeBytes { RecordName($0) } }

  @Test func aNameSaysTheIDAndWhetherItIsDelivered() {
    #expect(name("5e1f0a77.record") == RecordName(number: 0x5e1f_0a77, isDelivered: false))
    #expect(name("00000001.delivered") == RecordName(number: 1, isDelivered: true))
    #expect(name("00000001.delivered")?.text == "00000001.delivered" && name("ffffffff.record")?.id == "ffffffff")
    #expect(RecordName.number(ofID: "5e1f0a77") == 0x5e1f_0a77)
  }

  @Test(arguments: ["5e1f0a77.record", "5e1f0a77.delivered"])
  func onlyAWholeNameIsThatOfARecord(text: String) {
    for length in 0..<text.utf8.count { #expect(name(String(text.prefix(length))) == nil) }
    #expect(name(text + "x") == nil && name("x" + text) == nil && name(text + ".damaged") == nil)
  }

  @Test(arguments: [
    "5E1F0A77.record", "5e1f0a7g.record", "5e1f0a77,record", "index", "directory.lock", "5e1f0a77.lock",
  ])
  func otherNamesAreNone(text: String) { #expect(name(text) == nil) }
}

struct OldestFirstTests {
  /// Offers all numbers in each round.
  private func order(_ times: [Int64], capacity: Int) -> (order: [UInt32], rounds: Int) {
    var records = OldestFirst(capacity: capacity)
    var (found, rounds, hasMore) = ([UInt32](), 0, true)
    while hasMore {
      for (number, time) in times.enumerated() {
        records.offer(OldestFirst.Entry(createdAt: time, number: UInt32(number)))
        // Both files of a delivery can be there.
        records.offer(OldestFirst.Entry(createdAt: time, number: UInt32(number)))
      }
      let round = records.take()
      found += round.entries.map { $0.number }
      hasMore = round.hasMore
      rounds += 1
      #expect(round.entries.count <= capacity)
    }
    return (found, rounds)
  }

  @Test(arguments: [1, 2, 3, 7, 49, 50, 51, 1000])
  func allRecordsComeOnceOldestFirstWhateverTheCapacity(capacity: Int) {
    var random = SeededGenerator(seed: 5)
    let times = (0..<50).map { _ in Int64(random.next() % 20) }
    let expected = (0..<50).sorted { (times[$0], $0) < (times[$1], $1) }.map { UInt32($0) }
    let (order, rounds) = order(times, capacity: capacity)
    #expect(order == expected && rounds == (50 + capacity - 1) / capacity)
  }

  @Test func withoutRecordsARoundIsEmpty() {
    var records = OldestFirst(capacity: 3)
    let round = records.take()
    #expect(round.entries.isEmpty && !round.hasMore)
  }
}

/// Whether two records are of the same upload.
struct RecordMatchTests {
  private func record(_ change: (inout UploadRecord) -> Void = { _ in }) -> UploadRecord {
    var record = UploadRecord.sample(path: "/media/usb0/set.wav", endpoint: "http://hive/")
    change(&record)
    return record
  }

  private func match(_ change: (inout UploadRecord) -> Void) -> UploadRecord.Match? {
    let (own, previous) = (record(), record(change))
    let result = own.match(with: previous)
    // Every match shares a key.
    if result != nil { #expect(own.searchKeys.contains { previous.indexKeys.contains($0) }) }
    return result
  }

  @Test func aFileOfTheSamePathIsTheSameWhateverHasBecomeOfIt() {
    #expect(match { $0.file.identity = identity(device: 9, size: 7, seconds: 1, edges: "x") } == .same)
    #expect(match { $0.state = .sample(.failed) } == .same && match { $0.state = .sample(.uploaded) } == .same)
  }

  @Test func aFileThatWasRenamedIsTheSameWhileItIsUnchanged() {
    let renamed: LocalPath = "/media/usb0/other.wav"
    #expect(match { $0.file.path = renamed } == .same)
    for changed in [identity(size: 301), identity(seconds: 5), identity(edges: "abce")] {
      #expect(match { ($0.file.path, $0.file.identity) = (renamed, changed) } == nil)
    }
  }

  @Test func aFileThatWasRenamedWhileItWasMadeIsTheSameIfItIsNoMoreUnderItsFormerName() {
    var made = UnfinishedUpload()
    made.parts = UploadedParts(growing: "token")
    func match(_ file: FileIdentity) -> UploadRecord.Match? {
      self.match { ($0.file.path, $0.file.identity, $0.state) = ("/r/other.wav", file, .unfinished(made)) }
    }
    let shorter = identity(size: 200, seconds: 1, edges: "x")
    #expect(match(shorter) == .moved && match(identity()) == .same)
    #expect(match(identity(inode: 3, size: 200)) == nil && match(identity(device: 2, size: 200)) == nil)
    // The server has all of it.
    made.remote = RemoteUpload(url: "https://hive/files/1", isWhole: true)
    #expect(match(shorter) == nil)
  }

  @Test func aMediumThatWasPutInElsewhereIsFoundByNameAndContent() {
    let elsewhere: LocalPath = "/media/usb1/set.wav"
    #expect(match { ($0.file.path, $0.file.identity) = (elsewhere, identity(device: 2)) } == .moved)
    #expect(match { ($0.file.path, $0.file.identity) = (elsewhere, identity(device: 2, seconds: 3)) } == nil)
    #expect(match { ($0.file.path, $0.file.identity) = (elsewhere, identity(device: 2, edges: "x")) } == nil)
    // A recorder's tracks can agree in size, time and silent ends.
    #expect(match { ($0.file.path, $0.file.identity) = ("/media/usb1/track2.wav", identity(device: 2)) } == nil)
  }

  @Test func anotherDestinationMakesAnotherUpload() {
    #expect(match { $0.destination.endpoint = "http://hive2/" } == nil)
    let event = UploadRecord.sample(path: record().file.path, endpoint: "http://hive/", event: "2026-11-20 Band")
    #expect(record().match(with: event) == nil && event.match(with: record()) == nil)
    #expect(event.match(with: event) == .same)
    // Whoever finds its files again and again does not send them to each event.
    #expect(!record().isOfOtherEvent(event))
    for (path, file) in [("/media/usb0/set.wav", 2), ("/x/set.wav", 3), ("/media/usb0/renamed.wav", 2)]
      as [(LocalPath, UInt64)]
    {
      var delivered = UploadRecord.sample(identity(inode: file), path: path, endpoint: "http://hive/", event: "Band")
      delivered.state = .sample(.delivered)
      #expect(record().isOfOtherEvent(delivered) && !delivered.isOfOtherEvent(delivered))
      #expect(record().searchKeys.contains { delivered.indexKeys.contains($0) })
      delivered.file.identity = identity(inode: file, seconds: 3)
      #expect(!record().isOfOtherEvent(delivered))
    }
  }

  @Test func aDeliveredFileIsTheSameWhileItIsUnchanged() {
    #expect(match { $0.state = .sample(.delivered) } == .same)
    #expect(match { ($0.state, $0.file.path) = (.sample(.delivered), "/media/usb0/other.wav") } == .same)
    #expect(
      match {
        $0.state = .sample(.delivered)
        ($0.file.path, $0.file.identity) = ("/media/usb1/set.wav", identity(device: 2))
      } == .moved)
    for changed in [identity(size: 301), identity(seconds: 5), identity(edges: "abce")] {
      #expect(match { ($0.state, $0.file.identity) = (.sample(.delivered), changed) } == nil)
    }
  }

  /// An upload to the URL of an object, of content that its size names.
  private func object(
    _ size: Int64, _ phase: UploadRecord.Phase = .pending, id: String? = nil, inode: UInt64 = 2,
    path: LocalPath = "/r/a.wav", at url: String = "http://s3/a", isObject: Bool = true
  ) -> UploadRecord {
    var record = UploadRecord.sample(
      identity(inode: inode, size: size), id: id ?? "0000000" + String(size), path: path, endpoint: url,
      isObject: isObject)
    record.state = .sample(phase)
    return record
  }

  @Test func aURLIsReservedByAnotherRecordingThatHasItOrGetsIt() {
    let own = object(1)
    func isReserved(by other: UploadRecord) -> Bool {
      let isReserved = other.reservesURL(against: own)
      if isReserved { #expect(other.indexKeys.contains(own.objectKey)) }
      return isReserved
    }
    #expect(isReserved(by: object(2, .delivered)) && isReserved(by: object(2, .delivered, path: "/r/b.wav")))
    #expect(isReserved(by: object(2, .pending, path: "/r/b.wav")) && isReserved(by: object(2, .uploaded, path: "/b")))
    // It is asked again before it is tried again.
    #expect(!isReserved(by: object(2, .failed, path: "/r/b.wav")))
    // The file has been changed, or sent before.
    #expect(!isReserved(by: object(2)) && !isReserved(by: object(1, .delivered, id: "0000000b")))
    // A recorder's tracks agree in what is looked at.
    let elsewhere = object(1, .delivered, id: "0000000b", path: "/r/b.wav")
    #expect(!isReserved(by: elsewhere) && isReserved(by: object(1, .delivered, id: "0000000b", inode: 3, path: "/r/b")))
    #expect(!isReserved(by: object(2, .delivered, at: "http://s3/b")))
    // In another spelling.
    for url in ["http://s3./a", "http://s3/%61", "http://s3/x/../a", "http://s3/./%2E/a?v=2"] {
      #expect(isReserved(by: object(2, .delivered, at: url)), "\(url)")
    }
    for url in ["http://s3/x/a", "http://s3/A", "http://s3/a/", "http://s3/..a", "http://s3:81/a", "https://s3/a"] {
      #expect(!isReserved(by: object(2, .delivered, at: url)), "\(url)")
    }
    #expect(object(1, at: "http://s3/t(1)+%e4").objectKey == object(1, at: "http://s3/t%281%29%2B%E4").objectKey)
    #expect(!isReserved(by: object(2, .delivered, isObject: false)))
    var deleted = object(2, .delivered)
    deleted.delivery?.deletion = .requested
    #expect(isReserved(by: deleted))
    deleted.delivery?.deletion = .done
    #expect(!isReserved(by: deleted))
  }

  /// Whether an upload to another server may need the file of a delivered one.
  private func isNeeded(_ change: (inout UploadRecord) -> Void = { _ in }) -> Bool {
    let delivered = record { $0.state = .sample(.delivered) }
    let other = record {
      $0.destination.endpoint = "http://hive2/"
      change(&$0)
    }
    let isNeeded = other.mayNeed(fileOf: delivered)
    if isNeeded { #expect(delivered.fileKeys.contains { other.indexKeys.contains($0) }) }
    return isNeeded
  }

  @Test func anUnfinishedUploadNeedsItsFileWhateverTheDestination() {
    #expect(isNeeded() && isNeeded { $0.state = .sample(.failed) } && isNeeded { $0.state = .sample(.uploaded) })
    #expect(isNeeded { $0.file.path = "/media/usb0/other.wav" })
    // The next attempt sends what the file has become.
    #expect(isNeeded { $0.file.identity = identity(size: 301) })
    #expect(!isNeeded { $0.state = .sample(.delivered) })
    // A recorder has reused the inode, or another card the name and content.
    #expect(!isNeeded { ($0.file.path, $0.file.identity) = ("/media/usb0/other.wav", identity(size: 301)) })
    #expect(!isNeeded { ($0.file.path, $0.file.identity) = ("/media/usb1/set.wav", identity(device: 2)) })
  }

  @Test(arguments: [
    ("http://s3/b/a%20b.wav", "/rec/a b.wav", "http://s3/b/c.wav", "/rec/c.wav", false),
    ("http://s3/b/x-a-y", "/rec/a.wav", "http://s3/b/x-ab-y", "/rec/ab.wav", false),
    ("http://s3/b/a.wav", "/rec/a.wav", "http://s3/b/ab/a.wav", "/rec/ab/a.wav", false),
    ("http://s3/b/1/2/a.wav", "/rec/1/2/a.wav", "http://s3/b/a.wav", "/rec/a.wav", false),
    ("http://s3/b/a.wav", "/rec/a.wav", "http://s3/b/1/a.wav", "/rec/2/a.wav", true),
    ("http://s3/b/a.wav", "/rec/a.wav", "http://s3/b/1/ba.wav", "/rec/1/ba.wav", true),
    ("http://s3/b/a.wav", "/rec/a.wav", "http://other/b/c.wav", "/rec/c.wav", true),
    ("http://s3/1/a.wav", "/rec/1/a.wav", "http://s3/2/a.wav", "/rec/2/a.wav", true),
    ("http://s3/b/a.wav", "/rec/a.wav", "http://s3/b/d.wav", "/rec/c.wav", true),
    ("http://s3/b/a.wav", "/rec/a.wav", "http://s3/b/c.mp3", "/rec/c.wav", true),
    ("http://s3/b/a", "/rec/a.wav", "http://s3/b/a", "/rec/c.wav", true),
    ("http://s3/b/%", "/rec/%", "http://s3/b/c", "/rec/c", true),
  ])
  func onlyADeliveryUnderItsNewPathEndsTheNeedForARenamedFile(
    url: String, path: String, newURL: String, newPath: String, isNeeded: Bool
  ) {
    func record(_ url: String, _ path: String) -> UploadRecord {
      self.record { ($0.destination.endpoint, $0.file.path) = (url, LocalPath(bytes: Array(path.utf8))) }
    }
    var delivered = record(newURL, newPath)
    delivered.state = .sample(.delivered)
    #expect(record(url, path).mayNeed(fileOf: delivered) == isNeeded)
  }

  @Test func anUploadThatMayBeStoredDoesNotNeedOtherContent() {
    for doubt: (inout UploadRecord) -> Void in [
      { $0.unfinished?.failure = .mayBeStored }, { $0.unfinished?.lastByteMayBeSent = true },
    ] {
      #expect(isNeeded(doubt))
      #expect(
        !isNeeded {
          doubt(&$0)
          $0.file.identity = identity(size: 301)
        })
    }
  }

  /// As by a camera that writes its card again. Without a SHA-256 it is another recording.
  @Test func aFileWrittenAgainMayHaveTheDeliveredContent() {
    func match(
      _ path: LocalPath = "/media/usb0/set.wav", edges: String = "abcd", sha256: String? = "ab"
    ) -> UploadRecord.Match? {
      self.match {
        ($0.file.path, $0.state) = (path, .sample(.delivered))
        $0.delivery?.sha256 = sha256
        $0.file.identity = identity(inode: 3, seconds: 1, edges: edges)
      }
    }
    #expect(match() == .rewritten)
    #expect(match(sha256: nil) == nil && match(edges: "x") == nil && match("/media/usb1/set.wav") == nil)
  }

  @Test func onlyAnUntouchedFileIsCertain() {
    let (own, time) = (record(), StatusTime(seconds: 6, nanoseconds: 7))
    func evidence(
      _ changed: StatusTime = time, sha256: String? = "ab", _ change: (inout UploadRecord) -> Void = { _ in }
    ) -> PreviousDelivery.Evidence {
      let previous = record {
        $0.state = .sample(.delivered)
        $0.delivery?.sha256 = sha256
        $0.delivery?.statusTime = time
        change(&$0)
      }
      return own.evidence(of: previous, changed: changed)
    }
    #expect(evidence() == .untouched && evidence(sha256: nil) == .untouched)
    let later = StatusTime(seconds: 6, nanoseconds: 8)
    #expect(evidence(later) == .comparable && evidence(later, sha256: nil) == .incomparable)
    #expect(evidence { $0.delivery?.statusTime = nil } == .comparable)
    #expect(evidence { $0.file.identity = identity(inode: 3) } == .comparable)
    // Where inodes are not stable, only the modification time tells.
    #expect(evidence(later) { $0.file.identity = identity(inode: 0) } == .untouched)
    #expect(evidence { $0.file.identity = identity(inode: 0, seconds: 1) } == .comparable)
  }

  @Test func anOpenRecordRanksBeforeADelivery() {
    let delivered = record { ($0.state, $0.createdAt) = (.sample(.delivered), 9) }
    #expect(delivered.rank < record { $0.createdAt = 1 }.rank)
    var deleted = record { ($0.state, $0.createdAt) = (.sample(.delivered), 10) }
    deleted.delivery?.deletion = .done
    #expect(deleted.rank < delivered.rank)
    #expect(
      record { $0.createdAt = 1 }.rank
        < record { $0.unfinished?.remote = RemoteUpload(url: "http://hive/files/1") }.rank)
  }

  @Test func aDeliveredRecordIsAlsoFoundByWhatItCanDelete() {
    var delivered = record { $0.state = .sample(.delivered) }
    delivered.delivery?.assetID = 7
    #expect(delivered.indexKeys.count == 3)
    delivered.delivery?.deleteToken = "5ec2e7"
    #expect(delivered.indexKeys.last == .asset(7, endpoint: "http://hive/") && delivered.indexKeys.count == 4)
    #expect(IndexKey.asset(7, endpoint: "http://hive/") != .asset(8, endpoint: "http://hive/"))
    #expect(IndexKey.asset(7, endpoint: "http://hive/") != .asset(7, endpoint: "http://hive2/"))
  }
}
