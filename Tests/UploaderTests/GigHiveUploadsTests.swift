import Testing

@testable import Uploader

/// Large recordings on their way to GigHive: by tus and the finalize call, or by a form.
struct GigHiveUploadsTests {
  private func lines(_ requests: [LoopbackServer.Request]) -> [String] { requests.map { $0.line } }

  @Test func aRecordingIsMadeOfTheFinishedUpload() throws {
    let bench = UploadBench(length: 300_000)
    let server = LoopbackServer([
      [TusScript.offer(), TusScript.created, TusScript.took(300_000), TusScript.recorded(bench.content)]
    ])
    let delivery = try bench.upload(try bench.gigHive(server))[0]
    #expect(delivery.receipt.assetID == 7 && delivery.receipt.isChecksumVerified)
    #expect(delivery.file.sha256 == sha256(bench.content))
    let last = try #require(server.finish().last)
    #expect(last.line == "POST /api/uploads/finalize" && last.value("Content-Type") == "application/json")
    let json = try JSONReader.read(last.body)
    #expect(json["upload_id"]?.string == "1" && json["label"]?.string == "Set 1")
    #expect(json["event_date"]?.string == "2026-11-20")
  }

  @Test func afterAnInterruptionTheDigestIsStillThatOfTheWholeFile() throws {
    let bench = UploadBench(length: 3_000_000)
    let server = LoopbackServer([
      [TusScript.offer(), TusScript.created, .interrupt(afterBody: 2_000_000)],
      [TusScript.located(1_234_567, of: 3_000_000), TusScript.took(3_000_000), TusScript.recorded(bench.content)],
    ])
    let delivery = try bench.upload(try bench.gigHive(server))[0]
    #expect(delivery.file.sha256 == sha256(bench.content) && delivery.receipt.isChecksumVerified)
    _ = server.finish()
  }

  /// By another process: its digest has seen nothing of the first part.
  @Test(arguments: [1, 1_234_567, 2_999_999, 3_000_000])
  func anUploadThatAnotherProcessBeganIsGoneOnWithAndItsDigestIsThatOfTheWholeFile(kept: Int) throws {
    let bench = UploadBench(length: 3_000_000, keepsRecords: true)
    bench.configuration.retries = 0
    let rest = kept < 3_000_000 ? [TusScript.took(3_000_000)] : []
    let server = LoopbackServer([
      [TusScript.offer(), TusScript.created, .answer(TusScript.refusal(503))],
      [TusScript.offer(), TusScript.located(kept, of: 3_000_000)] + rest + [TusScript.recorded(bench.content)],
    ])
    #expect(throws: UploadError.refused(status: 503, message: "no")) { try bench.upload(try bench.gigHive(server)) }
    let interrupted = try bench.records()
    #expect(interrupted.map { $0.phase } == [.pending])
    #expect(interrupted.first?.uploadURL == server.url + "files/1")
    let delivery = try bench.upload(try bench.gigHive(server))[0]
    #expect(delivery.file.sha256 == sha256(bench.content) && delivery.receipt.isChecksumVerified)
    let requests = server.finish()
    #expect(requests[4].line == "HEAD /files/1")
    if kept < 3_000_000 { #expect(sha256(requests[5].body) == sha256(Array(bench.content[kept...]))) }
    let delivered = try bench.records()
    #expect(delivered.map { $0.phase } == [.delivered] && delivered.first?.assetID == 7)
    #expect(delivered.first?.id == interrupted.first?.id && delivered.first?.id == delivery.upload)
  }

  @Test func aServerThatSpeaksNoTusGetsAForm() throws {
    let bench = UploadBench(length: 300)
    let server = LoopbackServer([[.answer(TusScript.refusal(404)), TusScript.recorded(bench.content)]])
    var request = try bench.gigHive(server)
    request.uploadProtocol = .automatic
    request.tusThreshold = 300
    let delivery = try bench.upload(request)[0]
    #expect(delivery.receipt.isChecksumVerified)
    #expect(lines(server.finish()) == ["OPTIONS /files/", "POST /api/uploads.php?ui=json"])
  }

  @Test(arguments: [408, 423, 429, 407])
  func aServerThatCannotAnswerForNowIsNotTakenForOneWithoutTus(status: Int) throws {
    let bench = UploadBench(length: 300)
    bench.configuration.retries = 0
    let server = LoopbackServer([[.answer(TusScript.refusal(status))]])
    var request = try bench.gigHive(server)
    request.uploadProtocol = .automatic
    request.tusThreshold = 300
    #expect(throws: UploadError.refused(status: status, message: "no")) { try bench.upload(request) }
    #expect(lines(server.finish()) == ["OPTIONS /files/"])
  }

  /// GigHive may have made the recording although its answer was replaced on the way, and have removed the upload.
  @Test func whatWasUploadedIsLookedForAmongTheRecordingsBeforeItIsSentAgain() throws {
    let bench = UploadBench(length: 300, keepsRecords: true)
    let gone = LoopbackServer.Action.answer("HTTP/1.1 404 Not Found\r\n\(TusScript.proof)Content-Length: 0\r\n\r\n")
    let portal = LoopbackServer.Action.answer("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n<html>")
    let server = LoopbackServer([
      [TusScript.offer(), TusScript.created, TusScript.took(300), portal],
      [TusScript.offer(), gone, TusScript.recorded(bench.content)],
    ])
    #expect(throws: UploadError.unconfirmed(status: 200)) { try bench.upload(try bench.gigHive(server)) }
    #expect(try bench.records().map { $0.phase } == [.failed])
    #expect(try bench.upload(try bench.gigHive(server))[0].receipt.isChecksumVerified)
    let again = ["OPTIONS /files/", "HEAD /files/1", "POST /api/uploads/finalize"]
    #expect(lines(server.finish()).suffix(3) == again[...])
  }

  @Test func aFormThatIsAskedForTakesThePlaceOfAnInterruptedUpload() throws {
    let bench = UploadBench(length: 300, keepsRecords: true)
    bench.configuration.retries = 0
    let server = LoopbackServer([
      [TusScript.offer(), TusScript.created, .answer(TusScript.refusal(503))], [TusScript.recorded(bench.content)],
    ])
    #expect(throws: UploadError.self) { try bench.upload(try bench.gigHive(server)) }
    var request = try bench.gigHive(server)
    request.uploadProtocol = .multipart
    try bench.upload(request)
    #expect(lines(server.finish()).last == "POST /api/uploads.php?ui=json")
    #expect(try bench.records().map { $0.uploadURL } == [nil])
  }

  @Test func aShortRecordingGoesAsAFormAtOnce() throws {
    let bench = UploadBench(length: 300)
    let server = LoopbackServer([[TusScript.recorded(bench.content)]])
    var request = try bench.gigHive(server)
    request.uploadProtocol = .automatic
    request.tusThreshold = 301
    try bench.upload(request)
    #expect(lines(server.finish()) == ["POST /api/uploads.php?ui=json"])
  }

  @Test func aServerThatStoredSomethingElseIsNotBelieved() throws {
    let bench = UploadBench(length: 300, keepsRecords: true)
    let other = recording(300).reversed() as [UInt8]
    let server = LoopbackServer([
      [TusScript.offer(), TusScript.created, TusScript.took(300), TusScript.recorded(other)]
    ])
    #expect(throws: UploadError.checksumDiffers(sent: sha256(bench.content), stored: sha256(other))) {
      try bench.upload(try bench.gigHive(server))
    }
    // What is on the server is of no use for another try.
    let record = try #require(try bench.records().first)
    #expect(record.phase == .failed && record.uploadURL == nil && record.offset == 0)
    _ = server.finish()
  }
}
