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
  private let told: Told
  var now: Int64 = 0

  private final class Told {
    var progress: [Progress] = []
    var answers: [Response] = []
    var waits: [Int64] = []
    var stretches: ArraySlice<Range<Int>> = []
    /// Does a request that followed make sense after such an answer?
    var counts: (Response) throws(UploadError) -> Bool = { (_) throws(UploadError) in true }
  }

  /// - Parameters:
  ///   - stretches: of the file, one a request.
  ///   - jobs: how many transfers share the ring's memory.
  init(fileLength: Int, stretches: [Range<Int>], digest: FileDigest? = nil, jobs: Int = 1) throws {
    content = recording(fileLength)
    file = try SourceFile(path: directory.file("set.wav", content), limit: .max)
    self.digest = digest
    let told = Told()
    told.stretches = stretches.dropFirst()
    self.told = told
    var hooks = TransferHooks()
    hooks.onProgress = { told.progress.append($0) }
    hooks.followUp = { () throws(UploadError) in
      guard let stretch = told.stretches.popFirst() else { return nil }
      return PatchBench.request(stretch)
    }
    hooks.onEarlierAnswer = { (response, milliseconds) throws(UploadError) in
      told.answers.append(response)
      told.waits.append(milliseconds)
      return try told.counts(response)
    }
    transfer = Transfer(
      PatchBench.request(stretches[0]), of: file, digest: digest,
      over: Connection(stream: stream, peer: TransferBench.peer, roundTripMilliseconds: 0),
      buffers: TransferBuffers(jobs: jobs), timeouts: Timeouts(), hooks: hooks)
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
  var earlierAnswers: [Response] { told.answers }
  /// How long each took from the request's last byte, in milliseconds.
  var earlierWaits: [Int64] { told.waits }
  var progress: [Progress] { told.progress }
  /// How many stretches have not been asked for.
  var stretchesLeft: Int { told.stretches.count }

  func decide(_ counts: @escaping (Response) throws(UploadError) -> Bool) { told.counts = counts }
}

/// What a tus server says when it has stored a request.
func stored(_ offset: Int, _ fields: String = "") -> String {
  "HTTP/1.1 204 No Content\r\nUpload-Offset: \(offset)\r\n\(fields)\r\n"
}
