import Testing
import UploadCore

/// The test upload of a diagnosis, without a network.
struct TestUploadTests {
  private let upload = "https://gighive/files/1"

  /// A response, by default of the tus server.
  private func replied(
    _ status: Int, _ fields: [(String, String)] = [], tus: Bool = true, hiding secrets: Secrets = Secrets()
  ) -> ProbeResult {
    let all = fields.map { Field($0.0, $0.1) } + (tus ? [Field("Tus-Resumable", "1.0.0")] : [])
    return answered(status, "", all, hiding: secrets)
  }

  private func lost(after arrived: Int64 = 0, error: UploadError? = .connectionLost(.sending, peer: "p", nil))
    -> ProbeResult
  {
    let result = ProbeResult(error: error)
    result.arrivedLength = arrived
    return result
  }

  /// What becomes of a test, given the results of its requests in order: its requests, waits and findings as words.
  private func play(
    _ length: Int64, interruptBefore: Int? = nil, _ results: [ProbeResult]
  ) throws -> (steps: [String], findings: [String]) {
    try play(.limits(length: length), interruptBefore: interruptBefore, results)
  }

  private func play(
    _ aim: TestUpload.Aim, interruptBefore: Int? = nil, _ results: [ProbeResult]
  ) throws -> (steps: [String], findings: [String]) {
    let test = try TestUpload(at: try TargetURI("https://gighive/files/"), aim, overridesMethod: false, Secrets())
    var steps: [String] = []
    var results = results[...]
    while true {
      if steps.count == interruptBefore { test.interrupt() }
      switch test.next() {
      case .ask(let request, let cut):
        steps.append(
          request.method + (request.method == "PATCH" ? " " + String(request.contentLength) + word(cut) : ""))
        let result = results.popFirst()
        test.receive(try #require(result, "no result for \(steps)"))
      case .wait: steps.append("wait")
      case .finished:
        #expect(results.isEmpty)
        return (steps, test.takeFindings().map { $0.check.rawValue + " " + $0.result.word })
      }
    }
  }

  private func word(_ cut: ProbeCut?) -> String {
    switch cut {
    case nil: ""
    case .afterBytes(let count): "/\(count)"
    case .afterMilliseconds(let count, let isNarrow): "/\(count) ms" + (isNarrow ? " narrow" : "")
    }
  }

  private var created: ProbeResult { replied(201, [("Location", upload)]) }
  private var cut: ProbeResult { lost(after: 1 << 20, error: nil) }
  private func at(_ offset: Int64, _ length: Int64 = 4 << 20) -> ProbeResult {
    replied(200, [("Upload-Offset", String(offset)), ("Upload-Length", String(length))])
  }
  private func stored(_ offset: Int64) -> ProbeResult { replied(204, [("Upload-Offset", String(offset))]) }

  @Test func oneRequestIsInterruptedAndTheUploadRemoved() throws {
    let (steps, findings) = try play(4 << 20, [created, cut, at(1 << 20), stored(4 << 20), replied(204)])
    #expect(steps == ["POST", "PATCH 4194304/1048576", "HEAD", "PATCH 3145728", "DELETE"])
    #expect(findings == ["spooling ok", "test-upload ok", "removal ok"])
  }

  @Test func anOffsetOfZeroIsAskedForAgain() throws {
    let late = try play(4 << 20, [created, cut, at(0), at(1), stored(4 << 20), replied(204)])
    #expect(late.steps[2...5] == ["HEAD", "wait", "HEAD", "PATCH 4194303"] && late.findings[0] == "spooling ok")
    let never = try play(4 << 20, [created, cut, at(0), at(0), at(0), stored(4 << 20), replied(204)])
    #expect(never.findings == ["spooling warning", "test-upload ok", "removal ok"])
  }

  @Test(arguments: [1, 2 * Limits.chunkSpoolEvidence - 1])
  func aShortUploadIsNotInterrupted(length: Int64) throws {
    let (steps, findings) = try play(length, [created, stored(length), replied(204)])
    #expect(steps == ["POST", "PATCH \(length)", "DELETE"])
    #expect(findings == ["spooling not examined", "test-upload ok", "removal ok"])
  }

  @Test func requestsAreAsLongAsThoseOfUploads() throws {
    let most = Limits.chunkMaximumLength
    let length = most + (2 << 20)
    let results = [created, cut, at(1 << 20, length), stored(most + (1 << 20)), stored(length), replied(204)]
    let (steps, _) = try play(length, results)
    #expect(steps == ["POST", "PATCH \(most)/1048576", "HEAD", "PATCH \(most)", "PATCH 1048576", "DELETE"])
  }

  @Test func aRefusedLengthIsHalved() throws {
    let (steps, findings) = try play(
      4 << 20,
      [created, replied(413, tus: false), at(0), cut, at(1 << 20), stored(3 << 20), stored(4 << 20), replied(204)])
    #expect(steps[1] == "PATCH 4194304/1048576" && steps[3] == "PATCH 2097152/1048576")
    #expect(findings == ["spooling ok", "test-upload warning", "removal ok"])
  }

  @Test func theTestUploadIsDeletedAfterEachFailure() throws {
    let results = [created, cut, at(1 << 20), lost(after: 7), replied(204)]
    #expect(try play(4 << 20, results).findings == ["spooling ok", "test-upload failure", "removal ok"])
    for failure in [replied(403), replied(404), replied(410), replied(404, tus: false), replied(200, tus: false)] {
      let (steps, findings) = try play(100, [created, failure, replied(204)])
      #expect(steps == ["POST", "PATCH 100", "DELETE"])
      #expect(findings == ["spooling not examined", "test-upload failure", "removal ok"])
    }
  }

  @Test func anAnonymous404CreatesNoSecondUpload() throws {
    let (steps, findings) = try play(4 << 20, [created, cut, replied(404, tus: false), replied(204)])
    #expect(steps == ["POST", "PATCH 4194304/1048576", "HEAD", "DELETE"])
    #expect(findings == ["test-upload failure", "removal ok"])
  }

  // MARK: The address of uploads

  private var elsewhere: ProbeResult { replied(201, [("Location", "https://tusd:1080/files/1")]) }
  private var nobody: ProbeResult { lost(error: .noSuchName(host: "tusd")) }

  @Test func anUploadAtTheEndpointIsRemovedAtOnce() throws {
    let (steps, findings) = try play(.address, [created, replied(204)])
    #expect(steps == ["POST", "DELETE"] && findings.isEmpty)
    #expect(try play(.address, [elsewhere, at(0, 1), replied(204)]).steps == ["POST", "HEAD", "DELETE"])
    #expect(try play(.address, [created, replied(403)]).findings == ["removal warning"])
  }

  @Test func anAddressWhereNobodyRespondsIsReported() throws {
    let (steps, findings) = try play(.address, [elsewhere, nobody, at(0, 1), replied(204)])
    #expect(steps == ["POST", "HEAD", "HEAD", "DELETE"] && findings == ["upload-address warning"])
    let internalAddress = replied(201, [("Location", "http://tusd:1080/files/1")])
    #expect(try play(.address, [internalAddress, at(0, 1), replied(204)]).findings == ["upload-address warning"])
    let unproved = try play(.address, [elsewhere, nobody, replied(404, tus: false), nobody, replied(404)])
    #expect(unproved.findings == ["upload-address failure"])
  }

  @Test(arguments: [400, 422]) func aServerThatTakesNoEmptyUploadShowsNothing(status: Int) throws {
    let (steps, findings) = try play(.address, [replied(status)])
    #expect(steps == ["POST"] && findings.isEmpty)
  }

  @Test(arguments: [401, 403, 404, 413]) func aServerThatRefusesEachCreationIsNamed(status: Int) throws {
    let (steps, findings) = try play(.address, [replied(status)])
    #expect(steps == ["POST"] && findings == ["upload-address failure"])
  }

  /// As with a full disk.
  @Test(arguments: [500, 507]) func aServerThatFailsToCreateIsReported(status: Int) throws {
    #expect(try play(.address, [replied(status)]).findings == ["upload-address failure"])
  }

  @Test func aTestOfLimitsGoesOnAtTheEndpoint() throws {
    let (steps, findings) = try play(100, [elsewhere, nobody, at(0, 100), stored(100), replied(204)])
    #expect(steps == ["POST", "PATCH 100", "HEAD", "PATCH 100", "DELETE"])
    #expect(findings == ["spooling not examined", "upload-address warning", "test-upload ok", "removal ok"])
  }

  @Test func aCreationWithoutAnAnswerIsNotKeptSecret() throws {
    #expect(try play(100, [lost()]).findings.last == "removal warning")
    #expect(try play(100, [replied(502, tus: false)]).findings.last == "removal warning")
    #expect(try play(100, [replied(403)]).findings == ["spooling not examined", "test-upload failure"])
  }

  @Test func aLockIsWaitedOutButNotForEver() throws {
    let (steps, findings) = try play(
      4 << 20, [created, cut, replied(423), at(1 << 20), stored(4 << 20), replied(423), replied(204)])
    #expect(
      steps == ["POST", "PATCH 4194304/1048576", "HEAD", "wait", "HEAD", "PATCH 3145728", "DELETE", "wait", "DELETE"])
    #expect(findings == ["spooling ok", "test-upload ok", "removal ok"])
    let locked = Array(repeating: replied(423), count: Limits.lockQuestionCount)
    #expect(try play(100, [created, stored(100)] + locked).findings.last == "removal warning")
    let both = try play(4 << 20, [created, cut] + locked + [replied(423)] + locked)
    #expect(both.findings == ["test-upload failure", "removal warning"])
  }

  @Test func aRemovalThatFailsIsRepeatedOrReported() throws {
    let tries = Limits.offsetQuestionCount
    #expect(try play(100, [created, stored(100), lost(), replied(204)]).findings.last == "removal ok")
    #expect(try play(100, [created, stored(100), lost(), replied(404)]).findings.last == "removal ok")
    let lost = Array(repeating: lost(), count: tries)
    #expect(try play(100, [created, stored(100)] + lost).findings.last == "removal warning")
    for refusal in [replied(405), replied(403), replied(501)] {
      #expect(try play(100, [created, stored(100), refusal]).findings.last == "removal warning")
    }
  }

  @Test func anInterruptionDeletesTheTestUpload() throws {
    for count in 1...3 {
      let results = [created, cut, at(1 << 20)].prefix(count) + [replied(204)]
      let (steps, findings) = try play(4 << 20, interruptBefore: count, Array(results))
      #expect(steps.last == "DELETE" && findings.last == "removal ok")
    }
    #expect(try play(100, interruptBefore: 0, []).findings == ["spooling not examined"])
    let cancelled = lost(error: .cancelled(hasSentAll: false))
    let (_, findings) = try play(4 << 20, [created, cancelled, cancelled, replied(204)])
    #expect(findings == ["removal ok"])
  }

  @Test func secretsThatTheServerRepeatsAreNotShown() throws {
    var secrets = Secrets()
    secrets.add(Array("hunter22".utf8))
    for location in ["https://gighive/files/hunter22?token=1", "ftp://gighive/hunter22"] {
      let test = try TestUpload(
        at: try TargetURI("https://gighive/files/"), .limits(length: 100), overridesMethod: false, secrets)
      let answers = [
        replied(201, [("Location", location), ("Upload-Expires", "hunter22")], hiding: secrets), replied(403),
        replied(403),
      ]
      for answer in answers {
        guard case .ask = test.next() else { break }
        test.receive(answer)
      }
      while case .ask = test.next() { test.receive(replied(403)) }
      let findings = test.takeFindings()
      #expect(findings.count >= 2)
      for finding in findings {
        #expect(!"\(finding.result)".contains("hunter22") && !"\(finding)".contains("token"), "\(finding)")
      }
    }
  }

  // MARK: The link

  /// The result of a request that the link was measured with.
  private func measured(_ result: ProbeResult, arrived: Int64 = 1000) -> ProbeResult {
    var line = LinkMeasurement(
      LinkMeasurement.Reading(milliseconds: 0, arrivedLength: 0, LinkCounts()), congestionControl: nil)
    line.add(LinkMeasurement.Reading(milliseconds: 10_000, arrivedLength: arrived, LinkCounts()))
    result.link = line
    return result
  }

  private let line = TestUpload.Aim.link(proxy: nil, largest: nil)
  private let longest = "PATCH \(Limits.chunkMaximumLength)/10000 ms"

  @Test func theLineIsMeasuredWithOneRequestAndTheUploadRemoved() throws {
    for end in [lost(after: 1000, error: nil), stored(Limits.chunkMaximumLength)] {
      let (steps, findings) = try play(line, [created, measured(end), replied(204)])
      #expect(steps == ["POST", longest, "DELETE"] && findings == ["link ok", "removal ok"])
    }
  }

  @Test func theUploadThatMeasuresIsNeverComplete() throws {
    for (largest, length) in [(Int64(1000), Int64(999)), (1, 1), (1 << 40, Limits.chunkMaximumLength)] {
      let results = [created, measured(lost(after: 1000, error: nil)), replied(204)]
      #expect(try play(.link(proxy: nil, largest: largest), results).steps[1] == "PATCH \(length)/10000 ms")
    }
  }

  @Test func aLengthThatIsRefusedIsHalvedToMeasure() throws {
    let half = Limits.chunkMaximumLength / 2
    let (steps, findings) = try play(
      line,
      [
        created, measured(replied(413, tus: false)), at(0, Limits.chunkMaximumLength + 1), measured(stored(half)),
        replied(204),
      ])
    #expect(steps == ["POST", longest, "HEAD", "PATCH \(half)/10000 ms", "DELETE"])
    #expect(findings == ["link ok", "removal ok"])
  }

  @Test func aLinkThatNothingPassesIsMeasuredOnceMoreWithShortPackets() throws {
    let length = Limits.chunkMaximumLength + 1
    let timeout = UploadError.timedOut(.sending, peer: "p", limitMilliseconds: 5)
    for error in [nil, timeout, .connectionLost(.sending, peer: "p", nil)] {
      let silent = measured(lost(error: error), arrived: 0)
      let (steps, findings) = try play(
        line, [created, silent, at(0, length), measured(lost(after: 1000, error: nil)), replied(204)])
      #expect(steps == ["POST", longest, "HEAD", longest + " narrow", "DELETE"])
      #expect(findings == ["link warning", "removal ok"])
      let never = try play(line, [created, silent, at(0, length), silent, replied(204)])
      #expect(never.steps == steps && never.findings == ["link failure", "removal ok"])
    }
  }

  @Test func aLineThatBreaksIsAFailureAndTheUploadRemoved() throws {
    for result in [lost(after: 7), replied(403), replied(200, tus: false)] {
      let (steps, findings) = try play(line, [created, measured(result), replied(204)])
      #expect(steps.last == "DELETE" && findings == ["link failure", "removal ok"])
    }
    #expect(try play(line, [lost()]).findings == ["link failure", "removal warning"])
    let cancelled = lost(error: .cancelled(hasSentAll: false))
    #expect(try play(line, [created, measured(cancelled), replied(204)]).findings == ["removal ok"])
  }

  // MARK: Forms

  @Test func onlyGigHivesOwnRefusalMeansThatTheContentPassed() {
    let refusal = "{\"error\":\"Bad Request\",\"message\":\"Label is required\"}"
    for (result, expected) in [
      (answered(400, refusal), "ok"), (answered(409, refusal), "ok"), (answered(400, "<html>"), "failure"),
      (answered(200, "<html>"), "failure"), (answered(413, refusal), "failure"), (answered(500, refusal), "failure"),
      (answered(201, "{\"asset_id\":1,\"checksum_sha256\":\"00\"}"), "ok"), (lost(after: 10), "failure"),
    ] {
      #expect(FormTestCheck.form(result, length: 100).result.word == expected)
    }
  }

  @Test func aStoredFormIsDeletedIfThereIsAToken() throws {
    let base = try TargetURI("https://gighive")
    #expect(TestRemoval(ofRecording: answered(400, "{\"asset_id\":1}").answer!, from: base) == nil)
    #expect(TestRemoval(ofRecording: answered(200, "<html>").answer!, from: base) == nil)
    let without = try #require(TestRemoval(ofRecording: answered(201, "{\"asset_id\":1}").answer!, from: base))
    #expect(without.request == nil && without.result.word == "warning")
    let stored = answered(201, "{\"id\":1,\"delete_token\":\"ab\"}").answer!
    let removal = try #require(TestRemoval(ofRecording: stored, from: base))
    #expect(removal.request?.method == "POST")
    #expect(!removal.receive(answered(200, "{\"success\":true,\"deleted_count\":1,\"error_count\":0}")))
    #expect(removal.request == nil && removal.result.word == "ok")
  }
}
