import Testing
import UploadCore

/// Cancelling an upload on a tus server, and deleting a recording from GigHive: only a response with proof ends anything.
struct RemovalTests {
  private let proof: KeyValuePairs = ["Tus-Resumable": "1.0.0"]
  private let delete = "DELETE /files/1"
  private let head = "HEAD /files/1"
  private func asked(_ status: Int) -> ScriptedServer.Reply { .status(status, content: GigHive.page) }

  // MARK: Cancel

  @Test(arguments: [200, 204, 404, 410])
  func anUploadThatTheServerSaysIsNotThereHasEnded(status: Int) throws {
    var server = ScriptedServer([.status(status, proof)])
    #expect(server.run(try .cancel()) == .finished(.cancelled(isKept: false)))
    #expect(server.log == [delete])
  }

  @Test(arguments: [405, 501])
  func aServerThatEndsNoUploadsKeepsIt(status: Int) throws {
    var proved = ScriptedServer([.status(status, proof)])
    #expect(proved.run(try .cancel()) == .finished(.cancelled(isKept: true)))
    var unproved = ScriptedServer([asked(status), .status(200, ["Upload-Offset": "7"])])
    #expect(unproved.run(try .cancel()) == .finished(.cancelled(isKept: true)))
  }

  @Test(arguments: [200, 204, 404, 410])
  func whatAStrangerSaysIsCheckedWithTheUploadsAddress(status: Int) throws {
    var server = ScriptedServer([asked(status), .status(404, proof)])
    #expect(server.run(try .cancel()) == .finished(.cancelled(isKept: false)))
    #expect(server.log == [delete, head])
  }

  @Test(arguments: [200, 404])
  func anUploadThatIsStillThereIsNotCalledEnded(status: Int) throws {
    var server = ScriptedServer { request in
      request.method == "DELETE" ? asked(status) : .status(200, ["Upload-Offset": "7"])
    }
    #expect(server.run(try .cancel()) == .failed(.notFromServer(status: status)))
    #expect(server.log.filter { $0 != "wait" } == [delete, head, delete, head, delete, head])
  }

  @Test func aStrangerWhoAnswersEverythingEndsNothing() throws {
    var server = ScriptedServer { _ in asked(404) }
    #expect(server.run(try .cancel()) == .failed(.notFromServer(status: 404)))
  }

  /// A DELETE has no offset: 409 can only be a lock.
  @Test(arguments: [409, 423])
  func aLockedUploadIsEndedLater(status: Int) throws {
    var server = ScriptedServer([.status(status), .status(204, proof)])
    #expect(server.run(try .cancel()) == .finished(.cancelled(isKept: false)))
    #expect(server.retries.map(\.error) == [.tus(.locked)])
  }

  @Test(arguments: [400, 401, 403])
  func otherRefusalsEndNothing(status: Int) throws {
    var server = ScriptedServer([asked(status)])
    #expect(server.run(try .cancel()) == .failed(.refused(status: status, message: "Who are you?")))
  }

  @Test func aLostAnswerIsAskedForAgain() throws {
    var server = ScriptedServer([.lost(), asked(404), .lost(), .status(404, proof)])
    #expect(server.run(try .cancel()) == .finished(.cancelled(isKept: false)))
    #expect(server.log == [delete, "wait", delete, head, "wait", head])
  }

  // MARK: Delete

  private let unknownToken = #"{"success":false,"error":"Forbidden","message":"Unknown token"}"#

  @Test func aRecordingThatGigHiveHasDeletedIsDeleted() throws {
    var server = ScriptedServer([.status(200, content: #"{"success":true,"deleted_count":1,"error_count":0}"#)])
    #expect(server.run(try .delete()) == .finished(.deleted(wasGone: false)))
    let content = String(decoding: server.requests[0].body?.header ?? [], as: UTF8.self)
    #expect(content == #"{"asset_id":9,"delete_token":"5ec2e7"}"# && server.requests[0].isConfidential)
  }

  /// The first request was carried out and its response lost, so GigHive no longer knows the token.
  @Test func anUnknownTokenAfterALostResponseMeansThatItIsDeleted() throws {
    for first in [ScriptedServer.Reply.lost(), .status(503), .status(504)] {
      var server = ScriptedServer([first, .status(403, content: unknownToken)])
      #expect(server.run(try .delete()) == .finished(.deleted(wasGone: false)))
    }
    var repeated = ScriptedServer([.status(403, content: unknownToken)])
    #expect(repeated.run(try .delete(isRepeated: true)) == .finished(.deleted(wasGone: false)))
  }

  private let there = ScriptedServer.Reply.status(200, content: #"{"id":9,"checksum_sha256":"ab","size_bytes":7}"#)
  private let gone = #"{"error":"Not Found","message":"No such asset"}"#

  @Test func anUnknownTokenToTheFirstRequestIsARefusal() throws {
    var server = ScriptedServer([.status(403, content: unknownToken), there])
    #expect(server.run(try .delete()) == .failed(.refused(status: 403, message: "Unknown token")))
    #expect(server.log == ["POST /db/delete_media_files.php", "GET /api/uploads/9"])
    // The first request never went out.
    var untouched = ScriptedServer([.lost(.none), .status(403, content: unknownToken), there])
    #expect(untouched.run(try .delete()) == .failed(.refused(status: 403, message: "Unknown token")))
  }

  /// GigHive has the same words for a wrong token and for a recording that it no longer has.
  @Test func anUnknownTokenOfARecordingThatIsGoneIsNoFailure() throws {
    var server = ScriptedServer([.status(403, content: unknownToken), .status(404, content: gone)])
    #expect(server.run(try .delete()) == .finished(.deleted(wasGone: true)))
    #expect(server.requests[1].isConfidential && server.requests[1].fields.first("Cache-Control") == "no-cache")
  }

  @Test func whatACacheOrAStrangerSaysIsNoProofThatItIsGone() throws {
    for reply in [ScriptedServer.Reply.status(404, ["Age": "1"], content: gone), asked(404), asked(500)] {
      var server = ScriptedServer([.status(403, content: unknownToken), reply])
      #expect(server.run(try .delete()) == .failed(.refused(status: 403, message: "Unknown token")))
    }
  }

  /// A firewall in front of a server that was down.
  @Test(arguments: [ScriptedServer.Reply.lost(), .status(503)])
  func aStrangers403NeverCountsAsDeleted(first: ScriptedServer.Reply) throws {
    var server = ScriptedServer([first, asked(403)])
    #expect(server.run(try .delete()) == .failed(.refused(status: 403, message: "Who are you?")))
  }

  @Test(arguments: [404, 410])
  func aStrangersNotFoundNeverCountsAsDeleted(status: Int) throws {
    var server = ScriptedServer { _ in asked(status) }
    #expect(server.run(try .delete()) == .failed(.notFromServer(status: status)))
    #expect(server.requests.count == 3)
  }

  @Test func aPagesSuccessNeverCountsAsDeleted() throws {
    var server = ScriptedServer([asked(200)])
    #expect(server.run(try .delete()) == .failed(.unconfirmed(status: 200)))
  }

  @Test func aSecondCallLearnsThatItMayBeDone() throws {
    var machine = try UploadMachine.delete()
    #expect(!machine.mayBeDeleted)
    _ = machine.next(nowMilliseconds: 0)
    machine.handle(
      .interrupted(Interruption(.connectionLost(.awaitingAnswer, peer: "hive", nil), sent: .whole)))
    #expect(machine.mayBeDeleted)
  }
}
