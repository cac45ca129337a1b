import Testing

@testable import Uploader

/// Numbers out of range end an upload before anything is sent, and neither trap nor hang.
struct InvalidConfigurationTests {
  private let directory = TemporaryDirectory()
  static let milliseconds: [Int64] = [.min, -1, 0, 31_536_000_001, .max]

  private struct Setup {
    var configuration = Configuration()
    var request: UploadRequest
  }

  /// Tries to send a file to a port where nothing listens.
  private func outcome(jobs: Int = 1, _ change: (inout Setup) -> Void) throws -> UploadError {
    let target = try TargetURI("http://127.0.0.1:1/files/")
    var setup = Setup(request: UploadRequest(file: directory.file("set.wav", bytes("abc")), destination: .tus(target)))
    setup.configuration.retryLimit = .failures(0)
    change(&setup)
    let uploader = Uploader(setup.configuration, jobs: jobs)
    return try #require(throws: UploadError.self) { try uploader.upload(setup.request) }
  }

  private func expectRefused(
    _ field: String, _ value: Int64, jobs: Int = 1, _ change: (inout Setup) -> Void
  ) throws {
    let error = try outcome(jobs: jobs, change)
    guard case .invalidConfiguration(field, value, let allowed) = error else {
      Issue.record("\(field) = \(value): \(error)")
      return
    }
    #expect(!allowed.contains(value))
    #expect(error.message.contains(field) && error.message.contains(String(value)))
  }

  @Test(arguments: milliseconds)
  func timeLimitsAreFromAMillisecondToAYear(value: Int64) throws {
    try expectRefused("timeouts.resolveMilliseconds", value) { $0.configuration.timeouts.resolveMilliseconds = value }
    try expectRefused("timeouts.connectMilliseconds", value) { $0.configuration.timeouts.connectMilliseconds = value }
    try expectRefused("timeouts.handshakeMilliseconds", value) {
      $0.configuration.timeouts.handshakeMilliseconds = value
    }
    try expectRefused("timeouts.stallMilliseconds", value) { $0.configuration.timeouts.stallMilliseconds = value }
    try expectRefused("timeouts.responseMilliseconds", value) { $0.configuration.timeouts.responseMilliseconds = value }
    try expectRefused("timeouts.totalMilliseconds", value) { $0.configuration.timeouts.totalMilliseconds = value }
  }

  @Test(arguments: [Int64.min, -1, .max])
  func countsAndSizesAreInTheirRanges(value: Int64) throws {
    try expectRefused("retryMaximumDelayMilliseconds", value) {
      $0.configuration.retryMaximumDelayMilliseconds = value
    }
    try expectRefused("retryLimit", value) { $0.configuration.retryLimit = .failures(value) }
    try expectRefused("rateLimit", value) { $0.configuration.rateLimit = RateSchedule(.bytesPerSecond(value)) }
    try expectRefused("maximumSize", value) { $0.request.maximumSize = value }
    try expectRefused("tusThreshold", value) { $0.request.tusThreshold = value }
    try expectRefused("chunkLength", value) { $0.request.chunkLength = value }
    try expectRefused("jobs", value, jobs: Int(value)) { _ in }
  }

  @Test func aContextOfMoreThanAKibibyteIsRefused() throws {
    try expectRefused("context", 1026) { $0.request.context = String(repeating: "ä", count: 513) }
    guard case .notConnected = try outcome({ $0.request.context = String(repeating: "ä", count: 512) }) else {
      Issue.record("a context of 1,024 bytes is refused")
      return
    }
  }

  @Test func noJobsAndNoBytesPerRequestOrSecondAreRefused() throws {
    try expectRefused("chunkLength", 0) { $0.request.chunkLength = 0 }
    try expectRefused("rateLimit", 0) { $0.configuration.rateLimit = RateSchedule(.bytesPerSecond(0)) }
    try expectRefused("jobs", 0, jobs: 0) { _ in }
    try expectRefused("jobs", 17, jobs: 17) { _ in }
  }

  /// They get no further, because nothing listens.
  @Test(arguments: [Int64(1), 31_536_000_000])
  func theEndsOfTheRangesWork(milliseconds: Int64) throws {
    let error = try outcome(jobs: 16) { setup in
      setup.configuration.timeouts.resolveMilliseconds = 31_536_000_000
      setup.configuration.timeouts.connectMilliseconds = 31_536_000_000
      setup.configuration.timeouts.handshakeMilliseconds = milliseconds
      setup.configuration.timeouts.stallMilliseconds = milliseconds
      setup.configuration.timeouts.responseMilliseconds = milliseconds
      setup.configuration.timeouts.totalMilliseconds = 31_536_000_000
      setup.configuration.retryMaximumDelayMilliseconds = 0
      setup.configuration.rateLimit = RateSchedule(.bytesPerSecond(1_000_000_000_000))
      setup.request.chunkLength = 1_000_000_000_000_000
      setup.request.maximumSize = 1_000_000_000_000_000
      setup.request.tusThreshold = 0
    }
    guard case .notConnected = error else {
      Issue.record("\(error)")
      return
    }
  }

  @Test func oneOfSeveralUploadsDoesNotStopTheOthers() throws {
    let server = LoopbackServer([[.answer("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")]])
    let target = try TargetURI(server.url + "up")
    var bad = UploadRequest(file: directory.file("a.wav", bytes("a")), destination: .multipart(target))
    bad.maximumSize = -1
    let good = UploadRequest(file: directory.file("b.wav", bytes("b")), destination: .multipart(target))
    var ended: [Int: Bool] = [:]
    do {
      let uploader = Uploader()
      var observer = UploadObserver()
      observer.onEnd = { index, result in
        #expect(ended[index] == nil)
        if case .success = result { ended[index] = true } else { ended[index] = false }
      }
      uploader.uploadAll([bad, good, bad], observer: observer)
    }
    #expect(ended == [0: false, 1: true, 2: false])
    #expect(server.finish().count == 1)
  }
}
