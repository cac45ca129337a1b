import Glibc
import Testing

@testable import Uploader

/// The records as a program sees them: what is listed, and what comes of each call on the wire and in the state directory.
struct RecordedUploadsTests {
  private let bench = StateBench()
  private let proof = TusScript.proof

  private var uploader: Uploader {
    var configuration = Configuration()
    configuration.stateDirectory = LocalPath(bench.path)
    configuration.retryLimit = .failures(0)
    return Uploader(configuration)
  }

  private func file(_ name: String = "set.wav") -> LocalPath { bench.directory.file(name, recording(1000)) }

  /// Leaves an upload of which the server has 400 of 1,000 bytes.
  private func interrupt(_ server: LoopbackServer, context: String = "") throws -> RecordedUpload {
    let kept = try bench.openRecord(file(), endpoint: server.url + "files/")
    try kept.update {
      $0.unfinished?.remote = RemoteUpload(url: server.url + "files/1", offset: 400)
      $0.context = context
    }
    return RecordedUpload(kept.record)
  }

  @Test func theContextOfARequestIsKept() throws {
    var request = UploadRequest(file: file(), destination: .tus(try TargetURI("http://127.0.0.1:9/files/")))
    request.context = #"{"set": "ä\n"}"#
    #expect(throws: UploadError.self) { try uploader.upload(request) }
    let found = try uploader.records()
    #expect(found.map(\.context) == [request.context] && found.map(\.state) == [.pending(offset: 0)])
    // The same upload, by a program that gives none.
    request.context = ""
    #expect(throws: UploadError.self) { try uploader.upload(request) }
    #expect(try uploader.records().map(\.context) == found.map(\.context))
  }

  @Test func anInterruptedUploadIsListedAndResumedWithItsContext() throws {
    let server = LoopbackServer([[TusScript.offer, TusScript.located(400, of: 1000), TusScript.took(1000)]])
    let found = try interrupt(server, context: "set 1")
    #expect(try uploader.records() == [found])
    #expect(found.state == .pending(offset: 400) && found.size == 1000 && found.context == "set 1")
    #expect(found.file == LocalPath(bench.directory.path(of: "set.wav")) && found.endpoint == server.url + "files/")
    let request = UploadRequest(resuming: found, to: .tus(try TargetURI(found.endpoint)))
    let delivery = try uploader.upload(request)
    #expect(delivery.sent?.resumedFrom == 400 && delivery.upload == found.id)
    let delivered = try #require(try uploader.records().first)
    guard case .delivered(nil, .some) = delivered.state else {
      Issue.record("\(delivered.state)")
      return
    }
    #expect(delivered.id == found.id && delivered.context == found.context)
    // The same request again is no error, and sends nothing.
    guard case .deliveredBefore(let previous) = try uploader.upload(request) else {
      Issue.record("it was sent again")
      return
    }
    #expect(previous.upload == found.id)
    #expect(server.finish().map(\.line) == ["OPTIONS /files/", "HEAD /files/1", "PATCH /files/1"])
  }

  @Test func aCancelledUploadIsGoneHereAndOnTheServer() throws {
    let server = LoopbackServer([[.answer("HTTP/1.1 204 No Content\r\n\(proof)\r\n")]])
    let found = try interrupt(server)
    #expect(try uploader.delete(found.id) == .isNotDelivered)
    #expect(try uploader.cancel(found.id) == .done)
    #expect(try uploader.records() == [] && server.finish().last?.line == "DELETE /files/1")
  }

  /// It stays, so that it can be cancelled later.
  @Test func anUploadThatTheServerDoesNotCancelStays() throws {
    let server = LoopbackServer([[.answerAndClose(TusScript.refusal(500, proof))]])
    let found = try interrupt(server)
    #expect(throws: UploadError.self) { try uploader.cancel(found.id) }
    #expect(try uploader.records().map(\.id) == [found.id] && server.finish().last?.line == "DELETE /files/1")
  }

  private func deliver(to server: LoopbackServer, token: String? = "5ec2e7") throws -> RecordedUpload {
    let kept = try bench.openRecord(file(), endpoint: server.url)
    try kept.update {
      var delivery = RecordedDelivery(of: $0)
      (delivery.assetID, delivery.deleteToken) = (7, token)
      $0.state = .delivered(delivery)
    }
    return RecordedUpload(kept.record)
  }

  @Test func aDeletedRecordingIsRememberedAsLongAsItsFileIsThere() throws {
    let json = #"{"success":true,"deleted_count":1}"#
    let server = LoopbackServer([[.answer("HTTP/1.1 200 OK\r\nContent-Length: \(json.utf8.count)\r\n\r\n" + json)]])
    let found = try deliver(to: server)
    #expect(found.state == .delivered(assetID: 7, deliveredAt: nil))
    #expect(try uploader.cancel(found.id) == .isDelivered)
    #expect(try uploader.delete(found.id) == .done)
    #expect(server.finish().map(\.line) == ["POST /db/delete_media_files.php"])
    #expect(try uploader.records().map(\.state) == [.deleted])
    // Again, the server is not asked.
    #expect(try uploader.delete(found.id) == .done)
  }

  @Test func aRecordingWithoutADeleteTokenIsNotDeleted() throws {
    let server = LoopbackServer([])
    let found = try deliver(to: server, token: nil)
    #expect(try uploader.delete(found.id) == .hasNoDeleteToken)
    #expect(try uploader.records() == [found] && server.finish().isEmpty)
  }

  /// Whoever is told of the end can work with the record at once.
  @Test func theRecordOfAnUploadIsUnlockedAtItsEnd() throws {
    let uploader = uploader
    var waiting: UploadRequest? = UploadRequest(
      file: file(), destination: .tus(try TargetURI("http://127.0.0.1:9/files/")))
    var observer = UploadObserver()
    var id = ""
    var isForgotten = false
    observer.onRecord = { id = $1 }
    observer.onEnd = { _, _ in
      // A child process of another test holds this process's locks until it has executed its program.
      for _ in 0..<1000 where !isForgotten {
        isForgotten = (try? uploader.forget(id)) != nil
        if !isForgotten { usleep(1000) }
      }
    }
    uploader.uploadAll(next: { waiting.take() }, observer: observer)
    #expect(isForgotten && id != "")
  }

  @Test func aForgottenUploadHasNoRecord() throws {
    let kept = try bench.openRecord(file(), endpoint: "https://hive/")
    let id = kept.record.id
    // It is in progress.
    #expect(throws: UploadError.conflict(upload: id)) { try uploader.forget(id) }
    #expect(throws: UploadError.conflict(upload: id)) { try uploader.cancel(id) }
    withExtendedLifetime(kept) {}
    let other = try bench.openRecord(file("other.wav"), endpoint: "https://hive/").record.id
    try uploader.forget(other)
    #expect(try uploader.records().map(\.id) == [id])
    #expect(throws: UploadError.state(.noSuchRecord(other))) { try uploader.forget(other) }
  }

  /// Where a person must look first, only a person's decision sends it again.
  @Test func anUploadThatMayBeStoredIsResumedOnlyOnRequest() throws {
    let server = LoopbackServer([[.answer("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")]])
    do {
      let kept = try bench.openRecord(file(), endpoint: server.url)
      try kept.update { $0.unfinished?.failure = .mayBeStored }
    }
    let found = try #require(try uploader.records().first)
    let destination = Destination.multipart(try TargetURI(server.url))
    #expect(found.state == .mayBeStored)
    #expect(throws: UploadError.uncertain(upload: found.id)) {
      try uploader.upload(UploadRequest(resuming: found, to: destination))
    }
    let again = UploadRequest(resuming: found, to: destination, mayRepeat: true)
    #expect(try uploader.upload(again).upload == found.id && server.finish().count == 1)
  }

  @Test(arguments: ["", "../../etc", "5E1F0A77", "5e1f0a7", "5e1f0a77"])
  func anUploadWithoutARecordIsNotFound(id: String) throws {
    _ = try bench.open()
    #expect(throws: UploadError.state(.noSuchRecord(id))) { try uploader.cancel(id) }
    #expect(throws: UploadError.state(.noSuchRecord(id))) { try uploader.delete(id) }
    #expect(throws: UploadError.state(.noSuchRecord(id))) { try uploader.forget(id) }
    #expect(bench.names == ["directory.lock"] || bench.names.isEmpty)
  }

  @Test func withoutADirectoryThereAreNoRecords() throws {
    #expect(try uploader.records() == [])
    #expect(throws: UploadError.state(.noDirectory)) { try Uploader().records() }
    #expect(throws: UploadError.state(.noDirectory)) { try Uploader().forget("5e1f0a77") }
  }
}
