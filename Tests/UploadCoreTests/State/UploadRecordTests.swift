import Testing
import UploadCore

struct UploadRecordTests {
  let fileIdentity = identity(
    device: 2049, inode: 131_072, size: 4_710_000_000, nanoseconds: 7, edges: String(repeating: "ab", count: 32))

  var plain: UploadRecord { .sample(fileIdentity) }

  /// An unfinished upload with every property set.
  var full: UploadRecord {
    var record = UploadRecord(
      id: "5e1f0a77",
      RecordedFile(
        path: "/srv/set.wav", identity: fileIdentity, fileSystemID: .max,
        sidecar: FileSighting(
          identity: identity(device: .max, inode: 3, size: 0, seconds: -1, edges: ""),
          changed: StatusTime(seconds: 8, nanoseconds: 9))),
      to: RecordedDestination(
        endpoint: "https://hive/", event: "2026-11-20 The Band", uploadedAs: "audio/wav set.wav"))
    record.createdAt = 1_795_000_001
    record.updatedAt = 1_795_000_002
    record.note = #"{"label":"Set 1"}"#
    record.context = "set 1 of \u{1}"
    var upload = UnfinishedUpload()
    upload.remote = RemoteUpload(
      url: "https://hive/files/5e1f?x=y", expires: "Wed, 25 Jun 2014 16:00:00 GMT", offset: 4_710_000_000, isWhole: true
    )
    upload.failure = .mayBeStored
    (upload.lastByteMayBeSent, upload.joins) = (true, 3)
    upload.isServerDoubtful = true
    upload.message = "the connection was lost"
    upload.assetID = 7
    upload.fullSends = FullSends(.unanswered, times: [1_795_000_004, 1_795_000_005], extraAt: 1_795_000_003)
    upload.nextRetry = 1_795_086_404
    upload.sent = SentPart(
      length: 4_000_000_000, sha256: String(repeating: "0e", count: 32),
      statusTime: StatusTime(seconds: 1_795_000_000, nanoseconds: 8))
    upload.doubt = .replaced
    record.state = .unfinished(upload)
    return record
  }

  /// The delivery of that upload, with every property set.
  var delivered: UploadRecord {
    var record = full
    var delivery = RecordedDelivery(of: full)
    delivery.sha256 = String(repeating: "0f", count: 32)
    delivery.deleteToken = "5ec2e7"
    delivery.deliveredAt = 1_795_000_003
    delivery.statusTime = StatusTime(seconds: 1_795_000_000, nanoseconds: 9)
    delivery.deletion = .requested
    delivery.isUnprovedPage = true
    record.state = .delivered(delivery)
    return record
  }

  func encoded(_ record: UploadRecord) -> [UInt8] { record.encoded(crc32: crc32) }

  func decode(_ bytes: [UInt8]) throws(RecordError) -> UploadRecord {
    try UploadRecord(decoding: bytes, crc32: crc32)
  }

  /// A record with this content and a head that fits it.
  private func file(_ content: String, version: String = "2") -> [UInt8] {
    let length = String(content.utf8.count)
    let sum = String(crc32(bytes(content)), radix: 16)
    return bytes(
      "gighive-upload record \(version) " + String(repeating: "0", count: 10 - length.utf8.count) + length + " "
        + String(repeating: "0", count: 8 - sum.utf8.count) + sum + "\n" + content)
  }

  private let smallest =
    #"{"id":"5e1f0a77","phase":"pending","file":"/set.wav","device":"1","inode":"2","size":3,"modified_seconds":4,"#
    + #""modified_nanoseconds":5,"edges_sha256":"ab","endpoint":"http://hive/","offset":0}"#

  @Test func theChecksumIsThatOfTheStandard() {
    #expect(crc32(bytes("123456789")) == 0xCBF4_3926)
    #expect(crc32([]) == 0)
  }

  // MARK: The file

  @Test func aRecordIsALineWithLengthAndChecksumAndAJSONText() throws {
    let text = encoded(full)
    let end = try #require(text.firstIndex(of: UInt8(ascii: "\n")))
    let content = Array(text[(end + 1)...])
    let length = String(10_000_000_000 + content.count).dropFirst()
    let sum = String(0x1_0000_0000 + UInt64(crc32(content)), radix: 16).dropFirst()
    #expect(String(decoding: text[..<end], as: UTF8.self) == "gighive-upload record 2 \(length) \(sum)")
    #expect(content.last == UInt8(ascii: "\n"))
    let json = try JSONReader.read(content)
    #expect(json["id"]?.string == "5e1f0a77" && json["phase"]?.string == "failed")
    #expect(json["file"]?.string == "/srv/set.wav" && json["offset"]?.integer == 4_710_000_000)
  }

  private func content(_ record: UploadRecord) -> String {
    String(decoding: encoded(record).drop { $0 != UInt8(ascii: "{") }, as: UTF8.self)
  }

  /// Other versions read it.
  @Test func theMembersAndTheirOrderStayAsTheyAre() {
    let edges = fileIdentity.edges
    let (upTo, then) = (
      #""created_at":1795000001,"updated_at":1795000002,"file":"/srv/set.wav","device":"2049","inode":"131072","#
        + #""size":4710000000,"modified_seconds":1795000000,"modified_nanoseconds":7,"edges_sha256":"\#(edges)","#
        + #""file_system":"18446744073709551615","sidecar":{"device":"18446744073709551615","inode":"3","size":0,"#
        + #""modified_seconds":-1,"modified_nanoseconds":5,"changed_seconds":8,"changed_nanoseconds":9},"#
        + #""endpoint":"https://hive/","event":"2026-11-20 The Band","uploaded_as":"audio/wav set.wav","offset":4710000000,"#,
      #""note":"{\"label\":\"Set 1\"}","context":"set 1 of \u0001"}"# + "\n"
    )
    let remote = #""upload_url":"https://hive/files/5e1f?x=y","expires":"Wed, 25 Jun 2014 16:00:00 GMT","#
    #expect(
      content(full)
        == #"{"id":"5e1f0a77","phase":"failed","# + upTo + #""may_be_stored":true,"message":"the connection was lost","#
        + remote
        + #""was_uploaded":true,"sent_length":4000000000,"sent_sha256":"\#(String(repeating: "0e", count: 32))","#
        + #""sent_changed_seconds":1795000000,"sent_changed_nanoseconds":8,"file_doubt":"replaced","joins":3,"is_ending":true,"#
        + #""server_doubtful":true,"asset_id":7,"next_retry":1795086404,"full_sends":[1795000004,1795000005],"#
        + #""full_sends_failed":"unanswered","full_sends_extra":1795000003,"# + then)
    #expect(
      content(delivered)
        == #"{"id":"5e1f0a77","phase":"delivered","# + upTo + remote + #""server_doubtful":true,"asset_id":7,"#
        + #""delivered_at":1795000003,"checksum_sha256":"\#(String(repeating: "0f", count: 32))","#
        + #""delete_token":"5ec2e7","changed_seconds":1795000000,"changed_nanoseconds":9,"unproved_page":true,"#
        + #""deletion":"requested","# + then)
  }

  /// The checksum is what zlib says of the text.
  @Test func aRecordIsAsZlibSaysOfItsText() throws {
    let text =
      "gighive-upload record 2 0000000341 fb1d8ed1\n"
      + #"{"id":"5e1f0a77","phase":"uploaded","created_at":1795000001,"updated_at":1795000002,"#
      + #""file":"/srv/%FF%20set.wav","device":"2049","inode":"131072","size":300,"modified_seconds":1795000000,"#
      + #""modified_nanoseconds":7,"edges_sha256":"abcd","endpoint":"https://hive/","offset":300,"#
      + #""upload_url":"https://hive/files/1","note":"{\"label\":\"Set 1\"}"}"# + "\n"
    var expected = UploadRecord.sample(
      identity(device: 2049, inode: 131_072, nanoseconds: 7),
      path: LocalPath(bytes: bytes("/srv/") + [0xFF] + bytes(" set.wav")))
    (expected.createdAt, expected.updatedAt) = (1_795_000_001, 1_795_000_002)
    expected.note = #"{"label":"Set 1"}"#
    expected.unfinished?.remote = RemoteUpload(url: "https://hive/files/1", offset: 300, isWhole: true)
    #expect(try decode(bytes(text)) == expected)
  }

  @Test func everyFieldComesBack() throws {
    var uploaded = plain
    uploaded.state = .sample(.uploaded)
    let onFAT = UploadRecord.sample(identity(inode: 0, hasLocalTimes: true))
    let object = UploadRecord.sample(endpoint: "https://s3/b/set.wav", isObject: true)
    for record in [plain, uploaded, full, delivered, onFAT, object] { #expect(try decode(encoded(record)) == record) }
  }

  /// Records of earlier versions do not have them, and false values are not written.
  @Test func membersThatFewUploadsNeedAreWrittenOnlyForThose() throws {
    for name in ["was_uploaded", "deletion", "is_ending", "may_be_stored"] {
      let isWritten = { (record: UploadRecord) in
        String(decoding: self.encoded(record), as: UTF8.self).split(separator: "\"").contains { $0 == name }
      }
      #expect(isWritten(name == "deletion" ? delivered : full) && !isWritten(plain), "\(name)")
    }
    for value in ["false", "1", "\"true\"", "null"] {
      let record = try decode(file(#"{"is_ending":\#(value),"may_be_stored":\#(value),"# + smallest.dropFirst()))
      #expect(!record.lastByteMayBeSent && !record.mayBeStored)
    }
  }

  @Test(arguments: ["-1", "9223372036854775807", "\"soon\"", "null"])
  func impossibleTimesOfRetriesAreIgnored(value: String) throws {
    let members = #"{"next_retry":\#(value),"full_sends":[\#(value)],"full_sends_failed":"refused","#
    let record = try decode(file(members + smallest.dropFirst()))
    #expect(record.unfinished?.nextRetry == nil && record.unfinished?.fullSends == nil)
    #expect(record.postponedUntil(now: 0) == nil)
  }

  @Test func numbersComeBackToTheLastDigit() throws {
    var record = UploadRecord.sample(
      identity(device: .max, inode: .max, size: .max, seconds: .min, nanoseconds: 999_999_999, edges: ""),
      id: "00000000", path: "a", endpoint: "")
    record.unfinished?.remote = RemoteUpload(url: "", offset: .max)
    record.unfinished?.assetID = .max
    record.createdAt = .min
    #expect(try decode(encoded(record)) == record)
  }

  /// A path is any bytes but NUL.
  @Test func aPathNeedNotBeUTF8() throws {
    var record = plain
    record.file.path = LocalPath(
      bytes: Array(1...255) + bytes("/ü%25\r\n\"\\") + [0xFF, 0xC0, 0xED, 0xA0, 0x80])
    #expect(try decode(encoded(record)) == record)
  }

  @Test func textsAreKeptAsTheyAre() throws {
    var record = plain
    let text = "\"\\/\r\n\t\0\u{1B}[2J\u{202E}\u{2028}音\u{1F3B8}e\u{301}\u{FFFD}"
    (record.destination.endpoint, record.destination.uploadedAs, record.note) = (text, text, text)
    record.unfinished?.remote = RemoteUpload(url: text, expires: text)
    record.unfinished?.message = text
    let back = try decode(encoded(record))
    #expect(back == record)
    record.state = .delivered(RecordedDelivery(of: record))
    record.delivery?.sha256 = text
    record.delivery?.deleteToken = text
    #expect(try decode(encoded(record)) == record)
    // Strings that are equal in Swift can differ for a server.
    #expect(Array(back.note.utf8) == Array(text.utf8))
  }

  @Test func aRecordOfTheFullLengthIsTakenAndALongerOneIsNot() throws {
    var record = plain
    record.note = filler(Limits.recordLength - encoded(plain).count)
    #expect(encoded(record).count == Limits.recordLength)
    #expect(try decode(encoded(record)) == record)
    record.note += "a"
    #expect(throws: RecordError.damaged) { try decode(encoded(record)) }
  }

  // MARK: Invalid records

  /// A power cut can also leave a file of the right length whose end is zeros.
  @Test func aTornRecordIsInvalid() {
    let sample = encoded(full)
    for length in sample.indices {
      for zeros in [0, sample.count - length] {
        let torn = sample[..<length] + [UInt8](repeating: 0, count: zeros)
        #expect(throws: RecordError.damaged, "\(length) bytes and \(zeros) zeros") { try decode(Array(torn)) }
      }
    }
  }

  @Test func aRecordWithAFlippedBitIsInvalid() {
    let sample = encoded(full)
    for index in sample.indices {
      for bit in 0..<8 {
        var changed = sample
        changed[index] ^= 1 << bit
        #expect(throws: RecordError.self, "bit \(bit) of byte \(index)") { try decode(changed) }
      }
    }
  }

  @Test(arguments: ["\0", "\n", " ", "x", "gighive-upload record 2 "])
  func aRecordFollowedByBytesIsInvalid(rest: String) {
    #expect(throws: RecordError.damaged) { try decode(encoded(full) + bytes(rest)) }
  }

  @Test(arguments: [
    "", "\n", "gighive-upload", "gighive-upload record", "gighive-upload records 2 ", "{}",
    "\u{FEFF}gighive-upload record 2 ",
    "gighive-upload record 2 ", "gighive-upload record 2 0000000000 00000000",
    "gighive-upload record 2 0000000000 00000000\n",
  ])
  func otherFilesAreDamaged(text: String) {
    #expect(throws: RecordError.damaged) { try decode(bytes(text)) }
  }

  @Test(arguments: [
    "9999999999", "4294967296", "2147483648", "-000000083", "+000000083", "0000000x83", "          ", "0000000082",
    "0000000084", "0x00000053", "99999999999999999999",
  ])
  func lengthsThatAreNotTheFilesAreDamage(length: String) {
    let content = String(repeating: "x", count: 83)
    let head = "gighive-upload record 2 \(length) \(String(crc32(bytes(content)), radix: 16))\n"
    #expect(throws: RecordError.damaged) { try decode(bytes(head + content)) }
  }

  @Test(arguments: ["1", "3", "10", "20", "0"])
  func anotherVersionsRecordIsUnsupported(version: String) {
    #expect(throws: RecordError.unsupportedVersion) { try decode(file(smallest, version: version)) }
  }

  @Test(arguments: ["1.1", "1\t", "", "2\0", "\0", "x"])
  func aVersionThatIsNoNumberIsDamage(version: String) {
    #expect(throws: RecordError.damaged) { try decode(file(smallest, version: version)) }
  }

  @Test func theSmallestRecordIsTaken() throws {
    let record = try decode(file(smallest))
    #expect(record.file.path == "/set.wav" && record.note.isEmpty && record.createdAt == 0)
  }

  @Test func membersOfALaterVersionStayWhenTheRecordIsWritten() throws {
    let members =
      #""mood":["loud",{"x":null,"y":1.50e3}],"next_try_at":1795000009,"set_aside":"a \"reason\"","needs":[]"#
    var record = try decode(file("{" + members + "," + smallest.dropFirst()))
    #expect(record.others.map { $0.name } == ["mood", "next_try_at", "set_aside", "needs"])
    record.note = "changed"
    let written = String(decoding: encoded(record), as: UTF8.self)
    #expect(written.contains("," + members + "}"))
    #expect(try decode(encoded(record)) == record)
  }

  /// Such as several addresses for one file.
  @Test(arguments: [#"["parts"]"#, #"["parts","other"]"#, "[7]"])
  func aRecordWithUnknownNeedsIsOfAnotherVersion(needs: String) throws {
    let content = #"{"needs":"# + needs + "," + smallest.dropFirst()
    #expect(throws: RecordError.unsupportedVersion) { try decode(file(content)) }
  }

  // MARK: Contradictions

  /// No version writes them.
  @Test func aContradictoryRecordIsReadInTheSafestWay() throws {
    func state(_ phase: String, _ members: String) throws -> UploadRecord {
      try decode(file("{" + members + "," + smallest.dropFirst().replacing("pending", with: phase)))
    }
    for phase in ["pending", "uploaded", "failed"] {
      #expect(try state(phase, #""may_be_stored":true"#).unfinished?.failure == .mayBeStored, "\(phase)")
      // Without a URL, nothing is on a tus server.
      let record = try state(phase, #""expires":"soon","was_uploaded":true"#)
      #expect(record.phase == (phase == "failed" ? .failed : .pending) && record.remote == nil, "\(phase)")
    }
    #expect(try state("pending", #""upload_url":"/1","was_uploaded":true"#).phase == .uploaded)
  }

  @Test func deliveredAndUnfinishedRecordsHaveNoMembersOfEachOther() throws {
    let text = content(full)
    let overdone = try decode(file(text.replacing(#""phase":"failed""#, with: #""phase":"delivered""#)))
    #expect(overdone.delivery == RecordedDelivery(of: full) && overdone.offset == fileIdentity.size)
    let early = content(delivered)
    let undone = try decode(file(early.replacing(#""phase":"delivered""#, with: #""phase":"pending""#)))
    var expected = UnfinishedUpload()
    (expected.remote, expected.assetID) = (full.remote, 7)
    expected.remote?.isWhole = false
    expected.isServerDoubtful = true
    #expect(undone.state == .unfinished(expected))
  }

  /// Its checksum is correct, so it is from another version, not damaged.
  @Test(arguments: [
    ("", ""), ("{", "["), ("}", "},"), ("\"id\":\"5e1f0a77\",", ""), ("5e1f0a77", "5e1f0a7"), ("5e1f0a77", "5E1F0A77"),
    ("5e1f0a77", "../../x1"), ("pending", "paused"), ("\"phase\":\"pending\",", ""), ("/set.wav", ""),
    ("/set.wav", "/a%00b"), ("/set.wav", "/a%2"), ("/set.wav", "/a%zz"), ("\"file\":\"/set.wav\",", ""),
    ("\"device\":\"1\"", "\"device\":1"), ("\"device\":\"1\"", "\"device\":\"-1\""),
    ("\"inode\":\"2\"", "\"inode\":\"18446744073709551616\""), ("\"size\":3", "\"size\":0"),
    ("\"size\":3", "\"size\":-3"), ("\"size\":3", "\"size\":3.5"), ("\"size\":3", "\"size\":1e3"),
    ("\"size\":3", "\"size\":99999999999999999999"), ("\"offset\":0", "\"offset\":-1"),
    ("\"offset\":0", "\"offset\":4"),
    (",\"offset\":0", ""), ("\"edges_sha256\":\"ab\",", ""), ("\"endpoint\":\"http://hive/\",", ""),
    ("\"modified_seconds\":4,", ""), ("\"modified_nanoseconds\":5,", ""),
  ])
  func aSoundFileThatIsNoRecordIsOfAnotherVersion(part: String, replacement: String) throws {
    let text: String
    if part.isEmpty {
      text = "[" + smallest + "]"
    } else {
      let pieces = smallest.split(separator: part, maxSplits: 1, omittingEmptySubsequences: false)
      try #require(pieces.count == 2)
      text = pieces[0] + replacement + pieces[1]
    }
    #expect(throws: RecordError.unsupportedVersion) { try decode(file(text)) }
  }

  // MARK: IDs

  @Test(arguments: ["00000000", "5e1f0a77", "ffffffff", "0123abcd"])
  func anIDIsEightHexadecimalDigits(text: String) {
    #expect(UploadRecord.isID(text))
  }

  @Test(arguments: ["", "5e1f0a7", "5e1f0a777", "5E1F0A77", "5e1f0a7g", "5e1f/a77", "........", "5e1f0a7ü", " e1f0a77"])
  func otherTextsAreNotIDs(text: String) {
    #expect(!UploadRecord.isID(text))
  }
}
