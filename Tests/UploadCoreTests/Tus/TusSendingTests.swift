import Testing
import UploadCore

/// Sequential PATCH requests, the responses of servers, and interruptions.
struct TusSendingTests {
  // MARK: Sending

  @Test func aFileIsSentInRangesThatFollowEachOther() throws {
    var upload = try TusUpload.created(length: 20_000_000)
    let first = try upload.ask("PATCH")
    #expect(first.target.text == sampleLocation && first.fileRange == 0..<8_388_608)
    #expect(
      first.fields == [
        Field("Tus-Resumable", "1.0.0"), Field("Content-Type", "application/offset+octet-stream"),
        Field("Upload-Offset", "0"),
      ])
    #expect(upload.next() == .await && upload.next() == .await)
    try upload.answer(204, ["Upload-Offset": "8388608"])
    #expect(try upload.patch() == 8_388_608..<16_777_216)
    #expect(upload.confirmed == 16_777_216)
    #expect(try upload.patch() == 16_777_216..<20_000_000)
    #expect(upload.next() == .complete && upload.confirmed == 20_000_000)
    // And stays so.
    upload.interrupted(arrived: 0)
    #expect(upload.next() == .complete)
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

  // MARK: Checksums

  @Test(arguments: [("sha1,sha256", .sha256), ("sha1", .sha1)] as [(String, TusCapabilities.ChecksumAlgorithm)])
  func aServerThatChecksGetsTheChecksumOfEachPatch(
    algorithms: String, best: TusCapabilities.ChecksumAlgorithm
  ) throws {
    var upload = try TusUpload.created(
      length: 20_000_000,
      offer: ["Tus-Version": "1.0.0", "Tus-Extension": "creation,checksum", "Tus-Checksum-Algorithm": algorithms])
    let question = TusUpload.Step.checksumOfNextPatch(best, offset: 0, length: 8_388_608)
    #expect(upload.next() == question && upload.next() == question)
    upload.setChecksum(ofNextPatch: "ungWv48B")
    let request = try upload.ask("PATCH")
    #expect(request.value("Upload-Checksum") == best.rawValue + " ungWv48B" && request.fileRange == 0..<8_388_608)
    try upload.answer(204, ["Upload-Offset": "8388608"])
    // It is for one request alone.
    let next = TusUpload.Step.checksumOfNextPatch(best, offset: 8_388_608, length: 8_388_608)
    #expect(upload.next() == next)
    upload.setChecksum(ofNextPatch: "AAAA")
    try upload.loseConnection()
    try upload.locate(8_388_608)
    #expect(upload.next() == next)
  }

  // MARK: Answers

  @Test func whereTheServerDisagreesItsOffsetCounts() throws {
    var upload = try TusUpload.created()
    try upload.ask("PATCH", 409)
    #expect(upload.state == .locating(try TargetURI(sampleLocation)))
    try upload.locate(40)
    #expect(try upload.ask("PATCH").fileRange == 40..<100)
  }

  @Test(arguments: [404, 410])
  func aServerThatForgotTheUploadGetsAnotherOne(status: Int) throws {
    var upload = try TusUpload.created()
    try upload.ask("PATCH", status, ["Tus-Resumable": "1.0.0"])
    #expect(upload.next() == .gone)
    upload.restart()
    try upload.ask("POST", 201, ["Location": "/files/2"])
    #expect(try upload.patch() == 0..<100)
  }

  @Test(arguments: ["", "no", "-8", "99999999999999999999", "100x"])
  func anAnswerWithoutAnOffsetIsFollowedByTheQuestion(text: String) throws {
    var upload = try TusUpload.created()
    try upload.ask("PATCH", 204, ["Upload-Offset": text, "Tus-Resumable": "1.0.0"])
    try upload.locate(100)
    #expect(upload.next() == .complete)
  }

  @Test(arguments: [8_388_609, 20_000_000, .max] as [Int64])
  func moreThanWasSentIsAbsurd(offset: Int64) throws {
    var upload = try TusUpload.created(length: 20_000_000)
    #expect(throws: TusError.offsetBeyond(sent: 8_388_608, acknowledged: offset)) {
      try upload.ask("PATCH", 204, ["Upload-Offset": String(offset)])
    }
  }

  /// If the server is at the refused offset, it did not refuse because of the offset.
  @Test func aConflictAboutTheServersOwnOffsetIsALock() throws {
    var upload = try TusUpload.created(length: 20_000_000)
    try upload.patch()
    for round in 0..<20 {
      // Content sent to a locked upload is wasted.
      #expect(try upload.ask("PATCH").contentLength == (round == 0 ? 8_388_608 : 262_144))
      try upload.answer(409)
      #expect(throws: TusError.locked) { try upload.locate(8_388_608) }
      upload.interrupted(arrived: 0)
      try upload.locate(8_388_608)
    }
    #expect(try upload.patch() == 8_388_608..<8_650_752)
    #expect(try upload.patch().count == 8_388_608)
  }

  @Test(arguments: [400, 401, 412, 415, 429, 500, 502, 503, 504])
  func otherAnswersAreRefusalsAndTheUploadCanContinue(status: Int) throws {
    var upload = try TusUpload.created()
    #expect(throws: TusError.refused(method: "PATCH", status: status)) { try upload.ask("PATCH", status) }
    upload.interrupted(arrived: 100)
    try upload.locate(7)
    #expect(try upload.ask("PATCH").fileRange == 7..<100)
  }

  // MARK: Too large (413)

  @Test func aPatchThatIsTooLargeIsHalvedFromTheServersOffset() throws {
    var upload = try TusUpload.created(length: 20_000_000)
    try upload.patch()
    try upload.ask("PATCH", 413)
    try upload.locate(8_388_608)
    #expect(try upload.patch().count == 4_194_304)
    #expect(try upload.ask("PATCH").contentLength == 4_194_304)
  }

  @Test func aServerThatTakesNothingIsNotAskedForever() throws {
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

  /// A file of 4 MB took 5 GB.
  @Test func aServerThatKeepsAByteOfEachRequestEndsInAnError() throws {
    var upload = try TusUpload.created(length: 4_000_000)
    var sent: Int64 = 0
    #expect(throws: TusError.nothingStored(offset: 9)) {
      for offset in 1...100 {
        sent += try upload.ask("PATCH").contentLength
        try upload.answer(204, ["Upload-Offset": String(offset)])
      }
    }
    #expect(sent < 40_000_000 && upload.progress == 0)
  }

  /// A sixteenth is progress, and so is any part of a request that was answered before its end.
  @Test func aServerThatKeepsAFairPartOfEachRequestIsSentTheRest() throws {
    var upload = try TusUpload.created(length: 1600)
    for offset in stride(from: Int64(100), to: 1600, by: 100) {
      _ = try upload.ask("PATCH")
      try upload.answer(204, ["Upload-Offset": String(offset)])
    }
    var early = try TusUpload.created(length: 1600)
    for offset in 1..<100 {
      _ = try early.ask("PATCH")
      try early.receive(
        status: 204, fields: [Field("Upload-Offset", String(offset))], sent: .partial, afterMilliseconds: 0)
    }
    #expect(upload.progress == 1500 && early.progress == 99)
  }

  @Test(arguments: [["Tus-Resumable": "1.0.0"], ["Upload-Offset": "0"]] as [KeyValuePairs<String, String>])
  func aServerThatNeverTakesAnythingEndsInAnError(fields: KeyValuePairs<String, String>) throws {
    var upload = try TusUpload.created(length: 20_000_000)
    var count = 0
    #expect(throws: TusError.nothingStored(offset: 0)) {
      while count < 100 {
        count += 1
        try upload.ask("PATCH", 204, fields)
        try upload.locate(0)
      }
    }
    #expect(count == 9)
  }

  /// The offset differs from the refused one, and never grows: the client asks again after a delay, as for a lock. Going back and
  /// forth is not progress.
  @Test(arguments: [1, 100] as [Int64])
  func endlessDisagreementAboutTheOffsetEndsInAnError(ahead: Int64) throws {
    var upload = try TusUpload.created(length: 20_000_000)
    var count = 0
    #expect(throws: TusError.locked) {
      while count < 100 {
        count += 1
        let offset = try upload.ask("PATCH").fileOffset
        try upload.answer(409)
        try upload.locate(offset == 0 ? ahead : 0)
      }
    }
    // The first offset counts as progress.
    #expect(count == 9)
  }

  @Test func anAgreementBetweenLetsDisagreementsBeginAgain() throws {
    var upload = try TusUpload.created(length: 10_000) { $0.chunkLength = 100 }
    for round in 0..<20 {
      for _ in 0..<8 {
        try upload.ask("PATCH", 204, ["Tus-Resumable": "1.0.0"])
        try upload.locate(Int64(round) * 100)
      }
      try upload.patch()
    }
    #expect(upload.confirmed == 2000)
  }

  /// It is slow, but makes progress: a server may accept less than was sent.
  @Test func aServerThatTakesALittleEachTimeGetsThere() throws {
    var upload = try TusUpload.created(length: 2000)
    for offset in stride(from: Int64(100), to: 2000, by: 100) {
      try upload.ask("PATCH", 204, ["Upload-Offset": String(offset)])
    }
    try upload.patch()
    #expect(upload.next() == .complete)
  }

  // MARK: Learning from interruptions

  /// A proxy that has spooled a request and then fails to forward it has lost all of it.
  @Test(arguments: [500, 502, 503, 504])
  func aFailureOfTheServerIsAnInterruption(status: Int) throws {
    var upload = try TusUpload.created(length: 3 * gibibyte)
    while upload.confirmed < 256 * mebibyte { try upload.patch() }
    #expect(try upload.ask("PATCH").contentLength == 16 * mebibyte)
    #expect(throws: TusError.refused(method: "PATCH", status: status)) { try upload.answer(status) }
    upload.interrupted(arrived: 16 * mebibyte)
    try upload.locate(256 * mebibyte)
    #expect(try upload.ask("PATCH").contentLength == 8 * mebibyte)
  }

  /// The interrupted request keeps the lock for a while, and the content of this one is not read.
  @Test(
    arguments: [(423, 262_144), (401, 3 * gibibyte - 5 * mebibyte), (429, 3 * gibibyte - 5 * mebibyte)]
      as [(Int, Int64)]
  )
  func aRefusalOfTheHeadDoesNotMakeAStreamingServerASpoolingOne(status: Int, next: Int64) throws {
    var upload = try TusUpload.created(length: 3 * gibibyte)
    try upload.loseConnection(arrived: 5 * mebibyte)
    try upload.locate(5 * mebibyte)
    #expect(try upload.ask("PATCH").contentLength == 3 * gibibyte - 5 * mebibyte)
    #expect(throws: TusError.self) { try upload.answer(status) }
    upload.interrupted(arrived: 2 * mebibyte)
    try upload.locate(5 * mebibyte)
    // While the upload is locked, requests are short.
    #expect(try upload.patch().count == next)
    if upload.confirmed < 3 * gibibyte {
      #expect(try upload.ask("PATCH").contentLength == 3 * gibibyte - 5 * mebibyte - next)
    }
  }

  @Test(arguments: [(0, 8_388_608), (5 * mebibyte, 3 * gibibyte - 5 * mebibyte)] as [(Int64, Int64)])
  func aServerThatKeepsPartsGetsAllThatIsLeftAndAnotherShortRequests(kept: Int64, next: Int64) throws {
    var upload = try TusUpload.created(length: 3 * gibibyte)
    try upload.loseConnection(arrived: 5 * mebibyte)
    // What was learned is kept if the HEAD is interrupted, too.
    _ = try upload.ask("HEAD")
    upload.interrupted(arrived: 0)
    #expect(upload.confirmed == 0)
    try upload.locate(kept)
    #expect(try upload.ask("PATCH").fileRange == kept..<kept + next)
  }

  @Test func interruptionsBeforeAnythingIsSentChangeNothing() throws {
    var upload = try TusUpload.beginning()
    upload.interrupted(arrived: 0)
    _ = try upload.ask("OPTIONS")
    upload.interrupted(arrived: 0)
    try upload.ask("OPTIONS", 204, plainOffer)
    upload.interrupted(arrived: 0)
    _ = try upload.ask("POST")
    upload.interrupted(arrived: 0)
    _ = try upload.ask("POST")
  }
}
