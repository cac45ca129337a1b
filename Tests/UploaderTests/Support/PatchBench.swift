@testable import Uploader

/// Pipelined requests with ranges of a file, over a scripted stream.
final class PatchBench: SteppedTransfer {
  let directory = TemporaryDirectory()
  let content: [UInt8]
  let stream = ScriptedStream()
  let file: SourceFile
  let digest: FileDigest?
  let transfer: Transfer
  let story = TransferStory()
  var now: Int64 = 0

  /// - Parameters:
  ///   - ranges: of the file, one per request.
  ///   - jobs: how many transfers share the ring's memory.
  ///   - processors: with more than one, there is a hash thread.
  ///   - isReused: whether the connection was used before.
  init(
    fileLength: Int, ranges: [Range<Int>], digest: FileDigest? = nil, jobs: Int = 1, processors: Int = 1,
    buffers: TransferBuffers? = nil, isReused: Bool = false
  ) throws {
    content = recording(fileLength)
    file = try SourceFile.open(directory.file("set.wav", content), limit: .max)
    self.digest = digest
    story.following = ranges.dropFirst().map(PatchBench.request)[...]
    var connection = Connection(stream: stream, peer: TransferBench.peer, roundTripMilliseconds: 0)
    connection.isReused = isReused
    transfer = Transfer(
      PatchBench.request(ranges[0]), of: TransferSource(file: file, digest: digest, clock: { 0 }), over: connection,
      buffers: buffers ?? TransferBuffers(jobs: jobs, processors: processors), timeouts: Timeouts())
  }

  static func head(_ range: Range<Int>) -> String {
    "PATCH /files/1 HTTP/1.1\r\nHost: hive\r\nUpload-Offset: \(range.lowerBound)\r\nContent-Length: \(range.count)\r\n\r\n"
  }

  private static func request(_ range: Range<Int>) -> WireRequest {
    WireRequest(
      head: bytes(head(range)),
      body: RequestBody(fileOffset: Int64(range.lowerBound), fileLength: Int64(range.count)),
      exchange: Exchange(method: "PATCH", expectsContinue: false))
  }

  /// The expected bytes on the wire for these ranges.
  func wire(_ ranges: Range<Int>...) -> [UInt8] {
    ranges.flatMap { bytes(PatchBench.head($0)) + content[$0] }
  }

  /// The responses to all requests except the last.
  var earlierAnswers: [Response] { story.earlier.map { $0.response } }
  /// Their response times from the request's last byte, in milliseconds.
  var earlierWaits: [Int64] { story.earlier.map { $0.milliseconds } }
  /// The number of requests not sent yet.
  var rangesLeft: Int { story.following.count }
}

/// The response of a tus server that has stored a request.
func stored(_ offset: Int, _ fields: String = "") -> String {
  "HTTP/1.1 204 No Content\r\nUpload-Offset: \(offset)\r\n\(fields)\r\n"
}
