import Testing

@testable import Uploader

/// Ending uploads and deleting recordings.
struct RemovalTests {
  private func uploader(retries: Int64 = 2, credentials: Credentials = .none) -> Uploader {
    var configuration = Configuration()
    configuration.retries = retries
    configuration.retryMaximumDelayMilliseconds = 1
    configuration.credentials = credentials
    return Uploader(configuration)
  }

  /// Of anybody on the way.
  private func answer(_ status: Int) -> LoopbackServer.Action { .answer(TusScript.refusal(status)) }

  /// Of a tus server.
  private func tus(_ status: Int) -> LoopbackServer.Action { .answer(TusScript.refusal(status, TusScript.proof)) }

  private func cancel(
    at server: LoopbackServer, overridesMethod: Bool = false, endpoint: String? = nil,
    credentials: Credentials = .none, isKept: Bool = false
  ) throws -> [LoopbackServer.Request] {
    let uploader = uploader(credentials: credentials)
    let stays = try uploader.cancel(
      try TargetURI(server.url + "files/1"), createdAt: try TargetURI(endpoint ?? server.url),
      overridesMethod: overridesMethod, cancellation: Cancellation())
    withExtendedLifetime(uploader) {}
    #expect(stays == isKept)
    return server.finish()
  }

  private func delete(at server: LoopbackServer, isRepeated: Bool = false) throws -> [LoopbackServer.Request] {
    try uploader().delete(
      assetID: 7, deleteToken: "5ec2e7", from: try TargetURI(server.url), isRepeated: isRepeated,
      cancellation: Cancellation())
    return server.finish()
  }

  // MARK: Uploads (termination)

  @Test(arguments: [200, 204, 404, 410])
  func anUploadThatIsGoneHasEnded(status: Int) throws {
    let request = try #require(try cancel(at: LoopbackServer([[tus(status)]])).first)
    #expect(request.line == "DELETE /files/1" && request.value("Tus-Resumable") == "1.0.0")
    #expect(request.value("Content-Length") == "0")
  }

  /// Somebody says that it is gone, and the server says so, too.
  @Test(arguments: [200, 204, 404, 410])
  func whatSomebodySaysIsAskedOfTheServer(status: Int) throws {
    let gone = LoopbackServer.Action.answer("HTTP/1.1 410 Gone\r\n\(TusScript.proof)Content-Length: 0\r\n\r\n")
    let said = LoopbackServer.Action.answer("HTTP/1.1 \(status) So\r\nContent-Length: 0\r\n\r\n")
    let requests = try cancel(at: LoopbackServer([[said, gone]]))
    #expect(requests.map { $0.line } == ["DELETE /files/1", "HEAD /files/1"])
  }

  @Test(arguments: [200, 404])
  func anUploadThatTheServerStillHasHasNotEnded(status: Int) throws {
    let round = [answer(status), TusScript.located(100, of: 300)]
    let server = LoopbackServer([round + round + round])
    let failure = #expect(throws: RemovalError.self) { try cancel(at: server) }
    #expect(failure?.error == .notFromServer(status: status))
    #expect(server.finish().count == 6)
  }

  @Test(arguments: [405, 501])
  func aServerThatEndsNoUploadsKeepsWhatItHas(status: Int) throws {
    #expect(try cancel(at: LoopbackServer([[tus(status)]]), isKept: true).count == 1)
    let server = LoopbackServer([[answer(status), TusScript.located(100, of: 300)]])
    #expect(try cancel(at: server, isKept: true).count == 2)
  }

  @Test func theMethodCanBeOverridden() throws {
    let request = try #require(try cancel(at: LoopbackServer([[tus(204)]]), overridesMethod: true).first)
    #expect(request.line == "POST /files/1" && request.value("X-HTTP-Method-Override") == "DELETE")
  }

  @Test(arguments: [400, 403])
  func aRefusalIsAnError(status: Int) throws {
    for refusal in [tus(status), answer(status)] {
      let server = LoopbackServer([[refusal]])
      let failure = #expect(throws: RemovalError.self) { try cancel(at: server) }
      #expect(failure?.error == .refused(status: status, message: "no"))
      _ = server.finish()
    }
  }

  @Test func aBusyServerIsAskedAgain() throws {
    let server = LoopbackServer([[answer(503), answer(423), tus(204)]])
    #expect(try cancel(at: server).count == 3)
  }

  @Test func credentialsDoNotGoToAnotherOrigin() throws {
    let token = Credentials.bearer(token: "secret")
    let own = try cancel(at: LoopbackServer([[tus(204)]]), credentials: token)
    #expect(own.first?.value("Authorization") == "Bearer secret")
    let other = try cancel(
      at: LoopbackServer([[tus(204)]]), endpoint: "https://hive.example/files/", credentials: token)
    #expect(other.first?.head.contains("secret") == false)
  }

  // MARK: Recordings

  private func json(_ status: Int, _ text: String) -> LoopbackServer.Action {
    .answer("HTTP/1.1 \(status) So\r\nContent-Length: \(text.utf8.count)\r\n\r\n" + text)
  }

  /// GigHive's refusal.
  private func no(_ status: Int) -> LoopbackServer.Action { json(status, #"{"success":false,"message":"no"}"#) }

  @Test(arguments: [(200, true), (404, false), (410, false)])
  func aRecordingThatIsGoneIsDeleted(status: Int, isSuccess: Bool) throws {
    let answer = json(status, #"{"success":\#(isSuccess)}"#)
    let request = try #require(try delete(at: LoopbackServer([[answer]])).first)
    #expect(request.line == "POST /db/delete_media_files.php" && request.value("Content-Type") == "application/json")
    #expect(String(decoding: request.body, as: UTF8.self) == #"{"asset_id":7,"delete_token":"5ec2e7"}"#)
  }

  /// A proxy or firewall says so, whatever it says.
  @Test(arguments: [403, 404, 410])
  func whatDoesNotComeFromGigHiveDeletesNothing(status: Int) throws {
    let server = LoopbackServer([[answer(503), answer(status), answer(status)]])
    let failure = #expect(throws: RemovalError.self) { try delete(at: server) }
    #expect(failure?.error == (status == 403 ? .refused(status: 403, message: "no") : .notFromServer(status: status)))
    #expect(failure?.mayBeDone == true && server.finish().count == (status == 403 ? 2 : 3))
  }

  /// What fails without the server having been asked, or with its no, cannot have been carried out.
  @Test func onlyAnUnansweredRequestMayHaveBeenCarriedOut() throws {
    func mayBeDone(_ server: LoopbackServer) -> Bool? {
      defer { _ = server.finish() }
      return #expect(throws: RemovalError.self) { try delete(at: server) }?.mayBeDone
    }
    let page = LoopbackServer.Action.answer(TusScript.refusal(200))
    #expect(mayBeDone(LoopbackServer([[answer(403)]])) == false)
    #expect(mayBeDone(LoopbackServer([[no(403)]])) == false)
    #expect(mayBeDone(LoopbackServer([[page]])) == false)
    #expect(mayBeDone(LoopbackServer([[.reset], [.reset], [.reset]])) == true)
    #expect(mayBeDone(LoopbackServer([[answer(502), answer(502), answer(502)]])) == true)
    let nobody = LoopbackServer([])
    _ = nobody.finish()
    #expect(#expect(throws: RemovalError.self) { try delete(at: nobody) }?.mayBeDone == false)
  }

  @Test func theTokenDoesNotGoToAnotherOrigin() throws {
    let location = "http://other.example/db/delete_media_files.php"
    let redirection = "HTTP/1.1 307 Go\r\nLocation: \(location)\r\nContent-Length: 0\r\n\r\n"
    let server = LoopbackServer([[.answer(redirection)]])
    let failure = #expect(throws: RemovalError.self) { try delete(at: server) }
    #expect(failure?.error == .redirected(status: 307, location: location))
    _ = server.finish()
  }

  @Test func theTokenIsNotQuoted() throws {
    let server = LoopbackServer([[json(400, #"{"success":false,"message":"bad token 5ec2e7!"}"#)]])
    let failure = #expect(throws: RemovalError.self) { try delete(at: server) }
    #expect(failure?.error == .refused(status: 400, message: "bad token (secret)!"))
    _ = server.finish()
  }

  /// The server forgets the token together with the recording.
  @Test func aTokenThatIsRefusedAfterAnEarlierTryMeansThatItWasDeleted() throws {
    #expect(try delete(at: LoopbackServer([[no(403)]]), isRepeated: true).count == 1)
  }

  @Test func aTokenThatIsRefusedAtOnceIsWrong() throws {
    let server = LoopbackServer([[no(403)]])
    let failure = #expect(throws: RemovalError.self) { try delete(at: server) }
    #expect(failure?.error == .refused(status: 403, message: "no"))
    _ = server.finish()
  }

  @Test func anAnswerThatWasLostIsNoMistakeInTheToken() throws {
    let server = LoopbackServer([[.interrupt(afterBody: 38)], [no(403)]])
    #expect(try delete(at: server).count == 2)
  }
}
