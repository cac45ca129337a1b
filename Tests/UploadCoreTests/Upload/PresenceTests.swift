import Testing
import UploadCore

/// The questions whether GigHive still has a recording, before its file is removed: only GigHive's own answer with the same SHA-256 and
/// size, and a file of that size, count as yes.
struct PresenceTests {
  private static let size: Int64 = 6 << 30
  private let ask = "GET /api/uploads/9"
  private let there = ScriptedServer.Reply.status(200, ["Content-Length": "6442450944"])

  private static func answer(
    _ checksum: String = GigHive.sha256, _ size: String = "6442450944", type: String = "video", name: String? = nil
  ) -> String {
    #"{"id":9,"file_name":"\#(name ?? GigHive.sha256 + ".mp4")","file_type":"\#(type)","checksum_sha256":"\#(checksum)","#
      + #""size_bytes":\#(size)}"#
  }

  private func machine(
    retries: Int64 = 2, base: String = "https://hive/", seed: UInt64 = 7, canRenew: Bool = false
  ) throws -> UploadMachine {
    let recording = StoredRecording(
      base: try TargetURI(base), assetID: 9, sha256: GigHive.sha256, size: PresenceTests.size)
    return try UploadMachine(
      .examine(recording),
      UploadMachine.policy {
        $0.retries = RetryPolicy(.failures(retries), maximumDelayMilliseconds: 8000)
        $0.seed = seed
        $0.canRenewCredentials = canRenew
      })
  }

  /// PHP often writes a number as a string.
  @Test func theSameChecksumAndSizeMeanThatItIsThere() throws {
    for content in [
      PresenceTests.answer(), PresenceTests.answer(GigHive.sha256.uppercased()),
      PresenceTests.answer(GigHive.sha256, #""6442450944""#),
    ] {
      var server = ScriptedServer([.status(200, content: content), there])
      #expect(server.run(try machine()) == .finished(.examined(.stored)))
      #expect(server.requests.map(\.method) == ["GET", "HEAD"] && server.log[0] == ask)
      for request in server.requests {
        #expect(request.fields == [Field("Cache-Control", "no-cache")] && request.body == nil && request.isConfidential)
      }
    }
  }

  /// A cache can keep an answer for longer than the server keeps the recording.
  @Test func onlyWhatTheServerSaysNowIsAnAnswer() throws {
    let stored = PresenceTests.answer()
    for reply: ScriptedServer.Reply in [
      .status(200, ["Age": "86400"], content: stored), .status(200, ["Age": "0", "Age": "1"], content: stored),
      .status(200, ["Age": "old"], content: stored), .status(203, content: stored), .status(206, content: stored),
      .status(201, content: stored),
    ] {
      var server = ScriptedServer([reply])
      guard case .failed(.unconfirmed) = server.run(try machine(retries: 0)) else {
        Issue.record("taken for an answer: \(reply)")
        continue
      }
    }
    var gone = ScriptedServer([.status(404, ["Age": "5"], content: #"{"error":"Not Found"}"#)])
    #expect(gone.run(try machine(retries: 0)) == .failed(.notFromServer(status: 404)))
    var fresh = ScriptedServer([.status(200, ["Age": "0"], content: stored), there])
    #expect(fresh.run(try machine()) == .finished(.examined(.stored)))
  }

  @Test func anythingElseUnderItsNumberIsSomethingDifferent() throws {
    let other = String(repeating: "0", count: 64)
    for content in [
      PresenceTests.answer(other), PresenceTests.answer(""), PresenceTests.answer(GigHive.sha256 + "0"),
      PresenceTests.answer(GigHive.sha256, "6442450943"), PresenceTests.answer(GigHive.sha256, "2147483648"),
      PresenceTests.answer(GigHive.sha256, "0"), PresenceTests.answer(GigHive.sha256, "-6442450944"),
    ] {
      var server = ScriptedServer([.status(200, content: content)])
      #expect(server.run(try machine()) == .finished(.examined(.different)), "\(content)")
    }
  }

  @Test(arguments: [404, 410])
  func gighiveCanSayThatItIsGone(status: Int) throws {
    var server = ScriptedServer([.status(status, content: #"{"error":"Not Found","message":"No such upload"}"#)])
    #expect(server.run(try machine()) == .finished(.examined(.absent)))
  }

  /// A proxy's 404 is no answer, however often it comes.
  @Test(arguments: [404, 410])
  func somebodyElsesNotFoundSaysNothing(status: Int) throws {
    var server = ScriptedServer { _ in .status(status, content: GigHive.page) }
    #expect(server.run(try machine()) == .failed(.notFromServer(status: status)))
    #expect(server.requests.count == 3)
    var later = ScriptedServer([
      .status(status, content: GigHive.page), .status(200, content: PresenceTests.answer()), there,
    ])
    #expect(later.run(try machine()) == .finished(.examined(.stored)))
  }

  @Test func aSuccessWithoutBothValuesProvesNothing() throws {
    for content in [
      "", GigHive.page, "{}", "[]", "null", #"{"checksum_sha256":"\#(GigHive.sha256)"}"#, #"{"size_bytes":6442450944}"#,
      PresenceTests.answer(GigHive.sha256, "null"), PresenceTests.answer(GigHive.sha256, "6442450944.5"),
      #"{"checksum_sha256":null,"size_bytes":6442450944}"#, #"{"status":"pending","asset_id":9}"#,
      #"{"error":"Not Found"}"#, PresenceTests.answer() + "x", String(PresenceTests.answer().dropLast()),
    ] {
      var server = ScriptedServer([.status(200, content: content)])
      #expect(server.run(try machine(retries: 0)) == .failed(.unconfirmed(status: 200)), "\(content)")
    }
  }

  @Test(arguments: [400, 401, 403, 500, 511])
  func aRefusalIsNoAnswer(status: Int) throws {
    for content in [GigHive.page, PresenceTests.answer()] {
      var server = ScriptedServer([.status(status, content: content)])
      guard case .failed(.refused(let refused, _)) = server.run(try machine(retries: 0)) else {
        Issue.record("not a refusal: \(status) \(content)")
        continue
      }
      #expect(refused == status)
    }
  }

  /// Another server's answer proves nothing, whatever it says.
  @Test func itIsNotAskedElsewhere() throws {
    var server = ScriptedServer([.status(307, ["Location": "https://other/api/uploads/9"])])
    #expect(
      server.run(try machine()) == .failed(.redirected(status: 307, location: "https://other/api/uploads/9")))
    var same = ScriptedServer([
      .status(307, ["Location": "/moved/api/uploads/9"]), .status(200, content: PresenceTests.answer()), there,
    ])
    #expect(same.run(try machine()) == .finished(.examined(.stored)))
  }

  @Test func aLostAnswerIsAskedForAgain() throws {
    var server = ScriptedServer([.lost(), .status(503), .status(200, content: PresenceTests.answer()), there])
    #expect(server.run(try machine()) == .finished(.examined(.stored)))
    #expect(server.log.dropLast() == [ask, "wait", ask, "wait", ask])
  }

  // MARK: The file

  private func end(
    _ replies: [ScriptedServer.Reply], row: String = answer(), retries: Int64 = 0
  ) throws -> ScriptedServer.End? {
    var server = ScriptedServer([.status(200, content: row)] + replies)
    return server.run(try machine(retries: retries))
  }

  /// Caches that ignore what a request says know a response by its address.
  @Test func itsFileIsAskedForBelowTheBaseWithAnotherAddressEachTime() throws {
    var addresses: Set<String> = []
    for (type, seed) in [("audio", 1), ("video", 2)] as [(String, UInt64)] {
      let row = PresenceTests.answer(type: type, name: GigHive.sha256 + ".wav")
      var server = ScriptedServer([.status(200, content: row), .lost(), .status(503), there])
      #expect(server.run(try machine(base: "https://hive/base?x", seed: seed)) == .finished(.examined(.stored)))
      let asked = server.requests.dropFirst().map { $0.target.requestTarget }
      #expect(asked.count == 3 && asked.allSatisfy { $0.hasPrefix("/base/\(type)/\(GigHive.sha256).wav?nonce=") })
      addresses.formUnion(asked)
    }
    #expect(addresses.count == 6)
  }

  @Test func aRedirectToItsFileIsFollowed() throws {
    var server = ScriptedServer { request in
      let target = request.target.requestTarget
      if request.method == "GET" { return .status(200, content: PresenceTests.answer()) }
      return target.hasPrefix("/moved") ? there : .status(307, ["Location": "/moved" + target])
    }
    #expect(server.run(try machine(retries: 0)) == .finished(.examined(.stored)))
    let asked = server.requests.map(\.target.requestTarget)
    #expect(asked.count == 3 && asked[2] == "/moved" + asked[1])
  }

  @Test func aRowWithoutItsFileIsNoRecording() throws {
    for status in [404, 410] { #expect(try end([.status(status)]) == .finished(.examined(.withoutFile))) }
    #expect(try end([.status(200, ["Content-Length": "6442450943"])]) == .finished(.examined(.different)))
    for fields: KeyValuePairs in [[:], ["Content-Length": "x"]] {
      #expect(try end([.status(200, fields)]) == .failed(.unconfirmed(status: 200)))
    }
  }

  @Test func whoMayNotLookDoesNotKnow() throws {
    for status in [401, 403] { #expect(try end([.status(status)]) == .finished(.examined(.hidden))) }
    var server = ScriptedServer([.status(200, content: PresenceTests.answer()), .status(401), there])
    server.hasNewCredentials = true
    #expect(server.run(try machine(canRenew: true)) == .finished(.examined(.stored)))
    #expect(server.log.contains("renew credentials"))
  }

  @Test(arguments: [203, 204, 206, 304, 400, 405, 416, 500, 511])
  func anyOtherStatusSaysNothing(status: Int) throws {
    let failed = try #require(try end([.status(status, ["Content-Length": "6442450944"])]))
    #expect(failed.isFailure)
  }

  @Test(
    arguments: [
      ("Age", "1"), ("Age", "x"), ("X-Cache", "HIT"), ("X-Cache", "Hit from cloudfront"), ("x-cache", "MISS, HIT"),
      ("X-Cache", "TCP_MEM_HIT from a1"), ("X-Cache", "MISS from hive, HIT from cdn"), ("CF-Cache-Status", "HIT"),
      ("CF-Cache-Status", "STALE"), ("X-Cache-Status", "UPDATING"), ("X-Proxy-Cache", "hit"),
      ("Cache-Status", "cdn; hit; ttl=30"), ("Cache-Status", "a;fwd=miss, b ;hit"),
    ])
  func whatACacheHasKeptSaysNothing(name: String, value: String) throws {
    for (status, error) in [(200, UploadError.unconfirmed(status: 200)), (404, .notFromServer(status: 404))] {
      var server = ScriptedServer([
        .status(200, content: PresenceTests.answer()),
        .answer(Answer(status: status, fields: [Field("Content-Length", "6442450944"), Field(name, value)])),
      ])
      #expect(server.run(try machine(retries: 0)) == .failed(error))
    }
  }

  @Test(
    arguments: [
      ("Age", "0"), ("X-Cache", "MISS"), ("X-Cache", "MISS from hitchcock"), ("X-Cache", "Miss from cloudfront"),
      ("CF-Cache-Status", "DYNAMIC"), ("CF-Cache-Status", "BYPASS"), ("Cache-Status", "cdn; fwd=uri-miss; stored"),
      ("X-Cache-Lookup", "HIT from squid"),
    ])
  func whatACacheHasJustFetchedCounts(name: String, value: String) throws {
    let answer = Answer(status: 200, fields: [Field("Content-Length", "6442450944"), Field(name, value)])
    #expect(try end([.answer(answer)]) == .finished(.examined(.stored)))
  }

  /// Nothing shows that such a file has the content.
  @Test(
    arguments: [
      "gig.mp4", "SUM", "SUM.", "SUMx.mp4", "SUM.mp4?x", "SUM.tar.gz", "a/SUM.mp4", "SUM.../../x", "SUM.a b", "",
      "0SUM.mp4",
    ])
  func aFileMustHaveTheNameOfWhatWasSent(pattern: String) throws {
    var name = pattern
    if let range = pattern.firstRange(of: "SUM") { name.replaceSubrange(range, with: GigHive.sha256) }
    #expect(try end([], row: PresenceTests.answer(name: name)) == .finished(.examined(.misnamed)))
  }

  @Test(arguments: ["image", "", "../video", "Video"])
  func aFileMustBeWhereGigHiveKeepsRecordings(type: String) throws {
    #expect(try end([], row: PresenceTests.answer(type: type)) == .finished(.examined(.misnamed)))
  }

  @Test func aRowThatNamesNoFileIsNotEnough() throws {
    let row = #"{"id":9,"checksum_sha256":"\#(GigHive.sha256)","size_bytes":6442450944}"#
    #expect(try end([], row: row) == .finished(.examined(.misnamed)))
  }

  /// Guests may not look at files.
  @Test func onlyAFileThatMayNotBeLookedAtCanBeTrusted() {
    var after = AfterDelivery()
    #expect(after.keptReason(for: .stored) == nil && after.keptReason(for: .hidden) == .hidden)
    after.trustsServer = true
    #expect(after.keptReason(for: .hidden) == nil)
    for (presence, reason) in [
      (.absent, .absent), (.different, .different), (.withoutFile, .withoutFile), (.misnamed, .misnamed),
    ] as [(Presence, KeptReason)] {
      #expect(after.keptReason(for: presence) == reason && !reason.isTemporary)
    }
  }

  @Test func onlyADeliveryWithItsNumberAndSHA256CanBeAskedFor() throws {
    var record = UploadRecord.sample(identity(size: 3))
    record.unfinished?.assetID = 9
    #expect(StoredRecording(record) == nil)
    record.state = .delivered(RecordedDelivery(of: record))
    record.delivery?.sha256 = GigHive.sha256
    #expect(
      StoredRecording(record)
        == StoredRecording(base: try TargetURI("https://hive/"), assetID: 9, sha256: GigHive.sha256, size: 3))
    for change: (inout UploadRecord) -> Void in [
      { $0.delivery?.assetID = nil }, { $0.delivery?.sha256 = nil }, { $0.destination.endpoint = "hive" },
    ] {
      var incomplete = record
      change(&incomplete)
      #expect(StoredRecording(incomplete) == nil)
    }
  }
}
