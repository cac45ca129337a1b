import Testing
import UploadCore

/// A recording as one form.
struct MultipartTaskTests {
  private let post = "POST /api/uploads.php?ui=json 0..<100"
  private let plainPost = "POST /upload 0..<100"

  // MARK: GigHive

  @Test func aConfirmedRecordingIsDelivered() throws {
    var server = ScriptedServer([.status(201, content: GigHive.created)])
    #expect(server.run(try .upload(to: .gigHive)) == GigHive.delivered())
    #expect(server.log == [post, "hash"])
  }

  /// A portal's page with a success status.
  @Test func aSuccessThatIsNotGigHivesIsNoDelivery() throws {
    var server = ScriptedServer([.status(200, content: GigHive.page)])
    #expect(server.run(try .upload(to: .gigHive)) == .failed(.unconfirmed(status: 200)))
  }

  @Test func aSuccessBeforeTheWholeFileWasSentIsNoDelivery() throws {
    var server = ScriptedServer([.status(201, content: GigHive.created, sent: .partial)])
    #expect(server.run(try .upload(to: .gigHive)) == .failed(.prematureSuccess(status: 201)))
    #expect(server.log == [post])
  }

  /// GigHive detects duplicates.
  @Test func aLostAnswerOfGigHiveIsAskedForAgain() throws {
    var server = ScriptedServer([.lost(), .status(504), .status(201, content: GigHive.created)])
    #expect(server.run(try .upload(to: .gigHive)) == GigHive.delivered())
    #expect(server.log == [post, "wait", post, "hash", "wait", post, "hash"])
  }

  @Test func aPendingRecordingIsAskedAboutAndNotSentAgain() throws {
    var server = ScriptedServer([
      .status(202, content: #"{"status":"pending","asset_id":9}"#), .lost(), .status(404, content: #"{"error":"x"}"#),
      .status(200, content: GigHive.created),
    ])
    var receipt = Receipt()
    (receipt.assetID, receipt.isChecksumVerified) = (9, true)
    let sent = SentFile(size: 100, sha256: GigHive.sha256)
    let machine = try UploadMachine.upload(
      to: .gigHive, policy: { $0.retries = RetryPolicy(.failures(5), maximumDelayMilliseconds: 8000) })
    #expect(server.run(machine) == .finished(.delivered(receipt, sent, resumedFrom: 0)))
    let saved = "save processing"
    #expect(server.log == [post, "hash", saved, "wait", question, "wait", question, "wait", question])
    #expect(server.record.assetID == 9)
  }

  private let question = "GET /api/uploads/9"

  private func recalling() throws -> UploadMachine {
    var previous = UploadPlan.PreviousState()
    previous.assetID = 9
    return try .upload(to: .gigHive, previous: previous)
  }

  @Test func whatAnEarlierProcessSentIsAskedAbout() throws {
    var server = ScriptedServer([.status(200, content: GigHive.created)])
    guard case .finished(.delivered(let receipt, _, _)) = server.run(try recalling()) else {
      Issue.record("not delivered")
      return
    }
    #expect(receipt.assetID == 9 && receipt.isChecksumVerified && server.log == ["hash", question])
  }

  /// Reading the file for that is not verifying: this process has sent nothing.
  @Test func whileTheFileIsReadOnlyASentFormIsVerified() throws {
    var recalling = try recalling()
    #expect(recalling.next(nowMilliseconds: 0, unixSeconds: 0) == .hash(.wholeFile) && !recalling.isVerifying)
    var sending = try UploadMachine.upload(to: .gigHive)
    guard case .send = sending.next(nowMilliseconds: 0, unixSeconds: 0) else {
      Issue.record("not sent")
      return
    }
    sending.handle(.answered(Answer(status: 201, content: Array(GigHive.created.utf8))))
    #expect(sending.next(nowMilliseconds: 0, unixSeconds: 0) == .hash(.wholeFile) && sending.isVerifying)
  }

  @Test func whatAnEarlierProcessSentIsSentAgainIfGigHiveNoLongerHasIt() throws {
    var server = ScriptedServer([
      .status(404, content: #"{"error":"x"}"#), .status(201, content: GigHive.created),
    ])
    #expect(server.run(try recalling()) == GigHive.delivered())
    #expect(server.log == ["hash", question, "save forgotten", post, "hash"] && server.record.assetID == nil)
  }

  /// A portal, or a proxy: nothing is known then.
  @Test(arguments: [200, 404, 502])
  func whatAnEarlierProcessSentIsNotSentAgainBecauseOfSomebodyElse(status: Int) throws {
    var server = ScriptedServer { _ in .status(status, content: GigHive.page) }
    #expect(server.run(try recalling())?.isFailure == true)
    #expect(server.requests.allSatisfy { $0.method == "GET" })
  }

  @Test func aPendingRecordingThatNeverBecomesOneIsGivenUp() throws {
    var server = ScriptedServer { request in
      request.method == "POST"
        ? .status(202, content: #"{"status":"pending","asset_id":9}"#) : .status(404, content: #"{"error":"x"}"#)
    }
    #expect(server.run(try .upload(to: .gigHive)) == .failed(.stillProcessing))
    #expect(server.requests.filter { $0.method == "POST" }.count == 1)
  }

  @Test func aPendingRecordingOfAnotherChecksumIsNoDelivery() throws {
    let other = String(repeating: "cd", count: 32)
    var server = ScriptedServer([
      .status(202, content: #"{"status":"pending","asset_id":9}"#),
      .status(200, content: GigHive.created(checksum: other, size: 100)),
    ])
    #expect(
      server.run(try .upload(to: .gigHive)) == .failed(.checksumDiffers(sent: GigHive.sha256, stored: other)))
  }

  /// Asking would mean sending everything again.
  @Test func aPendingRecordingWithoutANumberIsNotAskedAbout() throws {
    var server = ScriptedServer([.status(202, content: #"{"status":"pending"}"#)])
    #expect(server.run(try .upload(to: .gigHive)) == .failed(.stillProcessing))
  }

  // MARK: Plain endpoints

  @Test(arguments: [200, 201, 204])
  func anySuccessOfAPlainEndpointIsADelivery(status: Int) throws {
    var server = ScriptedServer([.status(status, content: GigHive.page)])
    #expect(server.run(try .upload(to: .plain)) == deliveredPlainly())
    #expect(server.log == [plainPost, "save mayBeStored"] && server.choices == [.reusedIfPromised])
  }

  /// A process that is killed then finds in its record that the form must not be sent again by itself.
  @Test func thatAPlainEndpointMayHaveEverythingIsSavedBeforeTheLastByte() throws {
    var server = ScriptedServer([.lost(.whole)])
    _ = server.run(try .upload(to: .plain))
    #expect(server.log == [plainPost, "save mayBeStored"])
    #expect(server.record.mayBeStored && server.record.phase == .failed)
  }

  /// The endpoint says that it has stored something.
  @Test func anEndpointThatStoredAnotherSizeHasStoredIt() throws {
    var server = ScriptedServer([.status(201, content: #"{"size_bytes":1}"#)])
    #expect(server.run(try .upload(to: .plain)) == .failed(.mayBeStored(.sizeDiffers(sent: 100, stored: 1))))
    #expect(server.record.mayBeStored)
  }

  /// An error of this machine after the last byte says nothing about the server.
  @Test func aLocalErrorAfterTheLastByteLeavesOpenWhetherItIsStored() throws {
    for event in [UploadEvent.failed(.outOfResources("memory")), .statusChanged(.afterEnd)] {
      var machine = try UploadMachine.upload(to: .plain)
      _ = machine.next(nowMilliseconds: 0)
      machine.handle(.lastByteNext)
      #expect(machine.next(nowMilliseconds: 0) == .save(.mayBeStored))
      machine.handle(event)
      guard case .failed(.mayBeStored) = machine.next(nowMilliseconds: 0) else {
        Issue.record("\(event)")
        continue
      }
    }
  }

  /// It is refused each time after all of it was sent, but not repeated by this process.
  @Test func fullSendsOfAFormCountAndTheTimeThatTheServerAsksForIsKept() throws {
    var previous = UploadPlan.PreviousState()
    let now: Int64 = 1_800_000_000
    previous.fullSends = FullSends(.refused, times: [now - 2, now - 1])
    var often = ScriptedServer([.status(422)])
    let error = UploadError.refused(status: 422, message: "")
    #expect(
      often.run(try .upload(to: .plain, size: 3 << 20, previous: previous))
        == .failed(.postponed(error, untilSeconds: now - 2 + 86_400, .sentRepeatedly(count: 3))))
    #expect(often.record.unfinished?.fullSends?.times.count == 3)
    var busy = ScriptedServer([.status(429, ["Retry-After": "600"])])
    guard case .failed(.postponed(_, _, .serverAsked)) = busy.run(try .upload(to: .plain)) else {
      Issue.record("not postponed")
      return
    }
  }

  /// After a pause, only a permanent redirect still applies.
  @Test(arguments: [(307, "POST /upload 0..<100"), (308, "POST /other 0..<100")])
  func aFormThatIsSentAgainIsNotStoredUntilThen(status: Int, again: String) throws {
    var server = ScriptedServer([.status(status, ["Location": "/other"]), .lost(.none), .lost(.partial)])
    _ = server.run(try .upload(to: .plain))
    #expect(
      server.log == [
        plainPost, "save mayBeStored", "save notStored", "POST /other 0..<100", "wait", again,
      ])
    #expect(!server.record.mayBeStored && server.record.phase == .pending)
  }

  @Test func aFormForGigHiveIsNotAnnounced() throws {
    var machine = try UploadMachine.upload(to: .gigHive)
    guard case .send(let request, _) = machine.next(nowMilliseconds: 0) else {
      Issue.record("nothing is sent")
      return
    }
    #expect(request.isRepeatable && request.body?.fileLength == 100)
  }

  /// A watcher sets aside a recording that is too large, and pauses if no recording can be stored.
  @Test(arguments: [
    (
      "<br />\n<b>Warning</b>:  POST Content-Length of 9437184 bytes exceeds the limit of 8388608 bytes in <b>Unknown</b>",
      FailureConcern.file
    ), ("<?php move_uploaded_file($_FILES['file']['tmp_name'], '/srv/x');", .destination),
  ])
  func aPageByWhichPHPHasStoredNothingIsNoDelivery(page: String, concern: FailureConcern) throws {
    var server = ScriptedServer([.status(200, content: page)])
    guard case .failed(.formDropped(status: 200, _, let problem)) = server.run(try .upload(to: .plain)) else {
      Issue.record("not refused")
      return
    }
    let error = UploadError.formDropped(status: 200, message: "", problem)
    #expect(error.concern == concern && !error.isTransient && !error.isStrangers(host: "hive") && !error.leavesPending)
  }

  @Test(arguments: [400, 401, 403, 404, 409, 413])
  func aRefusalOfAPlainEndpointIsFinal(status: Int) throws {
    var server = ScriptedServer([.status(status)])
    #expect(server.run(try .upload(to: .plain)) == .failed(.refused(status: status, message: "")))
  }

  // MARK: Login pages

  private static let portals: [ScriptedServer.Reply] = [
    .status(200, content: GigHive.loginPage), .status(403, content: GigHive.loginPage), .status(511),
    .status(511, sent: .partial), .status(200, content: GigHive.loginPage, sent: .partial),
    .status(200, ["Content-Type": "text/html; charset=utf-8"], content: "<form><INPUT name=p TYPE=password></form>"),
  ]

  /// Nothing has reached the server: a captive portal answers in its place until somebody logs in.
  @Test(arguments: portals)
  func aFormThatAPortalTookIsSentAgain(reply: ScriptedServer.Reply) throws {
    var server = ScriptedServer([reply, reply, .status(201)])
    #expect(server.run(try .upload(to: .plainWithoutTLS)) == deliveredPlainly())
    guard case .answer(let answer) = reply else { return }
    #expect(
      server.retries.map(\.error) == [.notFromServer(status: answer.status), .notFromServer(status: answer.status)])
    #expect(server.log.filter { $0 == "save notStored" }.count == (answer.sent == .whole ? 2 : 0))
    var insecure = ScriptedServer([reply, .status(201)])
    #expect(insecure.run(try .upload(to: .plain, verifiesCertificate: false)) == deliveredPlainly())
  }

  @Test func aPortalThatMovesTheFormIsForgotten() throws {
    var server = ScriptedServer([
      .status(308, ["Location": "https://portal.example/login"], sent: .none),
      .status(200, content: GigHive.loginPage), .status(201),
    ])
    #expect(server.run(try .upload(to: .plainWithoutTLS)) == deliveredPlainly())
    #expect(server.requests.map(\.target.host) == ["hive", "portal.example", "hive"])
  }

  /// It would use up a mobile plan.
  @Test func aPortalGetsALargeFormThreeTimesADay() throws {
    var server = ScriptedServer { _ in .status(200, content: GigHive.loginPage) }
    let machine = try UploadMachine.upload(
      to: .plainWithoutTLS, size: 3_000_000,
      policy: { $0.retries = RetryPolicy(.forever, maximumDelayMilliseconds: 8000) })
    guard case .failed(.postponed(.notFromServer(status: 200), _, .sentRepeatedly(count: 3))) = server.run(machine)
    else {
      Issue.record("not postponed")
      return
    }
    #expect(server.requests.count == 3 && server.milliseconds >= 70_000 && !server.record.mayBeStored)
  }

  /// TLS proves that it is the server's own, which may have stored the form.
  @Test(arguments: [200, 201, 511])
  func aServersOwnLoginPageIsUnclear(status: Int) throws {
    var server = ScriptedServer([.status(status, content: GigHive.loginPage)])
    let machine = try UploadMachine.upload(
      to: .plain, policy: { $0.retries = RetryPolicy(.forever, maximumDelayMilliseconds: 8000) })
    #expect(server.run(machine) == .failed(.mayBeStored(.unconfirmed(status: status))))
    #expect(server.record.mayBeStored && server.requests.count == 1)
  }

  @Test func aServersOwnRefusalStaysOne() throws {
    var server = ScriptedServer([.status(403, content: GigHive.loginPage)])
    guard case .failed(.refused(status: 403, _)) = server.run(try .upload(to: .plain)) else {
      Issue.record("not refused")
      return
    }
    // It asks for the credentials of the request.
    var asks = ScriptedServer([.status(401, content: GigHive.loginPage)])
    guard case .failed(.refused(status: 401, _)) = asks.run(try .upload(to: .plainWithoutTLS)) else {
      Issue.record("not refused")
      return
    }
  }

  /// Before a file is removed because of its delivery.
  @Test(
    arguments: [
      (GigHive.page, "", true), ("<p>Welcome!", "text/html", true), ("", "text/html", false), ("Stored.", "", false),
      (#"{"ok":true}"#, "text/html", false), ("Stored.", "text/plain", false),
      (#"{"ok":true}"#, "application/json", false),
    ])
  func aPageWithoutTLSIsADeliveryThatNothingProves(content: String, type: String, isUnproved: Bool) throws {
    func receipt(_ machine: UploadMachine) -> Receipt? {
      let fields: KeyValuePairs = type.isEmpty ? [:] : ["Content-Type": type]
      var server = ScriptedServer([.status(200, fields, content: content)])
      guard case .finished(.delivered(let receipt, _, _)) = server.run(machine) else { return nil }
      return receipt
    }
    #expect(receipt(try .upload(to: .plainWithoutTLS))?.isUnprovedPage == isUnproved)
    #expect(receipt(try .upload(to: .plain, verifiesCertificate: false))?.isUnprovedPage == isUnproved)
    #expect(receipt(try .upload(to: .plain))?.isUnprovedPage == false)
  }

  @Test func whatNothingProvesIsNotTrusted() throws {
    var after = AfterDelivery()
    after.trustsServer = true
    var record = UploadRecord.sample(identity(size: 3))
    record.state = .delivered(RecordedDelivery(of: record))
    #expect(try after.requirement(for: record, isForGigHive: false) == nil)
    record.delivery?.isUnprovedPage = true
    #expect(throws: KeptReason.unprovedPage) { try after.requirement(for: record, isForGigHive: false) }
    #expect(!KeptReason.unprovedPage.isTemporary)
  }

  @Test(arguments: [500, 502, 503, 504])
  func aFailureAfterTheLastByteMayLeaveTheRecordingStored(status: Int) throws {
    var server = ScriptedServer([.status(status)])
    #expect(server.run(try .upload(to: .plain)) == .failed(.mayBeStored(.refused(status: status, message: ""))))
  }

  @Test func aLostAnswerMayMeanThatItIsStored() throws {
    let malformed = UploadError.invalidResponse(.notHTTP, peer: "hive")
    for error in [malformed, .connectionLost(.awaitingConfirmation, peer: "hive", nil)] {
      var server = ScriptedServer([.interruption(Interruption(error, sent: .whole))])
      #expect(server.run(try .upload(to: .plain)) == .failed(.mayBeStored(error)))
    }
  }

  /// A server cannot store a part of a form, but once content was sent, the effect of a second one is unknown.
  @Test func onceContentHasGoneOutAPlainRequestIsNotRepeated() throws {
    var begun = ScriptedServer([.lost(.partial)])
    #expect(
      begun.run(try .upload(to: .plain)) == .failed(.connectionLost(.awaitingConfirmation, peer: "hive", nil)))
    var untouched = ScriptedServer([.lost(.none), .status(200)])
    #expect(untouched.run(try .upload(to: .plain)) == deliveredPlainly())
    #expect(untouched.log == [plainPost, "wait", plainPost, "save mayBeStored"])
  }

  @Test func aDeadlineAfterTheLastByteMayMeanThatItIsStored() throws {
    let error = UploadError.timedOut(.delivering, peer: "https://hive", limitMilliseconds: 10)
    var machine = try UploadMachine.upload(to: .plain, policy: { $0.totalMilliseconds = 10 })
    _ = machine.next(nowMilliseconds: 0)
    machine.handle(.interrupted(Interruption(error, sent: .whole)))
    #expect(machine.next(nowMilliseconds: 10) == .failed(.mayBeStored(error)))
    // The same while the answer is being compared with the file.
    var hashing = try UploadMachine.upload(
      to: .plain, policy: { $0.totalMilliseconds = 10 }, configure: { $0.computesDigest = true })
    _ = hashing.next(nowMilliseconds: 0)
    hashing.handle(.answered(Answer(status: 200)))
    #expect(hashing.next(nowMilliseconds: 9) == .hash(.wholeFile))
    #expect(hashing.next(nowMilliseconds: 10) == .failed(.mayBeStored(error)))
  }

  @Test func anErrorAtTheDeadlineIsReportedItself() throws {
    var machine = try UploadMachine.upload(to: .plain, policy: { $0.totalMilliseconds = 10 })
    _ = machine.next(nowMilliseconds: 0)
    machine.handle(.answered(Answer(status: 403)))
    #expect(machine.next(nowMilliseconds: 10) == .failed(.refused(status: 403, message: "")))
  }

  /// RFC 8446, 6.2: an alert about the client's certificate means that the request was not processed.
  @Test func aRefusedClientCertificateStoresNothing() throws {
    for alert in 0...255 {
      let error = UploadError.tls(.alert(alert, words: "no"), host: "hive")
      var server = ScriptedServer([.interruption(Interruption(error, sent: .whole))])
      let isAboutIt = [42, 43, 44, 45, 46, 48, 49, 51, 116].contains(alert)
      #expect(server.run(try .upload(to: .plain)) == .failed(isAboutIt ? error : .mayBeStored(error)), "\(alert)")
      #expect(server.retries.isEmpty)
      #expect(TLSError.isRefusal(alert: alert) == (isAboutIt || [40, 70, 71, 112].contains(alert)))
    }
  }

  // MARK: S3

  private let confirmation = "https://elsewhere/done?bucket=b&key=set.wav&etag=%22ab%22"

  @Test func aRedirectByS3ThatNamesWhatWasStoredIsADelivery() throws {
    var server = ScriptedServer([.status(303, ["Location": confirmation])])
    #expect(server.run(try .upload(to: .plain)) == deliveredPlainly())
    #expect(server.log == [plainPost, "save mayBeStored"])
  }

  @Test(arguments: [
    "https://elsewhere/done", "https://elsewhere/?bucket=b&key=k", "/?bucket=b&key=k&etag=", "/bucket=b&key=k&etag=e",
    "/login?next=bucket=b&key=k&etag=e",
  ])
  func anyOtherSeeOtherMayMeanThatItIsStored(location: String) throws {
    var server = ScriptedServer([.status(303, ["Location": location])])
    let error = UploadError.redirected(status: 303, location: location)
    #expect(server.run(try .upload(to: .plain)) == .failed(.mayBeStored(error)))
  }

  /// Before the last byte, or one that only turns a POST into a GET.
  @Test(arguments: [(303, .partial), (301, .whole), (302, .whole)] as [(Int, ContentSent)])
  func anyOtherRedirectConfirmsNothingAndIsNotFollowed(status: Int, sent: ContentSent) throws {
    var server = ScriptedServer([.status(status, ["Location": confirmation], sent: sent)])
    #expect(server.run(try .upload(to: .plain)) == .failed(.redirected(status: status, location: confirmation)))
  }

  /// Programs that take forms often answer with a redirect to another of their pages; PHP's are 302 unless it says otherwise.
  @Test(arguments: ["/thanks", "thanks", "https://hive/thanks", "http://hive/thanks"])
  func aRedirectToAnotherPageOfTheServerMayMeanThatItIsStored(location: String) throws {
    let error = UploadError.redirected(status: 302, location: location)
    var server = ScriptedServer([.status(302, ["Location": location])])
    #expect(server.run(try .upload(to: .plain)) == .failed(.mayBeStored(error)))
    var early = ScriptedServer([.status(302, ["Location": location], sent: .partial)])
    #expect(early.run(try .upload(to: .plain)) == .failed(error))
  }
}
