import Testing
import UploadCore

/// The question whether GigHive still has a recording, before its file is removed: only GigHive's own answer with the same SHA-256 and
/// size counts as yes.
struct PresenceTests {
  private static let size: Int64 = 6 << 30
  private let ask = "GET /api/uploads/9"

  private static func answer(_ checksum: String = GigHive.sha256, _ size: String = "6442450944") -> String {
    #"{"id":9,"checksum_sha256":"\#(checksum)","size_bytes":\#(size)}"#
  }

  private func machine(retries: Int64 = 2) throws -> UploadMachine {
    let recording = StoredRecording(
      base: try TargetURI("https://hive/"), assetID: 9, sha256: GigHive.sha256, size: PresenceTests.size)
    return try UploadMachine(
      .examine(recording),
      UploadMachine.policy { $0.retries = RetryPolicy(.failures(retries), maximumDelayMilliseconds: 8000) })
  }

  /// PHP often writes a number as a string.
  @Test func theSameChecksumAndSizeMeanThatItIsThere() throws {
    for content in [
      PresenceTests.answer(), PresenceTests.answer(GigHive.sha256.uppercased()),
      PresenceTests.answer(GigHive.sha256, #""6442450944""#),
    ] {
      var server = ScriptedServer([.status(200, content: content)])
      #expect(server.run(try machine()) == .finished(.examined(.stored)))
      #expect(server.log == [ask])
      #expect(server.requests[0].fields == [Field("Cache-Control", "no-cache")] && server.requests[0].body == nil)
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
    var fresh = ScriptedServer([.status(200, ["Age": "0"], content: stored)])
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
      .status(status, content: GigHive.page), .status(200, content: PresenceTests.answer()),
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
      .status(307, ["Location": "/moved/api/uploads/9"]), .status(200, content: PresenceTests.answer()),
    ])
    #expect(same.run(try machine()) == .finished(.examined(.stored)))
  }

  @Test func aLostAnswerIsAskedForAgain() throws {
    var server = ScriptedServer([.lost(), .status(503), .status(200, content: PresenceTests.answer())])
    #expect(server.run(try machine()) == .finished(.examined(.stored)))
    #expect(server.log == [ask, "wait", ask, "wait", ask])
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
