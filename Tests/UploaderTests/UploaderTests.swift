import Testing

@testable import Uploader

/// Whole uploads over the loopback interface.
struct UploaderTests {
  private let directory = TemporaryDirectory()
  private let ok = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"

  /// GigHive's confirmation of a file with the content "abc".
  private let confirmation: String = {
    let json =
      #"{"asset_id":7,"size_bytes":3,"checksum_sha256":"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"}"#
    return "HTTP/1.1 201 Created\r\nContent-Length: \(json.utf8.count)\r\n\r\n" + json
  }()

  private func gigHive(_ server: LoopbackServer, _ content: String = "abc") throws -> UploadRequest {
    var form = EventForm()
    form.label = "Set 1"
    form.eventDate = "2026-11-20"
    return UploadRequest(
      file: directory.file("set.wav", bytes(content)), destination: .gigHive(try TargetURI(server.url), form))
  }

  private func plain(_ server: LoopbackServer, _ content: [UInt8]) throws -> UploadRequest {
    UploadRequest(
      file: directory.file("set.wav", content), destination: .multipart(try TargetURI(server.url + "up?x=1")))
  }

  /// Closes its connection when it is done.
  private func upload(_ requests: UploadRequest...) throws -> [Delivery] {
    var configuration = Configuration()
    configuration.retryLimit = .failures(0)
    let uploader = Uploader(configuration)
    defer { withExtendedLifetime(uploader) {} }
    var deliveries: [Delivery] = []
    for request in requests { deliveries.append(try uploader.upload(request)) }
    return deliveries
  }

  @Test func aRecordingReachesGigHiveAndIsConfirmed() throws {
    let server = LoopbackServer([[.answer(confirmation)]])
    let deliveries = try upload(try gigHive(server))
    #expect(deliveries.first?.sent?.receipt.assetID == 7)
    #expect(deliveries.first?.sent?.receipt.isChecksumVerified == true)
    let requests = server.finish()
    let request = try #require(requests.first)
    #expect(request.head.hasPrefix("POST /api/uploads.php?ui=json HTTP/1.1\r\nHost: 127.0.0.1:\(server.port)\r\n"))
    #expect(request.head.contains("\r\nAccept: application/json\r\n") && !request.head.contains("Expect"))
    let body = String(decoding: request.body, as: UTF8.self)
    #expect(
      body.contains("name=\"label\"\r\n\r\nSet 1\r\n") && body.contains("name=\"event_date\"\r\n\r\n2026-11-20\r\n"))
    #expect(
      body.contains("name=\"file\"; filename=\"set.wav\"\r\nContent-Type: audio/wav\r\n\r\nabc\r\n------GigHive-"))
    #expect(body.hasSuffix("--\r\n"))
  }

  /// A request that must not be sent twice uses no connection that may be about to end.
  @Test(arguments: ["Connection: keep-alive\r\n", "", "Connection: close\r\n"])
  func aPlainEndpointGetsTheNextRecordingOverAConnectionThatItPromisesToKeep(fields: String) throws {
    let answer = "HTTP/1.1 200 OK\r\n\(fields)Content-Length: 0\r\n\r\n"
    let isKept = fields.contains("keep-alive")
    let server = LoopbackServer(
      isKept ? [[.answer(answer), .answer(ok)]] : [[.answerAndClose(answer)], [.answer(ok)]])
    #expect(try upload(try plain(server, bytes("one")), try plain(server, bytes("two"))).count == 2)
    #expect(server.finish().count == 2)
  }

  @Test func aFormWithoutALabelIsRefusedBeforeAnythingIsSent() throws {
    let request = UploadRequest(
      file: "/nowhere", destination: .gigHive(try TargetURI("http://127.0.0.1:1"), EventForm()))
    #expect(throws: UploadError.form(.missingLabel)) { try upload(request) }
  }

  @Test func anotherUploadIsCancelledFromACallbackWhileAllSlotsAreInUse() throws {
    let (proof, ok) = (TusScript.proof, ok)
    let server = LoopbackServer { request in
      .answer(request.line == "DELETE /files/2" ? "HTTP/1.1 204 No Content\r\n\(proof)\r\n" : ok)
    }
    let upload = try TargetURI(server.url + "files/2")
    do {
      // Closes its connections at the end.
      let uploader = Uploader()
      var (cancelled, delivered) = (0, 0)
      let cancel = {
        let outcome = try? uploader.run(
          .cancel(upload, overridesMethod: false), origin: upload.origin, cancellation: Cancellation(),
          onRetry: { _, _ in })
        if outcome == .cancelled(isKept: false) { cancelled += 1 }
      }
      var observer = UploadObserver()
      observer.onBegin = { _ in cancel() }
      observer.onProgress = { _, _ in cancel() }
      observer.onEnd = { if case .success = $1 { delivered += 1 } }
      uploader.uploadAll([try plain(server, bytes("one"))], observer: observer)
      #expect(cancelled >= 2 && delivered == 1)
    }
    #expect(server.finish().filter { $0.line == "DELETE /files/2" }.count >= 2)
  }

  @Test func aCancelledUploadEndsAtOnce() throws {
    let server = LoopbackServer([])
    let cancellation = Cancellation()
    cancellation.cancel()
    #expect(throws: UploadError.cancelled(hasSentAll: false)) {
      try Uploader().upload(try plain(server, bytes("one")), cancellation: cancellation)
    }
    _ = server.finish()
  }
}
