import Testing

@testable import Uploader

/// Whole tus uploads over the loopback interface, with trouble under two requests in flight. For the reaction to each response see
/// the machine's tests in UploadCoreTests; for what each request carries, Tests/CLITests.
struct TusUploadsTests {
  private let directory = TemporaryDirectory()
  private let mebibyte = 1 << 20

  /// What happens to the second of two requests in flight, what the server has of both, and how many failures that counts as. The
  /// rest is sent once and in order, and the digest still covers the whole file.
  private static let troubles: [(second: TusScript.Action, keptMebibytes: Int, retries: Int)] = {
    func twice(_ text: String) -> TusScript.Action { .answer(text + text) }
    return [
      (twice(TusScript.refusal(409)), 1, 0), (twice(TusScript.refusal(401)), 0, 0),
      (.answer("HTTP/1.1 204 No Content\r\n\(TusScript.proof)\r\n" + stored(8 << 20)), 8, 0),
      (.answer(stored(4 << 20, "Connection: close\r\n")), 4, 0),
      // Servers that allow few requests per connection close it after a response, without notice.
      (.answerAndClose(stored(4 << 20)), 4, 0), (.interrupt(afterBody: 1 << 20), 5, 1),
      (twice(TusScript.refusal(503)), 8, 1),
    ]
  }()

  @Test(arguments: troubles.indices)
  func theRestArrivesOnceAfterTroubleDuringTwoRequests(index: Int) throws {
    let trouble = TusUploadsTests.troubles[index]
    let content = recording(9 * mebibyte)
    var configuration = Configuration()
    configuration.retryMaximumDelayMilliseconds = 1
    configuration.credentials = .bearer(token: "old")
    configuration.refreshCredentials = { .bearer(token: "new") }
    let kept = trouble.keptMebibytes * mebibyte
    let server = LoopbackServer(TusStub(farAway: 9 * mebibyte, second: trouble.second, kept: kept))
    var request = UploadRequest(
      file: directory.file("set.wav", content), destination: .tus(try TargetURI(server.url + "files/")))
    request.computesDigest = true
    var (outcomes, retryCount): ([Result<Delivery, UploadError>], Int) = ([], 0)
    do {
      // Closes its connection at the end.
      let uploader = Uploader(configuration)
      var observer = UploadObserver()
      observer.onRetry = { _, _ in retryCount += 1 }
      observer.onEnd = { outcomes.append($1) }
      uploader.uploadAll([request], observer: observer)
    }
    let requests = server.finish()
    #expect(try outcomes.map { try $0.get().sent?.file.sha256 } == [sha256(content)])
    let lines = requests.prefix(4).map { $0.line }
    #expect(lines == ["OPTIONS /files/", "POST /files/", "PATCH /files/1", "PATCH /files/1"])
    #expect(requests.dropFirst(2).prefix(2).map { $0.offset } == [0, 4 * mebibyte])
    let rest = requests.dropFirst(4).filter { $0.line == "PATCH /files/1" }
    #expect(rest.first?.offset == kept && sha256(rest.flatMap { $0.body }) == sha256(Array(content[kept...])))
    #expect(retryCount == trouble.retries)
    #expect(requests.last?.value("Authorization") == (index == 1 ? "Bearer new" : "Bearer old"))
  }
}
