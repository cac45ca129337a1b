@testable import Uploader

/// Stretches of a file on their way over a scripted stream, each in a request of its own that does not wait for the answer
/// to the one before it.
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
  ///   - stretches: of the file, one a request.
  ///   - jobs: how many transfers share the ring's memory.
  ///   - processors: with more than one, a second thread digests.
  ///   - isReused: was the connection used before?
  init(
    fileLength: Int, stretches: [Range<Int>], digest: FileDigest? = nil, jobs: Int = 1, processors: Int = 1,
    buffers: TransferBuffers? = nil, isReused: Bool = false
  ) throws {
    content = recording(fileLength)
    file = try SourceFile.open(directory.file("set.wav", content), limit: .max)
    self.digest = digest
    story.following = stretches.dropFirst().map(PatchBench.request)[...]
    var connection = Connection(stream: stream, peer: TransferBench.peer, roundTripMilliseconds: 0)
    connection.isReused = isReused
    transfer = Transfer(
      PatchBench.request(stretches[0]), of: TransferSource(file: file, digest: digest, clock: { 0 }), over: connection,
      buffers: buffers ?? TransferBuffers(jobs: jobs, processors: processors), timeouts: Timeouts())
  }

  static func head(_ stretch: Range<Int>) -> String {
    "PATCH /files/1 HTTP/1.1\r\nHost: hive\r\nUpload-Offset: \(stretch.lowerBound)\r\nContent-Length: \(stretch.count)\r\n\r\n"
  }

  private static func request(_ stretch: Range<Int>) -> OutgoingRequest {
    OutgoingRequest(
      head: bytes(head(stretch)),
      body: RequestBody(fileOffset: Int64(stretch.lowerBound), fileLength: Int64(stretch.count)),
      exchange: Exchange(method: "PATCH", expectsContinue: false))
  }

  /// What belongs on the wire for these stretches.
  func wire(_ stretches: Range<Int>...) -> [UInt8] {
    stretches.flatMap { bytes(PatchBench.head($0)) + content[$0] }
  }

  /// The answers to all requests but the last.
  var earlierAnswers: [Response] { story.earlier.map { $0.response } }
  /// How long each took from the request's last byte, in milliseconds.
  var earlierWaits: [Int64] { story.earlier.map { $0.milliseconds } }
  /// How many requests have not followed yet.
  var stretchesLeft: Int { story.following.count }
}

/// What a tus server says when it has stored a request.
func stored(_ offset: Int, _ fields: String = "") -> String {
  "HTTP/1.1 204 No Content\r\nUpload-Offset: \(offset)\r\n\(fields)\r\n"
}
