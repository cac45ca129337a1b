import Testing
import UploadCore

/// Two PATCH requests under way at once, over a distance (RFC 9112, 9.3.2).
struct TusPipeliningTests {
  /// Over 100 ms.
  private func distant(length: Int64 = 64 * mebibyte) throws -> TusUpload {
    try TusUpload.created(length: length, afterMilliseconds: 100)
  }

  // MARK: When

  @Test func overADistanceASecondPatchGoesOutBeforeTheFirstIsAnswered() throws {
    var upload = try distant()
    #expect(try upload.ask("PATCH").fileRange == 0..<(4 * mebibyte))
    let second = try upload.ask("PATCH")
    #expect(second.fileRange == (4 * mebibyte)..<(8 * mebibyte))
    #expect(second.value("Upload-Offset") == "4194304")
  }

  @Test func noThirdPatchGoesOutBeforeTheFirstIsAnswered() throws {
    var upload = try distant()
    _ = try upload.ask("PATCH")
    _ = try upload.ask("PATCH")
    #expect(upload.next() == .await)
    try upload.answer(204, ["Upload-Offset": "4194304"], afterMilliseconds: 100)
    #expect(upload.acknowledged == 4_194_304)
    #expect(try upload.ask("PATCH").fileRange == (8 * mebibyte)..<(12 * mebibyte))
    #expect(upload.next() == .await)
  }

  @Test(arguments: [(19, false), (20, true)] as [(Int64, Bool)])
  func nearbyTheLineIsNotIdleLongEnoughToMatter(milliseconds: Int64, pipelines: Bool) throws {
    var upload = try TusUpload.created(length: 64 * mebibyte, afterMilliseconds: milliseconds)
    #expect(try upload.ask("PATCH").contentLength == (pipelines ? 4 : 8) * mebibyte)
    #expect((upload.next() != .await) == pipelines)
  }

  @Test func aServerThatChecksEachPatchGetsOneAfterTheOther() throws {
    var upload = try TusUpload.created(
      length: 64 * mebibyte, offer: ["Tus-Version": "1.0.0", "Tus-Extension": "creation,checksum"],
      afterMilliseconds: 100)
    guard case .checksum(_, _, let length) = upload.next() else { throw TusConversationError.noRequest }
    upload.setChecksum("qvTGHdzF6KLavt4PO0gs2a6pQ00=")
    #expect(try upload.ask("PATCH").contentLength == length)
    #expect(upload.next() == .await)
    // Nothing is halved for an overlap that does not happen.
    #expect(length == 8 * mebibyte)
  }

  @Test func aChosenLengthIsKept() throws {
    var upload = try TusUpload.created(length: 64 * mebibyte, afterMilliseconds: 100) { $0.chunkLength = 5_000_000 }
    #expect(try upload.ask("PATCH").contentLength == 5_000_000)
    #expect(upload.next() == .await)
  }

  @Test func behindTheLastByteNothingFollows() throws {
    var upload = try distant(length: 6 * mebibyte)
    #expect(try upload.ask("PATCH").fileRange == 0..<(4 * mebibyte))
    #expect(try upload.ask("PATCH").fileRange == (4 * mebibyte)..<(6 * mebibyte))
    try upload.answer(204, ["Upload-Offset": "4194304"], afterMilliseconds: 100)
    #expect(upload.next() == .await)
    try upload.answer(204, ["Upload-Offset": "6291456"], afterMilliseconds: 100)
    #expect(upload.next() == .complete)
  }

  /// The length is told once (tus 1.0.0, "Upload-Length"): tusd refuses a second time.
  @Test func aLengthThatIsToldLateIsToldByTheFirstPatchAlone() throws {
    var upload = try TusUpload.created(
      length: 64 * mebibyte, offer: ["Tus-Version": "1.0.0", "Tus-Extension": "creation,creation-defer-length"],
      afterMilliseconds: 100
    ) { $0.defersLength = true }
    #expect(try upload.ask("PATCH").value("Upload-Length") == "67108864")
    if case .ask(let second) = upload.next() { #expect(second.value("Upload-Length") == nil) }
  }

  @Test func aShortFileWhoseLengthIsToldLateIsSentOnce() throws {
    var upload = try TusUpload.created(
      offer: ["Tus-Version": "1.0.0", "Tus-Extension": "creation,creation-defer-length"], afterMilliseconds: 100
    ) { $0.defersLength = true }
    #expect(try upload.ask("PATCH").fileRange == 0..<100)
    #expect(upload.next() == .await)
    try upload.answer(204, ["Upload-Offset": "100"], afterMilliseconds: 100)
    #expect(upload.next() == .complete)
  }

  // MARK: The connection breaks

  /// Where the server is when it is asked, and what the client goes on with.
  @Test(arguments: [0, 1, 4_194_303, 4_194_304, 4_194_305, 8_388_607, 8_388_608] as [Int64])
  func aBreakUnderBothGoesOnFromTheServersOffset(offset: Int64) throws {
    var upload = try distant()
    _ = try upload.ask("PATCH")
    _ = try upload.ask("PATCH")
    upload.interrupted(arrived: offset)
    try upload.locate(offset)
    #expect(upload.acknowledged == offset)
    let request = try upload.ask("PATCH")
    #expect(request.fileOffset == offset)
    #expect(request.value("Upload-Offset") == String(offset))
  }

  /// One can be an accident. Two, and something between may not like it.
  @Test func twoBreaksUnderBothEndTheOverlapping() throws {
    var upload = try distant()
    for _ in 0..<2 {
      #expect(try upload.ask("PATCH").fileRange == 0..<(4 * mebibyte))
      _ = try upload.ask("PATCH")
      upload.interrupted(arrived: 0)
      _ = try upload.ask("HEAD")
      try upload.answer(200, ["Upload-Offset": "0"], afterMilliseconds: 100)
    }
    #expect(try upload.ask("PATCH").fileRange == 0..<(8 * mebibyte))
    #expect(upload.next() == .await)
  }

  @Test func anOverlapThatIsAnsweredMakesEarlierBreaksForgotten() throws {
    var upload = try distant()
    for _ in 0..<5 {
      let start = try upload.ask("PATCH").fileOffset
      _ = try upload.ask("PATCH")
      try upload.answer(204, ["Upload-Offset": String(start + 4 * mebibyte)], afterMilliseconds: 100)
      try upload.answer(204, ["Upload-Offset": String(start + 8 * mebibyte)], afterMilliseconds: 100)
      _ = try upload.ask("PATCH")
      _ = try upload.ask("PATCH")
      upload.interrupted(arrived: 0)
      _ = try upload.ask("HEAD")
      try upload.answer(200, ["Upload-Offset": String(start + 8 * mebibyte)], afterMilliseconds: 100)
    }
    _ = try upload.ask("PATCH")
    #expect(try upload.ask("PATCH").contentLength == 4 * mebibyte)
  }

  @Test func breaksUnderOneDoNotEndTheOverlapping() throws {
    var upload = try distant()
    for _ in 0..<4 {
      _ = try upload.ask("PATCH")
      upload.interrupted(arrived: 0)
      _ = try upload.ask("HEAD")
      try upload.answer(200, ["Upload-Offset": "0"], afterMilliseconds: 100)
    }
    _ = try upload.ask("PATCH")
    #expect(try upload.ask("PATCH").fileRange == (4 * mebibyte)..<(8 * mebibyte))
  }

  @Test func aBreakBehindTheFirstAnswerCutsTheSecondAlone() throws {
    var upload = try distant()
    _ = try upload.ask("PATCH")
    _ = try upload.ask("PATCH")
    try upload.answer(204, ["Upload-Offset": "4194304"], afterMilliseconds: 100)
    upload.interrupted(arrived: 1000)
    try upload.locate(4_195_304)
    // It keeps parts: one long request is best.
    #expect(try upload.ask("PATCH").fileRange == 4_195_304..<(64 * mebibyte))
  }

  // MARK: The first answer is not the expected one

  /// What is said of the second means nothing then: it began where the server never was.
  @Test(arguments: [204, 409, 413])
  func behindADisagreementTheSecondAnswerIsNotWaitedFor(status: Int) throws {
    var upload = try distant()
    _ = try upload.ask("PATCH")
    #expect(upload.awaitsStored)
    _ = try upload.ask("PATCH")
    try upload.answer(status, ["Tus-Resumable": "1.0.0"], afterMilliseconds: 100)
    #expect(!upload.awaitsStored)
    try upload.locate(777)
    #expect(upload.acknowledged == 777)
    #expect(try upload.ask("PATCH").fileOffset == 777)
  }

  @Test(arguments: [404, 410])
  func behindALossTheSecondAnswerIsNotWaitedFor(status: Int) throws {
    var upload = try distant()
    _ = try upload.ask("PATCH")
    _ = try upload.ask("PATCH")
    try upload.answer(status, ["Tus-Resumable": "1.0.0"])
    #expect(!upload.awaitsStored && upload.next() == .gone)
  }

  @Test func aGoodFirstAnswerLetsTheSecondCount() throws {
    var upload = try distant()
    _ = try upload.ask("PATCH")
    _ = try upload.ask("PATCH")
    try upload.answer(204, ["Upload-Offset": "4194304"], afterMilliseconds: 100)
    #expect(upload.awaitsStored)
    try upload.answer(204, ["Upload-Offset": "8388608"], afterMilliseconds: 100)
    #expect(!upload.awaitsStored && upload.acknowledged == 8_388_608)
  }

  @Test(arguments: [423, 500, 503])
  func aRefusedFirstRequestTakesTheSecondWithIt(status: Int) throws {
    var upload = try distant()
    _ = try upload.ask("PATCH")
    _ = try upload.ask("PATCH")
    #expect(throws: TusError.self) { try upload.answer(status) }
    upload.interrupted(arrived: 5 * mebibyte)
    try upload.locate(0)
    #expect(try upload.ask("PATCH").fileOffset == 0)
  }
}
