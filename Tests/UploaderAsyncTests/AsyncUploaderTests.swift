import Testing

@testable import UploaderAsync

/// Uploads in tasks, to a server on the loopback interface that answers forms, or never answers.
@Suite(.serialized) struct AsyncUploaderTests {
  private let file = TemporaryFile(byteCount: 100_000)

  private func request(_ server: FormServer) throws -> UploadRequest {
    UploadRequest(file: LocalPath(file.path), destination: .multipart(try TargetURI(server.url)))
  }

  @Test(.timeLimit(.minutes(10))) func aTaskGetsItsDelivery() async throws {
    let server = FormServer(answers: true)
    defer { server.stop() }
    let delivery = try await AsyncUploader().upload(try request(server))
    #expect(delivery.sent?.file.size == 100_000)
  }

  @Test(.timeLimit(.minutes(10))) func aRefusalIsAnUploadError() async throws {
    let server = FormServer(answers: true, status: "403 Forbidden")
    defer { server.stop() }
    var refusal: UploadError?
    do { _ = try await AsyncUploader().upload(try request(server)) } catch let error as UploadError { refusal = error }
    guard case .refused(403, _) = refusal else { return #expect(Bool(false), "\(String(describing: refusal))") }
  }

  @Test(.timeLimit(.minutes(10))) func aWrongNumberOfJobsEndsTheUpload() async throws {
    let server = FormServer(answers: true)
    defer { server.stop() }
    let upload = AsyncUploader(jobs: 17).start(try request(server))
    await #expect(throws: UploadError.invalidConfiguration(field: "jobs", value: 17, allowed: 1...16)) {
      try await upload.delivery()
    }
  }

  @Test(.timeLimit(.minutes(10))) func progressEndsWithTheLastByte() async throws {
    let server = FormServer(answers: true)
    defer { server.stop() }
    let upload = AsyncUploader().start(try request(server))
    var last: UploadProgress?
    for await progress in upload.progress { last = progress }
    #expect(last?.deliveredBytes == 100_000 && last?.totalBytes == 100_000)
    #expect(try await upload.delivery().sent?.file.size == 100_000)
  }

  @Test(.timeLimit(.minutes(10))) func moreUploadsThanJobsAreAllDelivered() async throws {
    let server = FormServer(answers: true)
    defer { server.stop() }
    let uploader = AsyncUploader(jobs: 3)
    let request = try request(server)
    let count = await withTaskGroup(of: Bool.self) { group in
      for _ in 0..<20 { group.addTask { (try? await uploader.upload(request)) != nil } }
      return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
    }
    #expect(count == 20 && server.requestCount == 20)
  }

  /// The other upload waits for a server that never answers, so that only the request itself can wake the loop.
  @Test(.timeLimit(.minutes(10))) func anUploadStartsWhileAnotherWaits() async throws {
    let (silent, server) = (FormServer(answers: false), FormServer(answers: true))
    defer {
      silent.stop()
      server.stop()
    }
    let uploader = AsyncUploader(jobs: 2)
    let waiting = uploader.start(try request(silent))
    try await silent.untilARequestHasCome()
    _ = try await uploader.upload(try request(server))
    waiting.cancel()
    await #expect(throws: UploadError.self) { try await waiting.delivery() }
  }

  @Test(.timeLimit(.minutes(10))) func aCancelledTaskEndsItsUploadOnly() async throws {
    let (silent, server) = (FormServer(answers: false), FormServer(answers: true))
    defer {
      silent.stop()
      server.stop()
    }
    let uploader = AsyncUploader(jobs: 1)
    let (stuck, next) = (try request(silent), try request(server))
    let task = Task { try await uploader.upload(stuck) }
    try await silent.untilARequestHasCome()
    let other = uploader.start(next)
    let clock = ContinuousClock()
    let began = clock.now
    task.cancel()
    await #expect(throws: UploadError.cancelled(hasSentAll: true)) { try await task.value }
    // 100 ms is promised; without the wake-up, the time limit of the response would end it after 120 s.
    #expect(clock.now - began < .seconds(5))
    #expect(try await other.delivery().sent?.file.size == 100_000)
  }

  @Test(.timeLimit(.minutes(10))) func anUploadThatIsCancelledBeforeItsTurnEndsAtOnce() async throws {
    let silent = FormServer(answers: false)
    defer { silent.stop() }
    let uploader = AsyncUploader(jobs: 1)
    let first = uploader.start(try request(silent))
    try await silent.untilARequestHasCome()
    let second = uploader.start(try request(silent))
    second.cancel()
    await #expect(throws: UploadError.cancelled(hasSentAll: false)) { try await second.delivery() }
    first.cancel()
    await #expect(throws: UploadError.self) { try await first.delivery() }
    #expect(silent.requestCount == 1)
  }

  @Test(.timeLimit(.minutes(10))) func recordsAreReadAndChangedBesideUploads() async throws {
    let (silent, directory) = (FormServer(answers: false), TemporaryDirectory())
    defer { silent.stop() }
    var configuration = Configuration()
    configuration.stateDirectory = LocalPath(directory.path)
    let uploader = AsyncUploader(configuration)
    var waiting = try request(silent)
    waiting.context = "first"
    let upload = uploader.start(waiting)
    try await silent.untilARequestHasCome()
    let found = try #require(try await uploader.records().first)
    #expect(found.context == "first" && found.file.text == file.path)
    await #expect(throws: UploadError.conflict(upload: found.id)) { try await uploader.forget(found.id) }
    upload.cancel()
    await #expect(throws: UploadError.self) { try await upload.delivery() }
    #expect(try await unlocked { try await uploader.delete(found.id) } == .isNotDelivered)
    #expect(try await unlocked { try await uploader.cancel(found.id) } == .done)
    #expect(try await uploader.records().isEmpty)
  }

  /// The server never answers.
  @Test(.timeLimit(.minutes(10))) func aCancelledTaskStopsAskingTheServer() async throws {
    let (silent, directory) = (FormServer(answers: false), TemporaryDirectory())
    defer { silent.stop() }
    var configuration = Configuration()
    configuration.stateDirectory = LocalPath(directory.path)
    try directory.addRecord("5e1f0a77", ofUploadAt: silent.url + "files/1", file: file.path)
    let uploader = AsyncUploader(configuration)
    let task = Task { try await uploader.cancel("5e1f0a77") }
    try await silent.untilARequestHasCome()
    task.cancel()
    await #expect(throws: UploadError.cancelled(hasSentAll: false)) { try await task.value }
    #expect(try await uploader.records().map(\.id) == ["5e1f0a77"])
  }

  /// Its thread releases it at its end, and what it releases closes its descriptors. Several times, because the end takes several steps.
  @Test(.timeLimit(.minutes(10))) func uploadersThatNobodyUsesAreReleased() async throws {
    for _ in 0..<10 {
      let silent = FormServer(answers: false)
      defer { silent.stop() }
      var uploader: AsyncUploader? = AsyncUploader()
      weak let thread = uploader?.thread
      weak let wakeUp = uploader?.thread.wakeUp
      weak let cancellation = uploader?.thread.cancellation
      var upload = uploader?.start(try request(silent))
      uploader = nil
      try await silent.untilARequestHasCome()
      #expect(upload != nil && thread != nil && wakeUp != nil && cancellation != nil)
      upload = nil
      try await until { thread == nil && wakeUp == nil && cancellation == nil }
      try await silent.untilAConnectionHasEnded()
    }
  }
}
