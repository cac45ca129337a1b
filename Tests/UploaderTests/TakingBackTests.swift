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
    #expect(throws: UploadError.refused(status: status, message: "no")) { try terminate(at: server) }
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

  @Test(arguments: [200, 204, 404, 410])
  func aRecordingThatIsGoneIsDeleted(status: Int) throws {
    let request = try #require(try delete(at: LoopbackServer([[answer(status)]])).first)
    #expect(request.line == "POST /db/delete_media_files.php" && request.value("Content-Type") == "application/json")
    #expect(String(decoding: request.body, as: UTF8.self) == #"{"asset_id":7,"delete_token":"5ec2e7"}"#)
  }

  /// The server forgets the token together with the recording.
  @Test func aTokenThatIsRefusedAfterAnEarlierTryMeansThatItWasDeleted() throws {
    #expect(try delete(at: LoopbackServer([[answer(403)]]), isRepeated: true).count == 1)
  }

  @Test func aTokenThatIsRefusedAtOnceIsWrong() throws {
    let server = LoopbackServer([[answer(403)]])
    #expect(throws: UploadError.refused(status: 403, message: "no")) { try delete(at: server) }
    _ = server.finish()
  }

  @Test func anAnswerThatWasLostIsNoMistakeInTheToken() throws {
    let server = LoopbackServer([[.cut(afterBody: 38)], [answer(403)]])
    #expect(try delete(at: server).count == 2)
  }
}
