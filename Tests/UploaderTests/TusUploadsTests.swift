import Testing

@testable import Uploader

/// Whole tus uploads over the loopback interface, for what only real files and connections can show. For the reaction to each
/// response see the machine's tests in UploadCoreTests.
struct TusUploadsTests {
  private let mebibyte = 1 << 20

  @Test func eachRequestCarriesItsRangeOfTheFileAndTheChecksumOfThat() throws {
    let bench = UploadBench(length: 300_000)
    let stub = TusStub(length: 300_000, extensions: "creation,checksum")
    let server = LoopbackServer { stub.answer($0) }
    var request = try bench.tus(server)
    request.chunkLength = 130_000
    try bench.upload(request)
    let patches = server.finish().dropFirst(2)
    #expect(patches.count == 3 && sha256(patches.flatMap { $0.body }) == sha256(bench.content))
    for patch in patches {
      #expect(patch.value("Upload-Checksum") == "sha256 " + Base64.encode(hex(sha256(patch.body))))
    }
  }

  // MARK: Two requests in flight

  @Test func overADistanceTwoRequestsAreInFlight() throws {
    let length = 10 * mebibyte
    let bench = UploadBench(length: length)
    let server = LoopbackServer([
      [
        TusScript.offer(), TusScript.createdFarAway, .answer(""), .answer(stored(4 * mebibyte)),
        .answer(stored(8 * mebibyte) + stored(length)),
      ]
    ])
    try bench.upload(try bench.tus(server))
    let patches = server.finish().dropFirst(2)
    #expect(patches.map { $0.offset } == [0, 4 * mebibyte, 8 * mebibyte])
    #expect(sha256(patches.flatMap { $0.body }) == sha256(bench.content) && bench.retries.isEmpty)
  }

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
  func afterTroubleUnderTwoRequestsTheRestArrivesOnce(index: Int) throws {
    let trouble = TusUploadsTests.troubles[index]
    let bench = UploadBench(length: 9 * mebibyte)
    bench.configuration.credentials = .bearer(token: "old")
    bench.configuration.refreshCredentials = { .bearer(token: "new") }
    let kept = trouble.keptMebibytes * mebibyte
    let stub = TusStub(farAway: 9 * mebibyte, second: trouble.second, kept: kept)
    let server = LoopbackServer { stub.answer($0) }
    var request = try bench.tus(server)
    request.computesDigest = true
    let outcome = Result { try bench.upload(request)[0] }
    let requests = server.finish()
    #expect(try outcome.get().file.sha256 == sha256(bench.content))
    let lines = requests.prefix(4).map { $0.line }
    #expect(lines == ["OPTIONS /files/", "POST /files/", "PATCH /files/1", "PATCH /files/1"])
    #expect(requests.dropFirst(2).prefix(2).map { $0.offset } == [0, 4 * mebibyte])
    let rest = requests.dropFirst(4).filter { $0.line == "PATCH /files/1" }
    #expect(rest.first?.offset == kept && sha256(rest.flatMap { $0.body }) == sha256(Array(bench.content[kept...])))
    #expect(bench.retries.count == trouble.retries)
    #expect(requests.last?.value("Authorization") == (index == 1 ? "Bearer new" : "Bearer old"))
  }

  // MARK: Several uploads

  @Test func severalUploadsAtOnceAllArrive() throws {
    let bench = UploadBench(length: 700_000)
    let script = [TusScript.offer(), TusScript.created, TusScript.took(700_000)]
    let servers = (0..<3).map { _ in LoopbackServer([script]) }
    var requests = try servers.map { try bench.tus($0) }
    requests.insert(UploadRequest(file: "/nowhere", destination: requests[0].destination), at: 1)
    var ended: [Int: Result<Delivery, UploadError>] = [:]
    var begun: [Int] = []
    var observer = UploadObserver()
    observer.onBegin = { begun.append($0) }
    observer.onEnd = { ended[$0] = $1 }
    let uploader = Uploader(bench.configuration, jobs: 2)
    uploader.upload(requests, observer: observer)
    withExtendedLifetime(uploader) {}
    #expect(begun == [0, 1, 2, 3] && ended.count == 4)
    for (index, outcome) in ended {
      switch outcome {
      case .success(let delivery): #expect(index != 1 && delivery.file.size == 700_000)
      case .failure(let error): #expect(index == 1 && error == .file("/nowhere", .missing))
      }
    }
  }
}
