import Testing
import UploadCore

/// PATCH requests one after the other, what servers answer to them, and interruptions.
struct TusSendingTests {
  // MARK: Sending

  @Test func aPatchSaysWhereItBegins() throws {
    var upload = try TusUpload.created(length: 20_000_000)
    let request = try upload.ask("PATCH")
    #expect(request.target.text == sampleLocation)
    #expect(
      request.fields == [
        Field("Tus-Resumable", "1.0.0"), Field("Content-Type", "application/offset+octet-stream"),
        Field("Upload-Offset", "0"),
      ])
    #expect(request.fileRange == 0..<8_388_608)
  }

  @Test func aFileIsSentInStretchesThatFollowEachOther() throws {
    var upload = try TusUpload.created(length: 20_000_000)
    #expect(try upload.patch() == 0..<8_388_608)
    #expect(try upload.patch() == 8_388_608..<16_777_216)
    #expect(upload.acknowledged == 16_777_216)
    #expect(try upload.patch() == 16_777_216..<20_000_000)
    #expect(upload.next() == .complete && upload.acknowledged == 20_000_000)
  }

  @Test func nothingIsAskedBeforeAnAnswerComes() throws {
    var upload = try TusUpload.created(length: 20_000_000)
    _ = try upload.ask("PATCH")
    #expect(upload.next() == .await && upload.next() == .await)
  }

  @Test func theMethodCanBeOverridden() throws {
    var upload = try TusUpload.created { $0.overridesMethod = true }
    let request = try upload.ask("POST")
    #expect(request.value("X-HTTP-Method-Override") == "PATCH")
    #expect(request.target.text == sampleLocation && request.fileRange == 0..<100)
    upload.interrupted(arrived: 0)
    // HEAD is known to every proxy.
    #expect(try upload.ask("HEAD").value("X-HTTP-Method-Override") == nil)
  }

  @Test func aChosenLengthHoldsForEveryPatch() throws {
    var upload = try TusUpload.created(length: 1000) { $0.chunkLength = 300 }
    var lengths: [Int] = []
    while upload.acknowledged < 1000 { lengths.append(try upload.patch().count) }
    #expect(lengths == [300, 300, 300, 100])
  }

  /// At 95 MB and not a byte more: Cloudflare refuses bodies over 100 MB.
  @Test func aServerThatHasNotProvedToStreamNeverGetsMoreThan95Megabytes() throws {
    var upload = try TusUpload.created(length: 3 * gibibyte)
    var longest = 0
    while upload.acknowledged < 3 * gibibyte { longest = max(longest, try upload.patch().count) }
    #expect(longest == 95_000_000)
  }

  // MARK: Checksums

  private func checked(_ algorithms: String = "sha1,sha256") throws -> TusUpload {
    try TusUpload.created(
      length: 20_000_000,
      offer: [
        "Tus-Version": "1.0.0", "Tus-Extension": "creation,checksum", "Tus-Checksum-Algorithm": algorithms,
      ])
  }

  @Test func aServerThatChecksIsToldTheChecksumOfEachPatch() throws {
    var upload = try checked()
    #expect(upload.next() == .checksum(.sha256, offset: 0, length: 8_388_608))
    upload.setChecksum("ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=")
    let request = try upload.ask("PATCH")
    #expect(request.value("Upload-Checksum") == "sha256 ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=")
    #expect(request.fileRange == 0..<8_388_608)
    try upload.answer(204, ["Upload-Offset": "8388608"])
    #expect(upload.next() == .checksum(.sha256, offset: 8_388_608, length: 8_388_608))
  }

  @Test func sha1IsSpelledLikeThat() throws {
    var upload = try checked("sha1")
    #expect(upload.next() == .checksum(.sha1, offset: 0, length: 8_388_608))
    upload.setChecksum("qZk+NkcGgWq6PiVxeFDCbJzQ2J0=")
    #expect(try upload.ask("PATCH").value("Upload-Checksum") == "sha1 qZk+NkcGgWq6PiVxeFDCbJzQ2J0=")
  }

  @Test func theQuestionForAChecksumIsAskedUntilItIsAnswered() throws {
    var upload = try checked()
    let first = upload.next()
    #expect(upload.next() == first)
  }

  @Test func aChecksumIsForOneStretchAlone() throws {
    var upload = try checked()
    _ = upload.next()
    upload.setChecksum("AAAA")
    _ = try upload.ask("PATCH")
    upload.interrupted(arrived: 0)
    try upload.locate(1)
    guard case .checksum(_, 1, _) = upload.next() else {
      Issue.record("the checksum of another range is used")
      return
    }
  }

  @Test func contentThatWasDamagedOnTheWayIsSentAgain() throws {
    var upload = try checked()
    _ = upload.next()
    upload.setChecksum("AAAA")
    _ = try upload.ask("PATCH")
    #expect(throws: TusError.checksumMismatch(offset: 0)) { try upload.answer(460) }
    upload.interrupted(arrived: 8_388_608)
    try upload.locate(0)
    #expect(upload.next() == .checksum(.sha256, offset: 0, length: 8_388_608))
  }

  // MARK: Answers

  @Test func whereTheServerDisagreesItsOffsetCounts() throws {
    var upload = try TusUpload.created()
    _ = try upload.ask("PATCH")
    try upload.answer(409)
    #expect(upload.state == .locating)
    try upload.locate(40)
    #expect(try upload.ask("PATCH").fileRange == 40..<100)
  }

  @Test(arguments: [404, 410])
  func aServerThatForgotTheUploadLetsItBeginAnew(status: Int) throws {
    var upload = try TusUpload.created()
    _ = try upload.ask("PATCH")
    try upload.answer(status, ["Tus-Resumable": "1.0.0"])
    #expect(upload.next() == .gone)
    upload.restart()
    _ = try upload.ask("POST")
    try upload.answer(201, ["Location": "/files/2"])
    #expect(try upload.patch() == 0..<100)
  }

  @Test(arguments: ["", "no", "-8", "99999999999999999999", "100x"])
  func anAnswerWithoutAnOffsetIsFollowedByTheQuestion(text: String) throws {
    var upload = try TusUpload.created()
    _ = try upload.ask("PATCH")
    try upload.answer(204, ["Upload-Offset": text, "Tus-Resumable": "1.0.0"])
    try upload.locate(100)
    #expect(upload.next() == .complete)
  }

  @Test func whereAServerTookLessTheRestBeginsAtItsOffset() throws {
    var upload = try TusUpload.created()
    _ = try upload.ask("PATCH")
    try upload.answer(204, ["Upload-Offset": "60"])
    #expect(upload.acknowledged == 60)
    #expect(try upload.ask("PATCH").fileRange == 60..<100)
  }

  @Test(arguments: [200, 201, 202, 204])
  func anySuccessWithAnOffsetStoresAPatch(status: Int) throws {
    var upload = try TusUpload.created()
    _ = try upload.ask("PATCH")
    try upload.answer(status, ["Upload-Offset": "100"])
    #expect(upload.next() == .complete)
  }

  @Test(arguments: [8_388_609, 20_000_000, .max] as [Int64])
  func moreThanWasSentIsAbsurd(offset: Int64) throws {
    var upload = try TusUpload.created(length: 20_000_000)
    _ = try upload.ask("PATCH")
    #expect(throws: TusError.offsetBeyond(sent: 8_388_608, acknowledged: offset)) {
      try upload.answer(204, ["Upload-Offset": String(offset)])
    }
  }

  @Test func aLockedUploadIsLocatedAgain() throws {
    var upload = try TusUpload.created()
    _ = try upload.ask("PATCH")
    #expect(throws: TusError.locked) { try upload.answer(423) }
    upload.interrupted(arrived: 100)
    try upload.locate(0)
    #expect(try upload.ask("PATCH").fileRange == 0..<100)
  }

  /// Where the server is at the offset that it refused, it was not the offset that it refused.
  @Test func aConflictAboutTheServersOwnOffsetIsALock() throws {
    var upload = try TusUpload.created(length: 20_000_000)
    try upload.patch()
    for round in 0..<20 {
      // Content for a locked upload is sent in vain.
      #expect(try upload.ask("PATCH").contentLength == (round == 0 ? 8_388_608 : 65_536))
      try upload.answer(409)
      _ = try upload.ask("HEAD")
      #expect(throws: TusError.locked) { try upload.answer(200, ["Upload-Offset": "8388608"]) }
      upload.interrupted(arrived: 0)
      try upload.locate(8_388_608)
    }
    #expect(try upload.patch() == 8_388_608..<8_454_144)
    #expect(try upload.patch().count == 8_388_608)
  }

  @Test(arguments: [400, 401, 403, 405, 412, 415, 429, 500, 502, 503, 504])
  func otherAnswersAreRefusalsAndTheUploadCanGoOn(status: Int) throws {
    var upload = try TusUpload.created()
    _ = try upload.ask("PATCH")
    #expect(throws: TusError.refused(method: "PATCH", status: status)) { try upload.answer(status) }
    upload.interrupted(arrived: 100)
    try upload.locate(7)
    #expect(try upload.ask("PATCH").fileRange == 7..<100)
  }

  // MARK: Too large (413)

  @Test func aPatchThatIsTooLargeIsHalvedFromTheServersOffset() throws {
    var upload = try TusUpload.created(length: 20_000_000)
    try upload.patch()
    _ = try upload.ask("PATCH")
    try upload.answer(413)
    try upload.locate(8_388_608)
    #expect(try upload.patch().count == 4_194_304)
    #expect(try upload.ask("PATCH").contentLength == 4_194_304)
  }

  @Test func aServerThatTakesNothingIsNotAskedForEver() throws {
    var upload = try TusUpload.created(length: gibibyte)
    var lengths: [Int64] = []
    #expect(throws: TusError.refused(method: "PATCH", status: 413)) {
      while lengths.count < 100 {
        lengths.append(try upload.ask("PATCH").contentLength)
        try upload.answer(413)
        try upload.locate(0)
      }
    }
    #expect(lengths.first == 8_388_608 && lengths.last == 65_536 && lengths.count == 8)
  }

  // MARK: Endless disagreement

  /// How many times a server may answer like this before the upload ends, and with what.
  private func disagreements(
    with answer: (inout TusUpload) throws -> Void
  ) throws -> (count: Int, error: TusError?) {
    var upload = try TusUpload.created(length: 20_000_000)
    for count in 1...100 {
      _ = try upload.ask("PATCH")
      do { try answer(&upload) } catch let error as TusError { return (count, error) }
      try upload.locate(0)
    }
    return (100, nil)
  }

  @Test func endlessDisagreementAboutTheOffsetEndsInAnError() throws {
    var upload = try TusUpload.created(length: 20_000_000)
    var count = 0
    // As if it were locked: it is asked again after a pause.
    #expect(throws: TusError.locked) {
      while count < 100 {
        count += 1
        let offset = try upload.ask("PATCH").fileOffset
        try upload.answer(409)
        // Another one than was refused, and never more than before.
        try upload.locate(offset == 0 ? 1 : 0)
      }
    }
    // The byte that it had at first was progress.
    #expect(count == 9)
  }

  @Test func anEndlessLackOfOffsetsEndsInAnError() throws {
    let outcome = try disagreements { try $0.answer(204, ["Tus-Resumable": "1.0.0"]) }
    #expect(outcome.count == 9 && outcome.error != nil)
  }

  @Test func aServerThatNeverTakesAnythingEndsInAnError() throws {
    let outcome = try disagreements { try $0.answer(204, ["Upload-Offset": "0"]) }
    #expect(outcome.count == 9 && outcome.error != nil)
  }

  @Test func anAgreementBetweenLetsDisagreementsBeginAnew() throws {
    var upload = try TusUpload.created(length: 10_000) { $0.chunkLength = 100 }
    for round in 0..<20 {
      for _ in 0..<8 {
        _ = try upload.ask("PATCH")
        try upload.answer(204, ["Tus-Resumable": "1.0.0"])
        try upload.locate(Int64(round) * 100)
      }
      try upload.patch()
    }
    #expect(upload.acknowledged == 2000)
  }

  /// It is slow, but it gets there: a server may take less than it was sent.
  @Test func aServerThatTakesALittleEachTimeGetsThere() throws {
    var upload = try TusUpload.created(length: 2000)
    for offset in stride(from: Int64(100), to: 2000, by: 100) {
      _ = try upload.ask("PATCH")
      try upload.answer(204, ["Upload-Offset": String(offset)])
    }
    try upload.patch()
    #expect(upload.next() == .complete)
  }

  /// Going back and forth is no progress.
  @Test func aServerThatLosesWhatItHadIsNotAskedForEver() throws {
    var upload = try TusUpload.created(length: 2000)
    var count = 0
    #expect(throws: TusError.self) {
      while count < 100 {
        count += 1
        _ = try upload.ask("PATCH")
        try upload.answer(409)
        try upload.locate(count % 2 == 0 ? 0 : 100)
      }
    }
    #expect(count < 25)
  }

  /// A proxy that has taken a request whole and then fails to pass it on has lost all of it.
  @Test(arguments: [500, 502, 503, 504])
  func aFailureOfTheServerIsAnInterruption(status: Int) throws {
    var upload = try TusUpload.created(length: 3 * gibibyte)
    while upload.acknowledged < 256 * mebibyte { try upload.patch() }
    #expect(try upload.ask("PATCH").contentLength == 16 * mebibyte)
    #expect(throws: TusError.refused(method: "PATCH", status: status)) { try upload.answer(status) }
    upload.interrupted(arrived: 16 * mebibyte)
    try upload.locate(256 * mebibyte)
    #expect(try upload.ask("PATCH").contentLength == 8 * mebibyte)
  }

  /// The dead request before it holds the lock for a while, and nobody reads the content of this one.
  @Test(
    arguments: [(423, 65_536), (401, 3 * gibibyte - 5 * mebibyte), (429, 3 * gibibyte - 5 * mebibyte)] as [(Int, Int64)]
  )
  func aRefusalOfTheHeadDoesNotMakeAStreamingServerASpoolingOne(status: Int, next: Int64) throws {
    var upload = try TusUpload.created(length: 3 * gibibyte)
    _ = try upload.ask("PATCH")
    upload.interrupted(arrived: 5 * mebibyte)
    try upload.locate(5 * mebibyte)
    #expect(try upload.ask("PATCH").contentLength == 3 * gibibyte - 5 * mebibyte)
    #expect(throws: TusError.self) { try upload.answer(status) }
    upload.interrupted(arrived: 2 * mebibyte)
    try upload.locate(5 * mebibyte)
    // A lock is waited for with little.
    #expect(try upload.patch().count == next)
    if upload.acknowledged < 3 * gibibyte {
      #expect(try upload.ask("PATCH").contentLength == 3 * gibibyte - 5 * mebibyte - next)
    }
  }

  // MARK: Interruptions

  @Test(arguments: [0, 1, 4_000_000, 8_388_608] as [Int64])
  func anInterruptionIsFollowedByTheServersOffset(offset: Int64) throws {
    var upload = try TusUpload.created(length: 20_000_000)
    _ = try upload.ask("PATCH")
    upload.interrupted(arrived: offset)
    #expect(upload.acknowledged == 0)
    try upload.locate(offset)
    #expect(try upload.ask("PATCH").fileOffset == offset)
  }

  @Test func theQuestionForTheOffsetCanBeInterruptedToo() throws {
    var upload = try TusUpload.created(length: 3 * gibibyte)
    _ = try upload.ask("PATCH")
    upload.interrupted(arrived: 5 * mebibyte)
    _ = try upload.ask("HEAD")
    upload.interrupted(arrived: 0)
    try upload.locate(5 * mebibyte)
    // What the first interruption taught is not forgotten: this server keeps parts.
    #expect(try upload.ask("PATCH").fileRange == (5 * mebibyte)..<(3 * gibibyte))
  }

  @Test func aServerThatLostAPatchGetsShortOnes() throws {
    var upload = try TusUpload.created(length: 3 * gibibyte)
    _ = try upload.ask("PATCH")
    upload.interrupted(arrived: 5 * mebibyte)
    try upload.locate(0)
    #expect(try upload.ask("PATCH").contentLength == 8 * mebibyte)
  }

  @Test func interruptionsBeforeAnythingIsSentChangeNothing() throws {
    var upload = try TusUpload.beginning()
    upload.interrupted(arrived: 0)
    _ = try upload.ask("OPTIONS")
    upload.interrupted(arrived: 0)
    _ = try upload.ask("OPTIONS")
    try upload.answer(204, plainOffer)
    upload.interrupted(arrived: 0)
    _ = try upload.ask("POST")
    upload.interrupted(arrived: 0)
    _ = try upload.ask("POST")
  }

  @Test func aWholeUploadStaysWhole() throws {
    var upload = try TusUpload.created()
    try upload.patch()
    upload.interrupted(arrived: 0)
    #expect(upload.next() == .complete)
  }
}
