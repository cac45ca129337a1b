import Testing

@testable import Uploader

/// Ending uploads and deleting recordings.
struct TakingBackTests {
  private func uploader(retries: Int64 = 2, credentials: Credentials = .none) -> Uploader {
    var configuration = Configuration()
    configuration.retries = retries
    configuration.retryMaximumDelayMilliseconds = 1
    configuration.credentials = credentials
    return Uploader(configuration)
  }

  private func answer(_ status: Int) -> LoopbackServer.Action { .answer(TusScript.refusal(status)) }

  private func terminate(
    at server: LoopbackServer, overridesMethod: Bool = false, endpoint: String? = nil, credentials: Credentials = .none
  ) throws -> [LoopbackServer.Request] {
    let uploader = uploader(credentials: credentials)
    try uploader.terminate(
      try TargetURI(server.url + "files/1"), createdAt: try TargetURI(endpoint ?? server.url),
      overridesMethod: overridesMethod, cancellation: Cancellation())
    withExtendedLifetime(uploader) {}
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
    let request = try #require(try terminate(at: LoopbackServer([[answer(status)]])).first)
    #expect(request.line == "DELETE /files/1" && request.value("Tus-Resumable") == "1.0.0")
    #expect(request.value("Content-Length") == "0")
  }

  @Test func theMethodCanBeOverridden() throws {
    let request = try #require(
      try terminate(at: LoopbackServer([[answer(204)]]), overridesMethod: true).first)
    #expect(request.line == "POST /files/1" && request.value("X-HTTP-Method-Override") == "DELETE")
  }

  @Test(arguments: [400, 403, 405])
  func aRefusalIsAnError(status: Int) throws {
    let server = LoopbackServer([[answer(status)]])
    let failure = #expect(throws: NotTakenBack.self) { try terminate(at: server) }
    #expect(failure?.error == .refused(status: status, message: "no"))
    _ = server.finish()
  }

  @Test func aBusyServerIsAskedAgain() throws {
    let server = LoopbackServer([[answer(503), answer(423), answer(204)]])
    #expect(try terminate(at: server).count == 3)
  }

  @Test func credentialsDoNotGoToAnotherOrigin() throws {
    let token = Credentials.bearer(token: "secret")
    let own = try terminate(at: LoopbackServer([[answer(204)]]), credentials: token)
    #expect(own.first?.value("Authorization") == "Bearer secret")
    let other = try terminate(
      at: LoopbackServer([[answer(204)]]), endpoint: "https://hive.example/files/", credentials: token)
    #expect(other.first?.head.contains("secret") == false)
  }

  // MARK: Recordings

  private func json(_ status: Int, _ text: String) -> LoopbackServer.Action {
    .answer("HTTP/1.1 \(status) So\r\nContent-Length: \(text.utf8.count)\r\n\r\n" + text)
  }

  @Test(arguments: [200, 404, 410])
  func aRecordingThatIsGoneIsDeleted(status: Int) throws {
    let request = try #require(try delete(at: LoopbackServer([[json(status, "{}")]])).first)
    #expect(request.line == "POST /db/delete_media_files.php" && request.value("Content-Type") == "application/json")
    #expect(String(decoding: request.body, as: UTF8.self) == #"{"asset_id":7,"delete_token":"5ec2e7"}"#)
  }

  /// What fails without the server having been asked, or with its no, cannot have been carried out.
  @Test func onlyAnUnansweredRequestMayHaveBeenCarriedOut() throws {
    func mayBeDone(_ server: LoopbackServer) -> Bool? {
      defer { _ = server.finish() }
      return #expect(throws: NotTakenBack.self) { try delete(at: server) }?.mayBeDone
    }
    let page = LoopbackServer.Action.answer(TusScript.refusal(200))
    #expect(mayBeDone(LoopbackServer([[answer(403)]])) == false)
    #expect(mayBeDone(LoopbackServer([[page]])) == false)
    #expect(mayBeDone(LoopbackServer([[.reset], [.reset], [.reset]])) == true)
    #expect(mayBeDone(LoopbackServer([[answer(502), answer(502), answer(502)]])) == true)
    let nobody = LoopbackServer([])
    _ = nobody.finish()
    #expect(#expect(throws: NotTakenBack.self) { try delete(at: nobody) }?.mayBeDone == false)
  }

  @Test func theTokenDoesNotGoToAnotherOrigin() throws {
    let location = "http://other.example/db/delete_media_files.php"
    let redirection = "HTTP/1.1 307 Go\r\nLocation: \(location)\r\nContent-Length: 0\r\n\r\n"
    let server = LoopbackServer([[.answer(redirection)]])
    let failure = #expect(throws: NotTakenBack.self) { try delete(at: server) }
    #expect(failure?.error == .redirected(status: 307, location: location))
    _ = server.finish()
  }

  @Test func theTokenIsNotQuoted() throws {
    let server = LoopbackServer([[json(400, #"{"message":"bad token 5ec2e7!"}"#)]])
    let failure = #expect(throws: NotTakenBack.self) { try delete(at: server) }
    #expect(failure?.error == .refused(status: 400, message: "bad token (secret)!"))
    _ = server.finish()
  }

  /// The server forgets the token together with the recording.
  @Test func aTokenThatIsRefusedAfterAnEarlierTryMeansThatItWasDeleted() throws {
    #expect(try delete(at: LoopbackServer([[answer(403)]]), isRepeated: true).count == 1)
  }

  @Test func aTokenThatIsRefusedAtOnceIsWrong() throws {
    let server = LoopbackServer([[answer(403)]])
    let failure = #expect(throws: NotTakenBack.self) { try delete(at: server) }
    #expect(failure?.error == .refused(status: 403, message: "no"))
    _ = server.finish()
  }

  @Test func anAnswerThatWasLostIsNoMistakeInTheToken() throws {
    let server = LoopbackServer([[.cut(afterBody: 38)], [answer(403)]])
    #expect(try delete(at: server).count == 2)
  }
}
