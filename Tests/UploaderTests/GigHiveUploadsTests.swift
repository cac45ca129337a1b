import Testing

@testable import Uploader

/// Large recordings on their way to GigHive, with a record on the disk. What the machine makes of GigHive's answers: see
/// `FinalizeTests` of UploadCoreTests.
struct GigHiveUploadsTests {
  private func lines(_ requests: [LoopbackServer.Request]) -> [String] { requests.map { $0.line } }

  /// By another process, whose digest has not seen the first part.
  @Test(arguments: [1, 1_234_567, 2_999_999, 3_000_000])
  func anUploadOfAnotherProcessIsResumedAndItsDigestIsThatOfTheWholeFile(kept: Int) throws {
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
    #expect(requests[4].line == "HEAD /files/1" && requests.last?.line == "POST /api/uploads/finalize")
    if kept < 3_000_000 { #expect(sha256(requests[5].body) == sha256(Array(bench.content[kept...]))) }
    let delivered = try bench.records()
    #expect(delivered.map { $0.phase } == [.delivered] && delivered.first?.assetID == 7)
    #expect(delivered.first?.id == interrupted.first?.id && delivered.first?.id == delivery.upload)
  }

  /// From the threshold on, the server is asked whether it supports tus.
  @Test(arguments: [(300, true), (301, false)] as [(Int64, Bool)])
  func aShortRecordingAndOneForAServerWithoutTusGoAsAForm(threshold: Int64, isAsked: Bool) throws {
    let bench = UploadBench(length: 300)
    let server = LoopbackServer([
      (isAsked ? [.answer(TusScript.refusal(404))] : []) + [TusScript.recorded(bench.content)]
    ])
    var request = try bench.gigHive(server)
    request.uploadProtocol = .automatic
    request.tusThreshold = threshold
    #expect(try bench.upload(request)[0].receipt.isChecksumVerified)
    #expect(lines(server.finish()) == (isAsked ? ["OPTIONS /files/"] : []) + ["POST /api/uploads.php?ui=json"])
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
}
