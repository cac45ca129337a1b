import Testing
import UploadCore

private let unknown = ScriptedServer.Reply.status(400, content: GigHive.uploadUnknown)
private let confirmed = ScriptedServer.Reply.status(201, content: GigHive.created)

/// A recording over tus to GigHive: finalize, guests, and the form if the server does not support tus.
struct FinalizeTests {
  private let upload = ["OPTIONS /files/", "POST /files/", "save created", "PATCH /files/1 0..<100", "save uploaded"]
  private let finalize = "POST /api/uploads/finalize"

  private func machine(
    previous: UploadPlan.PreviousState = UploadPlan.PreviousState(), isGuest: Bool = false, acceptsTerms: Bool = true,
    uploadProtocol: UploadProtocol = .tus
  ) throws -> UploadMachine {
    try .upload(
      to: .gigHive, previous: previous, isGuest: isGuest,
      configure: {
        $0.uploadProtocol = uploadProtocol
        $0.tusThreshold = 10
        if isGuest, acceptsTerms { $0.extraFields = [FormField("tos_accepted", "true")] }
      })
  }

  // MARK: Finalize

  @Test func aWholeUploadIsMadeARecording() throws {
    var server = ScriptedServer([.offer, .created, .has(100), confirmed])
    #expect(server.run(try machine()) == GigHive.delivered())
    #expect(server.log == upload + ["hash", finalize])
    let content = server.requests.last.map { String(decoding: $0.body?.header ?? [], as: UTF8.self) }
    #expect(content == #"{"upload_id":"1","event_date":"2026-05-01","label":"Set 1"}"#)
  }

  @Test func anEarlierProcessesWholeUploadIsFinalized() throws {
    var server = ScriptedServer([.offer, .has(100), confirmed])
    #expect(
      server.run(try machine(previous: .at(offset: 100, isUploaded: true))) == GigHive.delivered(resumedFrom: 100))
    #expect(server.log == ["OPTIONS /files/", "HEAD /files/1", "save uploaded", "hash", finalize])
  }

  /// The last process ended between finalize and its answer: the same call again has the same result.
  @Test func aRecordingThatWasMadeOfTheUploadIsFound() throws {
    var server = ScriptedServer([.offer, .gone, confirmed])
    #expect(server.run(try machine(previous: .at(offset: 100, isUploaded: true))) == GigHive.delivered())
    #expect(server.log == ["OPTIONS /files/", "HEAD /files/1", "hash", finalize])
  }

  @Test func anUploadThatNeitherServerKnowsStartsOver() throws {
    var server = ScriptedServer([.offer, .gone, unknown, .created, .has(100), confirmed])
    #expect(server.run(try machine(previous: .at(offset: 100, isUploaded: true))) == GigHive.delivered())
    #expect(
      server.log == ["OPTIONS /files/", "HEAD /files/1", "hash", finalize, "save forgotten"] + upload[1...] + [
        "hash", finalize,
      ])
  }

  @Test func anUploadThatGigHiveHasNotNoticedYetIsFinalizedLater() throws {
    var server = ScriptedServer([.offer, .created, .has(100), unknown, .has(100), confirmed])
    #expect(server.run(try machine()) == GigHive.delivered())
    #expect(server.log == upload + ["hash", finalize, "HEAD /files/1", "wait", finalize])
    #expect(server.retries.map(\.error) == [.stillProcessing])
    // It can also say so with a 500.
    let notWritten = ScriptedServer.Reply.status(500, content: #"{"error":"x","message":"Upload not found"}"#)
    var failing = ScriptedServer([.offer, .created, .has(100), notWritten, confirmed])
    #expect(failing.run(try machine()) == GigHive.delivered())
    #expect(failing.log == upload + ["hash", finalize, "wait", finalize])
  }

  /// A server that also wants checksums gets the rest.
  @Test func anUploadThatTurnsOutToBeIncompleteAfterFinalizeIsCompleted() throws {
    let checking = ScriptedServer.Reply.status(
      204,
      [
        "Tus-Resumable": "1.0.0", "Tus-Version": "1.0.0", "Tus-Extension": "creation,checksum",
        "Tus-Checksum-Algorithm": "sha256",
      ])
    var server = ScriptedServer([checking, .created, .has(100), unknown, .has(50), .has(100), confirmed])
    #expect(server.run(try machine()) == GigHive.delivered())
    #expect(server.log.filter { $0.hasPrefix("PATCH") } == ["PATCH /files/1 0..<100", "PATCH /files/1 50..<100"])
  }

  @Test func anUploadThatGigHiveAndTheTusServerDoNotKnowStartsOver() throws {
    var server = ScriptedServer([.offer, .created, .has(100), unknown, .gone, unknown, .created, .has(100), confirmed])
    #expect(server.run(try machine()) == GigHive.delivered())
    #expect(server.retries.map(\.error) == [.uploadLost])
    #expect(server.log.filter { $0 == "PATCH /files/1 0..<100" }.count == 2)
  }

  /// A server that loses each whole upload.
  private func losingServer(size: Int64) -> ScriptedServer {
    ScriptedServer { request in
      switch (request.method, request.body?.header.isEmpty ?? true) {
      case ("OPTIONS", _): .offer
      case ("POST", true): .created
      case ("POST", false): unknown
      case ("PATCH", _): .has(size)
      default: .gone
      }
    }
  }

  /// Sending everything again each time would never end.
  @Test func aServerThatLosesEachWholeUploadIsGivenUp() throws {
    var server = losingServer(size: 100)
    #expect(server.run(try machine()) == .failed(.uploadLost))
    #expect(server.log.filter { $0.hasPrefix("PATCH") }.count == 3)
  }

  /// Otherwise it would use up a mobile plan.
  @Test func aServerThatLosesEachLargeRecordingGetsItThreeTimes() throws {
    let size = Int64(2 << 20)
    var server = losingServer(size: size)
    let machine = try UploadMachine.upload(
      to: .gigHive, size: size, policy: { $0.retries = RetryPolicy(.forever, maximumDelayMilliseconds: 1000) },
      configure: { $0.uploadProtocol = .tus })
    let until = server.bootedAtSeconds + 86_400
    #expect(server.run(machine) == .failed(.postponed(.uploadLost, untilSeconds: until, .sentRepeatedly(count: 3))))
    #expect(server.log.filter { $0.hasPrefix("PATCH") }.count == 3)
    #expect(server.record.unfinished?.fullSends?.times.count == 3)
  }

  private static let taken = ScriptedServer.Reply.status(
    500, content: #"{"error":"Server Error","message":"Upload data missing on disk"}"#)

  /// GigHive moves the upload's file away before it writes to its database.
  private func takingServer(times: Int = .max) -> ScriptedServer {
    var uploads = 0
    return ScriptedServer { request in
      switch (request.method, request.body?.header.isEmpty ?? true) {
      case ("OPTIONS", _): .offer
      case ("POST", true):
        {
          uploads += 1
          return .created
        }()
      case ("POST", false): uploads > times ? confirmed : FinalizeTests.taken
      case ("PATCH", _): .has(100)
      default: .gone
      }
    }
  }

  private func taking(_ limit: RetryLimit, previous: UploadPlan.PreviousState = .init()) throws -> UploadMachine {
    try .upload(
      to: .gigHive, previous: previous,
      policy: { $0.retries = RetryPolicy(limit, maximumDelayMilliseconds: 8000) },
      configure: { $0.uploadProtocol = .tus })
  }

  @Test func anUploadThatGigHiveHasTakenAndLostStartsOverAfterAMinute() throws {
    var server = takingServer(times: 1)
    #expect(server.run(try taking(.forever)) == GigHive.delivered())
    #expect(server.milliseconds >= 60_000)
    #expect(server.log.filter { $0.hasPrefix("PATCH") }.count == 2)
    let lost = try #require(server.log.firstIndex(of: "save forgotten"))
    #expect(server.log[..<lost].suffix(3) == ["HEAD /files/1", "hash", finalize])
  }

  @Test func theRetriesThatAPersonHasSetComeFirst() throws {
    var server = takingServer()
    #expect(server.run(try taking(.failures(0))) == .failed(.uploadLost))
    #expect(server.log.filter { $0.hasPrefix("PATCH") }.count == 1 && server.record.remote == nil)
    var next = takingServer(times: 1)
    #expect(next.run(try taking(.failures(1))) == GigHive.delivered())
  }

  /// The progress of the next upload does not reset the count, whatever the size.
  @Test(arguments: [.failures(1), .forever] as [RetryLimit])
  func aDatabaseThatStaysBrokenCostsThreeUploadsADay(limit: RetryLimit) throws {
    var server = takingServer()
    let until = { (server: ScriptedServer) in (server.record.unfinished?.fullSends?.times[0] ?? 0) + 86_400 }
    let end = server.run(try taking(limit))
    #expect(end == .failed(.postponed(.uploadLost, untilSeconds: until(server), .sentRepeatedly(count: 3))))
    #expect(server.log.filter { $0.hasPrefix("PATCH") }.count == 3)
  }

  /// A gateway gave up, and GigHive is still making the recording: each call would run beside the first.
  @Test(arguments: [502, 504])
  func aFinalizeThatAGatewayGivesUpIsRepeatedRarely(status: Int) throws {
    var server = ScriptedServer([
      .offer, .created, .has(100), .status(status, content: GigHive.page), .has(100), .status(status), .gone,
      FinalizeTests.taken, FinalizeTests.taken, confirmed,
    ])
    #expect(server.run(try taking(.forever)) == GigHive.delivered())
    #expect(
      Array(server.log.dropFirst(upload.count)) == [
        "hash", finalize, "wait", "HEAD /files/1", "wait", finalize, "wait", "HEAD /files/1", "hash", finalize, "wait",
        finalize, "wait", finalize,
      ])
    #expect([0, 2].allSatisfy { server.retries[$0].delayMilliseconds >= 30_000 })
  }

  /// A GigHive that answers each finalize call by its number, from 1, while the tus server says this of the upload.
  private func finalizing(
    _ head: ScriptedServer.Reply, _ answer: @escaping (Int) -> ScriptedServer.Reply
  ) -> ScriptedServer {
    var count = 0
    return ScriptedServer { request in
      switch (request.method, request.body?.header.isEmpty ?? true) {
      case ("OPTIONS", _): return .offer
      case ("POST", true): return .created
      case ("POST", false):
        count += 1
        return answer(count)
      case ("PATCH", _): return .has(100)
      default: return head
      }
    }
  }

  /// The call that got no response may take long, for a large recording.
  @Test func aCallThatMayStillRunIsGivenTenMinutes() throws {
    func lost(_ staleness: Interruption.Staleness = .fresh, until last: Int) -> ScriptedServer {
      finalizing(.gone) { $0 == 1 ? .lost(staleness: staleness) : $0 < last ? FinalizeTests.taken : confirmed }
    }
    var patient = lost(until: 60)
    #expect(patient.run(try taking(.forever)) == GigHive.delivered())
    #expect(!patient.log.contains("save forgotten") && patient.milliseconds > 60_000)
    var short = lost(until: 60)
    #expect(
      short.run(try taking(.failures(3))) == .failed(.refused(status: 500, message: "Upload data missing on disk")))
    #expect(!short.log.contains("save forgotten"))
    // One that never arrived does not run.
    var closed = lost(.announced, until: 60)
    _ = closed.run(try taking(.forever))
    #expect(closed.log.contains("save forgotten"))
  }

  @Test func aLockIsWaitedFor() throws {
    let locked = ScriptedServer.Reply.status(423, content: #"{"error":"Locked","message":"Upload is being finalized"}"#)
    var server = ScriptedServer([.offer, .created, .has(100), locked, confirmed])
    #expect(server.run(try machine()) == GigHive.delivered())
    var always = ScriptedServer([.offer, .created, .has(100), locked, locked, locked])
    #expect(always.run(try machine()) == .failed(.tus(.locked)))
  }

  /// It may still be making the recording, for another process that was killed.
  @Test func aFileThatGigHiveHasTakenIsNotForgottenWhileTheTusServerHasIt() throws {
    var server = finalizing(.has(100)) { $0 < 30 ? FinalizeTests.taken : confirmed }
    #expect(server.run(try taking(.forever)) == GigHive.delivered())
    #expect(!server.log.contains("save forgotten") && server.milliseconds > 60_000)
  }

  @Test func anEarlierProcessesUploadThatWasTakenStartsOverToo() throws {
    var first = true
    var again = ScriptedServer { request in
      if request.method == "POST", request.body?.header.isEmpty == true { first = false }
      return switch (request.method, request.body?.header.isEmpty ?? true) {
      case ("OPTIONS", _): .offer
      case ("POST", true): .created
      case ("POST", false): first ? FinalizeTests.taken : confirmed
      case ("PATCH", _): .has(100)
      default: .gone
      }
    }
    let previous = try UploadPlan.PreviousState.at(offset: 100, isUploaded: true)
    #expect(again.run(try taking(.forever, previous: previous)) == GigHive.delivered())
    #expect(again.log.filter { $0.hasPrefix("PATCH") }.count == 1)
  }

  /// Only a recording that GigHive has never noticed is lost with its upload.
  @Test func aFailureOfGigHiveDoesNotForgetARecording() throws {
    let failure = ScriptedServer.Reply.status(
      500, content: #"{"error":"Server Error","message":"SQLSTATE[HY000] [2002] Connection refused"}"#)
    var server = ScriptedServer([.offer, .gone, failure, confirmed])
    #expect(
      server.run(try machine(previous: .at(offset: 100, isUploaded: true))) == GigHive.delivered())
    #expect(!server.log.contains("save forgotten") && !server.log.contains("POST /files/"))
  }

  @Test func aStrangersRefusalOfFinalizeForgetsNothing() throws {
    var server = ScriptedServer([.offer, .created, .has(100), .status(403, content: GigHive.page)])
    #expect(server.run(try machine()) == .failed(.refused(status: 403, message: "Who are you?")))
    #expect(server.record.phase == .uploaded && server.record.remote?.url == "https://hive/files/1")
  }

  /// As HEAD and PATCH do: a proxy may not reach the server for a moment.
  @Test(arguments: [404, 410])
  func finalizeIsRepeatedIfSomethingElseDoesNotFindIt(status: Int) throws {
    let page = ScriptedServer.Reply.status(status, content: GigHive.page)
    var server = ScriptedServer([.offer, .created, .has(100), page, confirmed])
    #expect(server.run(try machine()) == GigHive.delivered())
    #expect(server.retries.map { $0.error } == [.notFromServer(status: status)])
    var always = ScriptedServer { request in
      switch request.method {
      case "OPTIONS": .offer
      case "PATCH": .has(100)
      default: request.target.text.hasSuffix("finalize") ? page : .created
      }
    }
    #expect(always.run(try machine()) == .failed(.notFromServer(status: status)))
    #expect(always.record.phase == .uploaded && always.record.remote?.url == "https://hive/files/1")
  }

  @Test func aRecordingThatIsNotThisFileIsForgottenBeforeTheUploadFails() throws {
    let other = String(repeating: "cd", count: 32)
    var server = ScriptedServer([
      .offer, .created, .has(100), .status(201, content: GigHive.created(checksum: other, size: 100)),
    ])
    #expect(server.run(try machine()) == .failed(.checksumDiffers(sent: GigHive.sha256, stored: other)))
    #expect(server.log.suffix(2) == [finalize, "save forgotten"] && server.record.remote == nil)
  }

  @Test func aPendingRecordingIsAskedForByFinalizeAgain() throws {
    var server = ScriptedServer([
      .offer, .created, .has(100), .status(202, content: #"{"status":"pending"}"#), .lost(), confirmed,
    ])
    #expect(server.run(try machine()) == GigHive.delivered())
    #expect(server.log == upload + ["hash", finalize, "wait", finalize, "wait", finalize])
  }

  // MARK: Guests

  @Test func aGuestsTokenIsAskedForBeforeTheFirstByte() throws {
    var server = ScriptedServer([.status(400, content: GigHive.tokenKnown), .offer, .created, .has(100), confirmed])
    #expect(server.run(try machine(isGuest: true)) == GigHive.delivered())
    #expect(server.log == [finalize] + upload + ["hash", finalize])
    let question = String(decoding: server.requests[0].body?.header ?? [], as: UTF8.self)
    #expect(question.hasPrefix(#"{"upload_id":"","#))
  }

  @Test func aTokenThatIsNotGoodEndsTheUploadBeforeTheFirstByte() throws {
    var server = ScriptedServer([.status(404, content: GigHive.tokenUnknown)])
    #expect(server.run(try machine(isGuest: true)) == .failed(.guestTokenRefused))
  }

  @Test func aTokenThatExpiresInTheMeantimeIsNamed() throws {
    var server = ScriptedServer([
      .status(400, content: GigHive.tokenKnown), .offer, .created, .has(100),
      .status(404, content: GigHive.tokenUnknown),
    ])
    #expect(server.run(try machine(isGuest: true)) == .failed(.guestTokenRefused))
    #expect(server.record.phase == .uploaded)
  }

  /// If the server does not support this check, the upload starts anyway, and finalize will tell.
  @Test(arguments: [404, 405, 200])
  func ifTheCheckIsNotSupportedTheUploadStarts(status: Int) throws {
    var server = ScriptedServer([.status(status, content: GigHive.page), .offer, .created, .has(100), confirmed])
    #expect(server.run(try machine(isGuest: true)) == GigHive.delivered())
  }

  @Test(arguments: [401, 403])
  func aRefusalOfTheQuestionIsOneOfTheUpload(status: Int) throws {
    var server = ScriptedServer([.status(status)])
    #expect(server.run(try machine(isGuest: true)) == .failed(.refused(status: status, message: "")))
  }

  @Test func aGuestWhoHasNotAcceptedTheTermsIsNotLetIn() {
    #expect(throws: UploadError.termsNotAccepted) { try machine(isGuest: true, acceptsTerms: false) }
  }

  /// GigHive takes no forms from guests, so size does not matter.
  @Test func aGuestsSmallRecordingGoesOverTus() throws {
    func guest(_ uploadProtocol: UploadProtocol, fields: [FormField]) throws -> UploadMachine {
      try .upload(
        to: .gigHive, isGuest: true, configure: { ($0.uploadProtocol, $0.extraFields) = (uploadProtocol, fields) })
    }
    let terms = [FormField("tos_accepted", "true")]
    var server = ScriptedServer([.status(400, content: GigHive.tokenKnown), .offer, .created, .has(100), confirmed])
    #expect(server.run(try guest(.automatic, fields: terms)) == GigHive.delivered())
    #expect(throws: UploadError.termsNotAccepted) { try guest(.automatic, fields: []) }
    // A form is sent if that is what the caller asks for.
    var form = ScriptedServer([.status(401)])
    #expect(form.run(try guest(.multipart, fields: [])) == .failed(.refused(status: 401, message: "")))
    #expect(form.log == ["POST /api/uploads.php?ui=json 0..<100", "hash"])
  }

  // MARK: As a form

  @Test(arguments: [200, 404, 405])
  func aServerThatSpeaksNoTusGetsAForm(status: Int) throws {
    var server = ScriptedServer([.status(status, content: GigHive.page), confirmed])
    let machine = try machine(uploadProtocol: .automatic)
    #expect(server.run(machine) == GigHive.delivered())
    #expect(server.log == ["OPTIONS /files/", "as a form", "POST /api/uploads.php?ui=json 0..<100", "hash"])
  }

  /// nginx takes 1 MB unless it is told otherwise, ModSecurity 50 MiB.
  @Test func aFormThatIsTooLargeIsSentOverTus() throws {
    func form(_ uploadProtocol: UploadProtocol) throws -> UploadMachine {
      try .upload(to: .gigHive, configure: { $0.uploadProtocol = uploadProtocol })
    }
    let post = ["POST /api/uploads.php?ui=json 0..<100"]
    var server = ScriptedServer([.status(413, sent: .partial), .offer, .created, .has(100), confirmed])
    #expect(server.run(try form(.automatic)) == GigHive.delivered())
    #expect(server.log == post + ["over tus"] + upload + ["hash", finalize])
    let tooLarge = UploadError.refused(status: 413, message: "")
    var without = ScriptedServer([.status(413, sent: .partial), .status(404)])
    #expect(without.run(try form(.automatic)) == .failed(tooLarge))
    // What was sent in vain counts, although tus was asked for since.
    var whole = ScriptedServer([.status(413), .status(404)])
    #expect(whole.run(try .upload(to: .gigHive, size: 3 << 20)) == .failed(tooLarge))
    #expect(whole.record.unfinished?.fullSends?.times.count == 1)
    var chosen = ScriptedServer([.status(413, sent: .partial)])
    #expect(chosen.run(try form(.multipart)) == .failed(tooLarge))
  }

  @Test(arguments: [407, 408, 423, 429])
  func aServerThatCannotAnswerForNowIsNotTakenForOneWithoutTus(status: Int) throws {
    var server = ScriptedServer { _ in .status(status) }
    let machine = try machine(uploadProtocol: .automatic)
    #expect(server.run(machine) == .failed(.refused(status: status, message: "")))
    #expect(server.requests.allSatisfy { $0.method == "OPTIONS" })
  }

  @Test func whereTusIsAMustThereIsNoForm() throws {
    var server = ScriptedServer([.status(404), .status(404)])
    #expect(server.run(try machine()) == .failed(.refused(status: 404, message: "")))
  }

  /// A started upload is not replaced by a form, whatever says that tus is not supported.
  @Test(arguments: [200, 404, 405])
  func aStartedUploadIsNotSentAsAForm(status: Int) throws {
    var server = ScriptedServer([.status(status, content: GigHive.page), .has(100), confirmed])
    let machine = try machine(previous: .at(offset: 7), uploadProtocol: .automatic)
    #expect(server.run(machine) == GigHive.delivered(resumedFrom: 100))
  }
}
