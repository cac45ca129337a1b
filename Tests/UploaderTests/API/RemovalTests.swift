import Testing

@testable import Uploader

/// Cancelling uploads and deleting recordings: the bytes on the wire, and the result for the caller. For the machine's reaction to
/// each response see `Transcripts/tus/cancel.txt` and `gighive/delete.txt` in UploadCoreTests.
struct RemovalTests {
  private func uploader(_ credentials: Credentials = .none) -> Uploader {
    var configuration = Configuration()
    configuration.retryLimit = .failures(2)
    configuration.retryMaximumDelayMilliseconds = 1
    configuration.credentials = credentials
    return Uploader(configuration)
  }

  private func answer(_ status: Int, _ fields: String = "") -> LoopbackServer.Action {
    .answer(TusScript.refusal(status, fields))
  }

  // MARK: Uploads (termination)

  /// Credentials go to the origin that the upload was created at, and to no other.
  @Test(arguments: [nil, "https://hive.example/files/"])
  func anUploadIsEndedWithTheCredentialsOfItsOwnOriginAlone(endpoint: String?) throws {
    let server = LoopbackServer([[answer(204, TusScript.proof)]])
    let uploader = uploader(.bearer(token: "secret"))
    let outcome = try uploader.run(
      .cancel(try TargetURI(server.url + "files/1"), overridesMethod: false),
      origin: try TargetURI(endpoint ?? server.url).origin, cancellation: Cancellation(), onRetry: { _, _ in })
    withExtendedLifetime(uploader) {}
    let request = try #require(server.finish().first)
    #expect(outcome == .cancelled(isKept: false) && request.line == "DELETE /files/1")
    #expect(request.value("Tus-Resumable") == "1.0.0")
    #expect(request.value("Content-Length") == "0")
    #expect(request.value("Authorization") == (endpoint == nil ? "Bearer secret" : nil))
  }

  @Test func eachRetryIsReportedWithTheResponseBehindIt() throws {
    let server = LoopbackServer([[answer(503, "Connection: close\r\n")], [.reset], [answer(204, TusScript.proof)]])
    var retries: [(failures: Int64, status: Int?)] = []
    let outcome = try uploader().run(
      .cancel(try TargetURI(server.url + "files/1"), overridesMethod: false), origin: try TargetURI(server.url).origin,
      cancellation: Cancellation(), onRetry: { retries.append(($0.failures, $1?.status)) })
    #expect(outcome == .cancelled(isKept: false) && server.finish().count == 3)
    #expect(retries.map { $0.failures } == [1, 2] && retries.map { $0.status } == [503, nil])
  }

  // MARK: Recordings

  private func json(_ status: Int, _ text: String) -> LoopbackServer.Action {
    .answer("HTTP/1.1 \(status) So\r\nContent-Length: \(text.utf8.count)\r\n\r\n" + text)
  }

  /// - Returns: the requests, and the error if it failed.
  private func delete(
    _ connections: [[LoopbackServer.Action]], isClosed: Bool = false
  ) throws -> (requests: [LoopbackServer.Request], failure: CancelDeleteError?) {
    let server = LoopbackServer(isClosed ? [] : connections)
    if isClosed { _ = server.finish() }
    var failure: CancelDeleteError?
    do {
      let base = try TargetURI(server.url)
      _ = try uploader().run(
        .delete(assetID: 7, deleteToken: "5ec2e7", from: base, isRepeated: false), origin: base.origin,
        secret: "5ec2e7",
        cancellation: Cancellation(), onRetry: { _, _ in })
    } catch let error as CancelDeleteError { failure = error }
    return (isClosed ? [] : server.finish(), failure)
  }

  @Test func aRecordingIsDeletedWithItsToken() throws {
    let (requests, failure) = try delete([[json(200, #"{"success":true,"deleted_count":1}"#)]])
    let request = try #require(requests.first)
    #expect(failure == nil && request.line == "POST /db/delete_media_files.php")
    #expect(request.value("Content-Type") == "application/json")
    #expect(String(decoding: request.body, as: UTF8.self) == #"{"asset_id":7,"delete_token":"5ec2e7"}"#)
  }

  /// A failure before the server was asked, or a refusal, means that nothing was carried out.
  @Test func onlyAnUnansweredRequestMayHaveBeenCarriedOut() throws {
    let no = json(403, #"{"success":false,"error":"Forbidden","message":"Invalid delete token"}"#)
    for refusal in [answer(403), no, answer(200)] { #expect(try delete([[refusal]]).failure?.mayBeDone == false) }
    #expect(try delete([], isClosed: true).failure?.mayBeDone == false)
    #expect(try delete([[.reset], [.reset], [.reset]]).failure?.mayBeDone == true)
    #expect(try delete([[answer(502), answer(502), answer(502)]]).failure?.mayBeDone == true)
    // The response was lost, and the server has forgotten the token along with the recording.
    #expect(try delete([[.interrupt(afterBody: 38)], [no]]).failure == nil)
  }

  @Test func theTokenIsNotQuoted() throws {
    let failure = try delete([[json(400, #"{"success":false,"message":"bad token 5ec2e7!"}"#)]]).failure
    #expect(failure?.error == .refused(status: 400, message: "bad token (secret)!"))
  }
}
