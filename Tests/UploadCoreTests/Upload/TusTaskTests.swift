import Testing
import UploadCore

private let offer = ScriptedServer.Reply.status(
  204, ["Tus-Resumable": "1.0.0", "Tus-Version": "1.0.0", "Tus-Extension": "creation,termination"])
private let proof: KeyValuePairs = ["Tus-Resumable": "1.0.0"]

/// A recording over tus to a plain server: creating, sending, resuming, locks, probes, and what may be stored.
struct TusTaskTests {
  private let begin = ["OPTIONS /files/", "POST /files/", "save created"]

  // MARK: Sending

  @Test func anUploadIsCreatedSentAndItsAddressSavedBeforeTheFirstByte() throws {
    var server = ScriptedServer([offer, .created, .has(100)])
    #expect(server.run(try .upload(to: .tusServer)) == deliveredPlainly())
    #expect(server.log == begin + ["PATCH /files/1 0..<100", "save lastByteNext"])
    #expect(server.record.remote?.url == "https://hive/files/1" && server.record.lastByteMayBeSent)
  }

  // Whatever the answer to DELETE is, or if there is none.
  @Test(arguments: [
    ScriptedServer.Reply.status(204, ["Tus-Resumable": "1.0.0"]), .gone, .status(403, [:]), .status(500, [:]),
    .status(303, ["Location": "http://portal/"]), .status(308, ["Location": "http://hive/files/old"]),
    .lost(.whole, arrived: 0),
  ])
  func theUploadOfTheFormerContentIsEndedOnce(reply: ScriptedServer.Reply) throws {
    let old = try TargetURI("https://hive/files/old")
    let part = ScriptedServer.Reply.status(
      200, ["Tus-Resumable": "1.0.0", "Upload-Offset": "7", "Upload-Length": "80"])
    var server = ScriptedServer([part, reply, offer, .created, .has(100)])
    #expect(server.run(try .upload(to: .tusServer, superseded: old)) == deliveredPlainly())
    let log = server.log.filter { $0 != "wait" }
    #expect(log == ["HEAD /files/old", "DELETE /files/old"] + begin + ["PATCH /files/1 0..<100", "save lastByteNext"])
  }

  /// The server may have the only copy.
  @Test(arguments: [
    ScriptedServer.Reply.status(200, ["Tus-Resumable": "1.0.0", "Upload-Offset": "80", "Upload-Length": "80"]),
    .status(200, ["Tus-Resumable": "1.0.0", "Upload-Offset": "7"]), .gone, .status(403), .status(302), .lost(.whole),
  ])
  func anUploadOfTheFormerContentThatMayBeWholeIsLeft(reply: ScriptedServer.Reply) throws {
    let old = try TargetURI("https://hive/files/old")
    var server = ScriptedServer([reply, offer, .created, .has(100)])
    #expect(server.run(try .upload(to: .tusServer, superseded: old)) == deliveredPlainly())
    #expect(
      server.log.filter { $0 != "wait" } == ["HEAD /files/old"] + begin + [
        "PATCH /files/1 0..<100", "save lastByteNext",
      ])
  }

  /// Its Location may have named a host that only the server can reach. That it cannot be asked is no failure of the new upload.
  @Test func anUploadOfTheFormerContentThatNobodyAnswersForCostsNoRetry() throws {
    let old = try TargetURI("https://tusd.internal/files/old")
    var server = ScriptedServer([
      .interruption(Interruption(.noSuchName(host: "tusd.internal"))), offer, .created, .has(100),
    ])
    #expect(server.run(try .upload(to: .tusServer, superseded: old)) == deliveredPlainly())
    #expect(server.retries.isEmpty)
  }

  /// The server that created it says that it is gone, and where its Location leads there is nobody who could have it.
  @Test(arguments: [("tusd.internal", true), ("hive:1080", true), ("upload.hive", false)])
  func anUploadThatIsGoneIsMadeAgainWhereNobodyElseCanHaveIt(host: String, isGone: Bool) throws {
    let isUnknown = host == "tusd.internal"
    let error =
      isUnknown ? UploadError.noSuchName(host: host) : .timedOut(.connecting, peer: host, limitMilliseconds: 1)
    let lost = ScriptedServer.Reply.interruption(Interruption(error))
    let rest = isGone ? [ScriptedServer.Reply.created, .has(100)] : [lost, lost, lost]
    var server = ScriptedServer([offer, lost, .gone] + rest)
    let end = server.run(try .upload(to: .tusServer, previous: .at("https://" + host + "/files/1", offset: 42)))
    #expect(end == (isGone ? deliveredPlainly() : .failed(error)))
    #expect(server.log.contains("save forgotten") == isGone)
  }

  // MARK: Another file

  private func resumed(_ doubt: FileDoubt, sent: SentPart?, isEnding: Bool = false) throws -> UploadMachine {
    var previous = try UploadPlan.PreviousState.at()
    (previous.doubt, previous.sent, previous.lastByteMayBeSent) = (doubt, sent, isEnding)
    return try .upload(to: .tusServer, previous: previous)
  }

  @Test(arguments: [FileDoubt.touched, .replaced])
  func aPartThatAgreesWithTheFileIsContinued(doubt: FileDoubt) throws {
    var server = ScriptedServer([offer, .has(42), .has(100)])
    let end = server.run(try resumed(doubt, sent: SentPart(length: 60, sha256: GigHive.sha256)))
    // An upload that was begun with a digest goes on with it.
    #expect(
      end == .finished(.delivered(Receipt(), SentFile(size: 100, sha256: GigHive.sha256), resumedFrom: 42)))
    #expect(
      server.log == [
        "OPTIONS /files/", "HEAD /files/1", "hash 0..<60", "save continued", "PATCH /files/1 42..<100",
        "save lastByteNext", "hash",
      ])
  }

  @Test(arguments: [SentPart(length: 60, sha256: "cd"), nil], [42, 100])
  func aPartOfAnotherFileIsNotContinued(sent: SentPart?, offset: Int64) throws {
    let ended = offset < 100 ? [ScriptedServer.Reply.status(204, ["Tus-Resumable": "1.0.0"])] : []
    var server = ScriptedServer([offer, .has(offset)] + ended + [.created, .has(100)])
    let known = sent.map { SentPart(length: max($0.length, offset), sha256: $0.sha256) }
    let end = server.run(try resumed(.replaced, sent: known, isEnding: offset == 100))
    #expect(end.map { !$0.isFailure } ?? false)
    let log = server.log.filter { !$0.hasPrefix("hash") }
    #expect(
      log == ["OPTIONS /files/", "HEAD /files/1", "save forgotten", "another file"]
        + (offset < 100 ? ["DELETE /files/1"] : [])
        + ["POST /files/", "save created", "PATCH /files/1 0..<100", "save lastByteNext"])
  }

  /// While a digest catches up, a change of the status leaves open what was sent.
  @Test(arguments: [SentPart(length: 60, sha256: GigHive.sha256), nil])
  func aDigestHasTheBeginningBeforeMoreIsSentToAPlainServer(sent: SentPart?) throws {
    var previous = try UploadPlan.PreviousState.at(offset: 42)
    previous.sent = sent
    var server = ScriptedServer([offer, .has(42), .has(100)])
    let end = server.run(try .upload(to: .tusServer, previous: previous, configure: { $0.computesDigest = true }))
    #expect(end == .finished(.delivered(Receipt(), SentFile(size: 100, sha256: GigHive.sha256), resumedFrom: 42)))
    #expect(server.log[2...3] == ["hash 0..<\(sent?.length ?? 42)", "PATCH /files/1 42..<100"])
    var gigHive = ScriptedServer([offer, .has(42), .has(100), .status(201, content: GigHive.created)])
    #expect(
      gigHive.run(try .upload(to: .gigHive, previous: .at(offset: 42), configure: { $0.uploadProtocol = .tus }))
        == GigHive.delivered(resumedFrom: 42))
    #expect(gigHive.log[2] == "PATCH /files/1 42..<100")
  }

  @Test(arguments: [
    (SentPart?(SentPart(length: 60, sha256: "ab")), HashResult.beginning(sha256: "ab", isStable: false), true),
    (SentPart(length: 60, sha256: "ab"), .beginning(sha256: "cd", isStable: true), false),
    (nil, .beginning(sha256: "ab", isStable: true), true), (nil, .beginning(sha256: "ab", isStable: false), false),
  ])
  func aBeginningThatIsTouchedWhileItIsReadIsWhatWasSentOnlyIfThatIsKnown(
    sent: SentPart?, read: HashResult, isContinued: Bool
  ) throws {
    var previous = try UploadPlan.PreviousState.at(offset: 42)
    previous.sent = sent
    var machine = try UploadMachine.upload(to: .tusServer, previous: previous, configure: { $0.computesDigest = true })
    for reply in [offer, .has(42)] {
      _ = machine.next(nowMilliseconds: 0)
      if case .answer(let answer) = reply { machine.handle(.answered(answer)) }
    }
    #expect(machine.next(nowMilliseconds: 0) == .hash(.beginning(length: sent?.length ?? 42)))
    // Of an attempt that ends now, the record keeps no more than it has.
    #expect(machine.readsUnknown == (sent == nil))
    machine.handle(.hashed(read))
    #expect(!machine.readsUnknown)
    switch machine.next(nowMilliseconds: 0) {
    case .send(let request, _): #expect(isContinued && request.method == "PATCH")
    case let action: #expect(!isContinued && action == .save(.forgotten))
    }
  }

  /// It may respond before it has the whole request.
  @Test func aServerThatTakesAPartAndSaysSoEarlyGetsTheRestFromThere() throws {
    var server = ScriptedServer([offer, .created, .has(42, sent: .partial), .has(100)])
    #expect(server.run(try .upload(to: .tusServer)) == deliveredPlainly())
    #expect(server.log == begin + ["PATCH /files/1 0..<100", "PATCH /files/1 42..<100", "save lastByteNext"])
  }

  /// Its answer may be late, or from something in between.
  @Test func aServerThatClaimsMoreThanItCanHaveIsAskedAndNotBelieved() throws {
    var server = ScriptedServer([offer, .created, .has(100, sent: .partial), .has(42), .has(100)])
    #expect(server.run(try .upload(to: .tusServer)) == deliveredPlainly())
    var liar = ScriptedServer([offer, .created, .has(100, sent: .partial), .has(100)])
    #expect(liar.run(try .upload(to: .tusServer)) == .failed(.tus(.offsetBeyond(sent: 99, acknowledged: 100))))
  }

  /// It has lost parts, or they were never there: without this, 0 bytes would be a delivery.
  @Test func anEarlierUploadOfWhichTheServerClaimsTooMuchIsMadeAgainOnce() throws {
    var server = ScriptedServer([offer, .has(100), .created, .has(100)])
    #expect(server.run(try .upload(to: .tusServer, previous: .at(offset: 42))) == deliveredPlainly())
    #expect(server.log.contains("save disproved") && server.record.isServerDoubtful)
    let claim = TusError.Contradiction.offsetBeyond(sent: 99, acknowledged: 100)
    #expect(server.retries.map(\.error) == [.tus(.startsOver(claim))])
    var previous = try UploadPlan.PreviousState.at(offset: 42)
    previous.isServerDoubtful = true
    var again = ScriptedServer([offer, .has(100)])
    let error = UploadError.tus(.offsetBeyond(sent: 99, acknowledged: 100))
    #expect(again.run(try .upload(to: .tusServer, previous: previous)) == .failed(error))
    // The last byte may have been sent.
    var whole = ScriptedServer([offer, .has(100)])
    let end = whole.run(try .upload(to: .tusServer, previous: .at(offset: 42, lastByteMayBeSent: true)))
    #expect(end == deliveredPlainly(resumedFrom: 100))
  }

  @Test func anEarlierUploadWhoseOffsetIsNotSaidIsMadeAgainOnce() throws {
    let hidden = ScriptedServer.Reply.status(200, proof)
    var server = ScriptedServer([offer, hidden, hidden, .created, .has(100)])
    #expect(server.run(try .upload(to: .tusServer, previous: .at(offset: 42))) == deliveredPlainly())
    #expect(server.retries.map(\.error) == [.tus(.noOffset(status: 200)), .tus(.startsOver(.noOffset(status: 200)))])
    var whole = ScriptedServer([offer, hidden, hidden])
    let end = whole.run(try .upload(to: .tusServer, previous: .at(offset: 42, lastByteMayBeSent: true)))
    #expect(end == .failed(.mayBeStored(.tus(.noOffset(status: 200)))))
    // Without proof, it may be anybody's.
    let strange = ScriptedServer.Reply.status(200)
    var stranger = ScriptedServer([offer, strange, strange, strange])
    let failure = stranger.run(try .upload(to: .tusServer, previous: .at(offset: 42)))
    #expect(failure == .failed(.tus(.noOffset(status: 200))))
  }

  @Test func anInterruptedUploadContinuesFromTheServersOffset() throws {
    var server = ScriptedServer([offer, .created, .lost(.partial, arrived: 60), .has(42), .has(100)])
    #expect(server.run(try .upload(to: .tusServer)) == deliveredPlainly())
    #expect(
      server.log == begin + [
        "PATCH /files/1 0..<100", "wait", "HEAD /files/1", "PATCH /files/1 42..<100", "save lastByteNext",
      ])
  }

  @Test func anUploadOfAnEarlierProcessIsResumed() throws {
    var server = ScriptedServer([offer, .has(42), .has(100)])
    #expect(server.run(try .upload(to: .tusServer, previous: .at(offset: 7))) == deliveredPlainly(resumedFrom: 42))
    #expect(server.log == ["OPTIONS /files/", "HEAD /files/1", "PATCH /files/1 42..<100", "save lastByteNext"])
  }

  /// 307 to a request with another one pipelined: both are void, and the server returns its offset.
  @Test func aRedirectOfAPatchWithAPipelinedOneLosesNothing() throws {
    var server = ScriptedServer([
      offer, .created(afterMilliseconds: 100), .status(307, ["Location": "/moved"]), .has(0), .has(8 * mebibyte),
      .has(9 * mebibyte),
    ])
    #expect(server.run(try .upload(to: .tusServer, size: 9 * mebibyte)) == deliveredPlainly(size: 9 * mebibyte))
    #expect(server.retries.isEmpty)
    #expect(server.log[3...5] == ["PATCH /files/1 0..<4194304", "+PATCH /files/1 4194304..<8388608", "HEAD /moved"])
  }

  @Test func aChecksumGoesWithEachPatch() throws {
    let offer = ScriptedServer.Reply.status(204, ["Tus-Version": "1.0.0", "Tus-Extension": "creation,checksum"])
    var server = ScriptedServer([offer, .created, .status(460), .has(0), .has(100)])
    #expect(server.run(try .upload(to: .tusServer)) == deliveredPlainly())
    #expect(server.log.filter { $0 == "sha1 0..<100" }.count == 2)
    #expect(server.requests.last?.fields.first("Upload-Checksum") == "sha1 3q2+7w==")
  }

  // MARK: Locks

  /// 409 at the server's own offset, and 423: another request has locked the upload.
  @Test(arguments: [409, 423])
  func aLockIsWaitedForWithSmallRequests(status: Int) throws {
    var count = 0
    let size = 40 * mebibyte
    var server = ScriptedServer.tus(
      head: { .has(0) },
      patch: { request in
        count += 1
        return count <= 20 ? .status(status, sent: .partial) : .has(request.fileRange.upperBound)
      })
    let machine = try UploadMachine.upload(to: .tusServer, size: size, previous: .at()) {
      $0.retries = RetryPolicy(.failures(30), maximumDelayMilliseconds: 1)
    }
    #expect(server.run(machine) == deliveredPlainly(size: size))
    #expect(server.retries.count == 20 && server.retries.allSatisfy { $0.error == .tus(.locked) })
    let inVain = server.requests.filter { $0.method == "PATCH" }.prefix(20).dropFirst()
    #expect(inVain.allSatisfy { $0.contentLength == 262_144 })
  }

  @Test func aLockThatStaysEndsAsOne() throws {
    var server = ScriptedServer.tus(head: { .has(0) }, patch: { _ in .status(409) })
    #expect(server.run(try .upload(to: .tusServer, previous: .at())) == .failed(.tus(.locked)))
  }

  // MARK: Interrupted requests

  /// tusd's answers to a request that another one interrupted, or whose content ended early.
  @Test(arguments: ["ERR_UPLOAD_INTERRUPTED: upload has been interrupted\n", "ERR_UNEXPECTED_EOF: more was expected\n"])
  func aRequestThatTheServerDidNotGetWholeIsRetried(text: String) throws {
    var server = ScriptedServer([offer, .has(0), .status(400, proof, content: text), .has(40), .has(100)])
    #expect(server.run(try .upload(to: .tusServer, previous: .at())) == deliveredPlainly(resumedFrom: 0))
    #expect(server.retries.map { $0.error } == [.tus(.interrupted)])
    #expect(server.requests.last?.fileOffset == 40)
  }

  @Test func another400ToAPATCHIsARefusal() throws {
    for reply in [
      ScriptedServer.Reply.status(400, proof, content: "ERR_INVALID_OFFSET: invalid"),
      .status(400, content: "ERR_UPLOAD_INTERRUPTED: without proof"),
    ] {
      var server = ScriptedServer([offer, .has(0), reply])
      guard case .failed(.refused(status: 400, _)) = server.run(try .upload(to: .tusServer, previous: .at())) else {
        Issue.record("not refused")
        continue
      }
    }
  }

  // MARK: Unknown uploads

  @Test func anUploadThatTheServerSaysIsGoneStartsOver() throws {
    var server = ScriptedServer([offer, .gone, .created, .has(100)])
    #expect(
      server.run(try .upload(to: .tusServer, previous: .at("https://hive/files/0", offset: 7))) == deliveredPlainly())
    #expect(
      server.log == [
        "OPTIONS /files/", "HEAD /files/0", "save forgotten", "POST /files/", "save created", "PATCH /files/1 0..<100",
        "save lastByteNext",
      ])
  }

  @Test func aServerThatForgetsEachUploadIsGivenUp() throws {
    var server = ScriptedServer.tus(head: { .gone }, patch: { _ in .gone })
    let machine = try UploadMachine.upload(to: .tusServer, size: 100 * mebibyte)
    let until = server.bootedAtSeconds + 86_400
    #expect(server.run(machine) == .failed(.postponed(.uploadLost, untilSeconds: until, .sentRepeatedly(count: 3))))
    #expect(server.retries.count == 2)
  }

  /// Repeated 404s from a firewall: the upload fails for now, and its URL is kept.
  @Test(arguments: [404, 410])
  func aStrangersNotFoundNeverLosesAnUpload(status: Int) throws {
    var server = ScriptedServer { _ in .status(status, content: GigHive.page) }
    let end = server.run(try .upload(to: .tusServer, previous: .at()))
    #expect(end == .failed(.notFromServer(status: status)))
    #expect(!server.log.contains { $0.hasPrefix("save") })
    #expect(UploadError.notFromServer(status: status).leavesPending)
  }

  @Test(arguments: [404, 410])
  func whereTheServerProvesItselfAndTheOldAddressStaysUnknownTheNewUploadIsUsed(status: Int) throws {
    var server = ScriptedServer([offer, .status(status), .created, .has(0), .status(status), .has(100)])
    #expect(
      server.run(try .upload(to: .tusServer, previous: .at("https://hive/files/0", offset: 7))) == deliveredPlainly())
    #expect(
      server.log == [
        "OPTIONS /files/", "HEAD /files/0", "POST /files/", "HEAD /files/1", "HEAD /files/0", "save created",
        "PATCH /files/1 0..<100", "save lastByteNext",
      ])
    #expect(server.record.remote?.url == "https://hive/files/1")
  }

  /// A server that redirects every URL, and whose errors prove nothing: a redirect must not restart the upload.
  @Test func oneNewUploadIsEnoughToLearnWhoAnswersAlsoWhereEachRequestIsRedirected() throws {
    var server = ScriptedServer { request in
      let path = request.target.text.dropFirst("https://hive".count)
      if !path.hasPrefix("/moved") { return .status(307, ["Location": "/moved" + path]) }
      switch request.method {
      case "OPTIONS": return offer
      case "POST": return .status(201, ["Tus-Resumable": "1.0.0", "Location": "/files/1"])
      case "HEAD": return path.hasSuffix("/0") ? .status(404) : .has(0)
      default: return .has(100)
      }
    }
    #expect(
      server.run(try .upload(to: .tusServer, previous: .at("https://hive/files/0", offset: 7))) == deliveredPlainly())
    #expect(server.log.filter { $0.hasPrefix("POST /moved") }.count == 1 && server.retries.isEmpty)
  }

  /// Whatever the response to its removal.
  @Test(arguments: [.status(204), .status(302, ["Location": "http://portal/"])] as [ScriptedServer.Reply])
  func whereTheOldAddressAnswersAgainItIsResumedAndTheNewUploadRemoved(reply: ScriptedServer.Reply) throws {
    var server = ScriptedServer([offer, .status(404), .created, .has(0), .has(42), reply, .has(100)])
    let end = server.run(try .upload(to: .tusServer, previous: .at("https://hive/files/0", offset: 7)))
    #expect(end == deliveredPlainly(resumedFrom: 42))
    #expect(
      server.log == [
        "OPTIONS /files/", "HEAD /files/0", "POST /files/", "HEAD /files/1", "HEAD /files/0", "DELETE /files/1",
        "PATCH /files/0 42..<100", "save lastByteNext",
      ])
  }

  // MARK: May be stored

  /// Some servers remove complete uploads. The URL then returns 404.
  @Test(
    arguments: [
      .lost(),
      // A proxy may refuse an upload that has reached the server, and was already stored and removed.
      .status(408), .status(423), .status(425), .status(429),
      // A proxy may send the last request twice: the second one meets the lock, or the offset, of the first.
      .status(409, proof), .status(423, proof),
      // A success without an offset does not say how much is stored.
      .status(204, proof),
    ] as [ScriptedServer.Reply])
  func anUploadThatIsGoneAfterItsLastByteMayBeStored(reply: ScriptedServer.Reply) throws {
    var server = ScriptedServer([offer, .created, reply, .gone])
    #expect(server.run(try .upload(to: .tusServer)) == .failed(.mayBeStored(.uploadLost)))
    #expect(server.log.last == "HEAD /files/1" && server.record.lastByteMayBeSent)
  }

  /// The first response says nothing about the pipelined request, and one without an offset says nothing about either.
  @Test(arguments: [[.has(4 * mebibyte), .lost()], [.status(204, proof)]] as [[ScriptedServer.Reply]])
  func thatHoldsEvenIfTheLastByteWasPipelined(replies: [ScriptedServer.Reply]) throws {
    var server = ScriptedServer([offer, .created(afterMilliseconds: 100)] + replies + [.gone])
    let end = server.run(try .upload(to: .tusServer, size: 6 * mebibyte))
    #expect(end == .failed(.mayBeStored(.uploadLost)))
    #expect(server.log.filter { $0.hasPrefix("POST") }.count == 1)
  }

  /// A gateway's failure is the error that is shown.
  @Test func thatHoldsEvenIfAGatewayFailed() throws {
    var server = ScriptedServer([offer, .created, .status(502), .gone])
    #expect(server.run(try .upload(to: .tusServer)) == .failed(.mayBeStored(.refused(status: 502, message: ""))))
  }

  /// Of a request that takes hours, a process that is killed has usually not sent the last byte.
  @Test func anUploadThatWasInterruptedBeforeItsLastByteAndExpiredStartsOver() throws {
    var first = ScriptedServer([offer, .created, .lost(.partial, arrived: 10)])
    _ = first.run(
      try .upload(to: .tusServer, policy: { $0.retries = RetryPolicy(.failures(0), maximumDelayMilliseconds: 1000) }))
    #expect(!first.record.lastByteMayBeSent && first.record.remote != nil)
    var second = ScriptedServer([offer, .gone, .created, .has(100)])
    let previous = UploadPlan.PreviousState(try #require(first.record.unfinished))
    #expect(second.run(try .upload(to: .tusServer, previous: previous)) == deliveredPlainly())
  }

  /// As that of a portal, before the request was sent.
  @Test func anEarlySuccessWithoutProofIsRetried() throws {
    let page = ScriptedServer.Reply.status(200, content: GigHive.page, sent: .partial)
    var server = ScriptedServer([offer, .created, page, .has(0), .has(100)])
    #expect(server.run(try .upload(to: .tusServer)) == deliveredPlainly())
    #expect(server.retries.map(\.error) == [.tus(.unproved(status: 200))])
  }

  /// It has created the upload, and ignored the content.
  @Test func anEarlyResponseToACreationWithContentCounts() throws {
    let offer = ScriptedServer.Reply.status(
      204, ["Tus-Resumable": "1.0.0", "Tus-Version": "1.0.0", "Tus-Extension": "creation,creation-with-upload"])
    let early = ScriptedServer.Reply.status(
      201, ["Location": "1", "Tus-Resumable": "1.0.0", "Upload-Offset": "0"], sent: .partial)
    var server = ScriptedServer([offer, early, .has(100)])
    #expect(server.run(try .upload(to: .tusServer)) == deliveredPlainly())
  }

  /// The server itself says that it has not accepted it, or the last byte was not sent.
  @Test(
    arguments: [
      .status(425, proof), .status(425, sent: .partial), .lost(.none), .lost(.partial),
    ] as [ScriptedServer.Reply])
  func whatTheServerRefusesOrDidNotGetWholeIsNotStored(reply: ScriptedServer.Reply) throws {
    var server = ScriptedServer([offer, .created, reply, .gone, .created, .has(100)])
    #expect(server.run(try .upload(to: .tusServer)) == deliveredPlainly())
    #expect(server.retries.map(\.error).last == .uploadLost)
  }

  /// The server computes the URL from the file, and an empty upload takes the place of the one that it may have stored.
  @Test func thatHoldsEvenIfTheURLIsUsedAgain() throws {
    var server = ScriptedServer([offer, .created, .lost(), .status(404), .created, .has(0)])
    #expect(server.run(try .upload(to: .tusServer)) == .failed(.mayBeStored(.uploadLost)))
    #expect(server.log.last == "HEAD /files/1")
  }

  @Test func thatHoldsAlsoForAnEarlierProcess() throws {
    var server = ScriptedServer([offer, .gone])
    let end = server.run(try .upload(to: .tusServer, previous: .at(offset: 7, lastByteMayBeSent: true)))
    #expect(end == .failed(.mayBeStored(.uploadLost)))
  }

  @Test func beforeTheLastByteWentOutALostUploadIsNotStored() throws {
    var server = ScriptedServer { request in
      switch request.method {
      case "OPTIONS": offer
      case "POST": .status(201, ["Tus-Resumable": "1.0.0", "Location": "2"])
      case "HEAD": .gone
      default: .has(request.fileOffset + request.contentLength)
      }
    }
    let size = 20 * mebibyte
    #expect(
      server.run(try .upload(to: .tusServer, size: size, previous: .at(offset: 7))) == deliveredPlainly(size: size))
  }

  // MARK: Servers without tus

  /// Some servers, or firewalls in front of them, do not answer OPTIONS but accept uploads.
  @Test(arguments: [403, 404, 501])
  func aServerThatDoesNotAnswerOptionsIsTriedAnyway(status: Int) throws {
    var server = ScriptedServer([.status(status), .created, .has(100)])
    #expect(server.run(try .upload(to: .tusServer)) == deliveredPlainly())
  }
}
