import Testing
import UploadCore

/// Two PATCH requests in flight, over a distance (RFC 9112, 9.3.2): see also ``PipelinedUploadTests``.
struct TusPipeliningTests {
  /// Over 100 ms.
  private func distant(length: Int64 = 64 * mebibyte) throws -> TusUpload {
    try TusUpload.created(length: length, afterMilliseconds: 100)
  }

  /// An upload with its first two requests in flight.
  private func twoInFlight() throws -> TusUpload {
    var upload = try distant()
    _ = try upload.ask("PATCH")
    _ = try upload.ask("PATCH")
    return upload
  }

  // MARK: When

  @Test func overADistanceASecondPatchGoesOutBeforeTheFirstIsAnsweredAndNoThird() throws {
    var upload = try distant()
    #expect(try upload.ask("PATCH").fileRange == 0..<(4 * mebibyte))
    let second = try upload.ask("PATCH")
    #expect(second.fileRange == (4 * mebibyte)..<(8 * mebibyte))
    #expect(second.value("Upload-Offset") == "4194304")
    #expect(upload.next() == .await && upload.awaitsStored)
    try upload.answer(204, ["Upload-Offset": "4194304"], afterMilliseconds: 100)
    #expect(upload.confirmed == 4_194_304)
    #expect(try upload.ask("PATCH").fileRange == (8 * mebibyte)..<(12 * mebibyte))
    #expect(upload.next() == .await)
  }

  /// 100 MiB at 100 Mbit/s over 100 ms take 8389 ms to send. Sequential requests would take half as long again.
  @Test func overADistanceTheLineIsNeverIdle() throws {
    var upload = try distant(length: 100 * mebibyte)
    var milliseconds = 0.0
    var answers: [(at: Double, offset: Int64)] = []
    while !answers.isEmpty || upload.confirmed < 100 * mebibyte {
      if case .ask(let request) = upload.next() {
        milliseconds += Double(request.contentLength) / 12_500
        answers.append((milliseconds + 100, request.fileRange.upperBound))
      } else {
        let (at, offset) = answers.removeFirst()
        milliseconds = max(milliseconds, at)
        try upload.answer(204, ["Upload-Offset": String(offset)], afterMilliseconds: 100)
      }
    }
    #expect(milliseconds < 1.05 * 8389)
  }

  @Test func aServerThatChecksEachPatchGetsOneAfterTheOther() throws {
    var upload = try TusUpload.created(
      length: 64 * mebibyte, offer: ["Tus-Version": "1.0.0", "Tus-Extension": "creation,checksum"],
      afterMilliseconds: 100)
    guard case .checksumOfNextPatch(_, _, let length) = upload.next() else { throw TusConversationError.noRequest }
    upload.setChecksum(ofNextPatch: "qvTGHdzF6KLavt4PO0gs2a6pQ00=")
    #expect(try upload.ask("PATCH").contentLength == length)
    #expect(upload.next() == .await)
    // The length is not halved if nothing is pipelined.
    #expect(length == 8 * mebibyte)
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

  /// The length is sent once (tus 1.0.0, "Upload-Length"): tusd refuses it a second time.
  @Test func aDeferredLengthIsSentOnlyByTheFirstPatch() throws {
    var upload = try TusUpload.created(
      length: 64 * mebibyte, offer: ["Tus-Version": "1.0.0", "Tus-Extension": "creation,creation-defer-length"],
      afterMilliseconds: 100
    ) { $0.defersLength = true }
    #expect(try upload.ask("PATCH").value("Upload-Length") == String(64 * mebibyte))
    #expect(try upload.ask("PATCH").value("Upload-Length") == nil)
  }

  // MARK: The connection breaks

  /// The offset of the server, and where the upload continues.
  @Test(arguments: [0, 1, 4_194_303, 4_194_304, 4_194_305, 8_388_607, 8_388_608] as [Int64])
  func aBreakUnderBothContinuesFromTheServersOffset(offset: Int64) throws {
    var upload = try twoInFlight()
    upload.interrupted(arrived: offset)
    try upload.locate(offset)
    #expect(upload.confirmed == offset)
    let request = try upload.ask("PATCH")
    #expect(request.fileOffset == offset)
    #expect(request.value("Upload-Offset") == String(offset))
  }

  /// One may be an accident. After two, an intermediary may not support pipelining.
  @Test(arguments: [1, 2])
  func twoBreaksUnderBothEndTheOverlapping(breaks: Int) throws {
    var upload = try distant()
    for _ in 0..<breaks {
      #expect(try upload.ask("PATCH").fileRange == 0..<(4 * mebibyte))
      _ = try upload.ask("PATCH")
      upload.interrupted(arrived: 0)
      try upload.locate(0, afterMilliseconds: 100)
    }
    #expect(try upload.ask("PATCH").fileRange == 0..<((breaks == 1 ? 4 : 8) * mebibyte))
    #expect((upload.next() == .await) == (breaks == 2))
  }

  @Test func anOverlapThatIsAnsweredMakesEarlierBreaksForgotten() throws {
    var upload = try distant()
    for _ in 0..<5 {
      let start = try upload.ask("PATCH").fileOffset
      _ = try upload.ask("PATCH")
      try upload.answer(204, ["Upload-Offset": String(start + 4 * mebibyte)], afterMilliseconds: 100)
      try upload.answer(204, ["Upload-Offset": String(start + 8 * mebibyte)], afterMilliseconds: 100)
      _ = try upload.ask("PATCH")
      try upload.loseConnection()
      try upload.locate(start + 8 * mebibyte, afterMilliseconds: 100)
    }
    _ = try upload.ask("PATCH")
    #expect(try upload.ask("PATCH").contentLength == 4 * mebibyte)
  }

  @Test func breaksUnderOneDoNotEndTheOverlapping() throws {
    var upload = try distant()
    for _ in 0..<4 {
      try upload.loseConnection()
      try upload.locate(0, afterMilliseconds: 100)
    }
    _ = try upload.ask("PATCH")
    #expect(try upload.ask("PATCH").fileRange == (4 * mebibyte)..<(8 * mebibyte))
  }

  @Test func aBreakAfterTheFirstResponseTruncatesOnlyTheSecond() throws {
    var upload = try twoInFlight()
    try upload.answer(204, ["Upload-Offset": "4194304"], afterMilliseconds: 100)
    upload.interrupted(arrived: 1000)
    try upload.locate(4_195_304)
    // It keeps parts: one long request is best.
    #expect(try upload.ask("PATCH").fileRange == 4_195_304..<(64 * mebibyte))
  }
}
