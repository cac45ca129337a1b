import CShims
import Testing

@testable import Uploader

/// A transfer over a scripted stream, in virtual time: of a file in a form, or of ranges of a file in pipelined requests. The bench
/// acts as the driver: requests are pipelined as soon as possible, and a response other than a success ends the transfer.
final class TransferBench {
  static let peer = "192.0.2.1:443"
  static let head = "POST /up HTTP/1.1\r\nHost: hive\r\n\r\n"
  static let preamble =
    "------GigHive-000102030405060708090a0b0c0d0e0f\r\nContent-Disposition: form-data; name=\"label\"\r\n\r\nSet 1\r\n"
    + "------GigHive-000102030405060708090a0b0c0d0e0f\r\n"
    + "Content-Disposition: form-data; name=\"file\"; filename=\"set.wav\"\r\nContent-Type: audio/wav\r\n\r\n"
  static let closing = "\r\n------GigHive-000102030405060708090a0b0c0d0e0f--\r\n"

  let directory = TemporaryDirectory()
  let content: [UInt8]
  let file: SourceFile
  let stream = ScriptedStream()
  let transfer: Transfer
  let digest: FileDigest?
  /// The time of the last step, in milliseconds.
  var now: Int64 = 0

  /// Requests to pipeline as soon as possible.
  private var following: ArraySlice<WireRequest>
  private var inFlightCount = 1

  private(set) var progress: [UploadProgress] = []
  /// The reported changes of the file's status.
  private(set) var statusChanges: [StatusChange] = []
  /// How much was written whenever the end was announced.
  private(set) var endings: [Int] = []
  /// How many bytes were written at the last of them.
  private(set) var writtenAtStatusChange = 0
  /// The responses to requests with pipelined successors, and their response times from the request's last byte, in
  /// milliseconds.
  private var earlier: [(response: Response, milliseconds: Int64)] = []
  /// The response that ended the transfer.
  private(set) var last: (response: Response, sent: ContentSent, milliseconds: Int64)?
  /// How it ended without a response.
  private(set) var interruption: Interruption?

  /// A file in a form.
  /// - Parameter sendsDirectly: whether there is no digest, so that the file bypasses the ring where the stream can send it.
  convenience init(
    fileLength: Int, expectsContinue: Bool = false, announcesLastByte: Bool = false, sendsDirectly: Bool = false,
    roundTripMilliseconds: Int64 = 0, stallMilliseconds: Int64 = 30_000,
    responseMilliseconds: Int64 = 120_000, rateShare: RateShare? = nil, processors: Int = 1,
    clock: @escaping () -> Int64 = { 0 }
  ) throws {
    let body = try FormData.body(
      fields: [FormField("label", "Set 1")], file: FilePart(name: "file", fileName: "set.wav", mediaType: "audio/wav"),
      fileLength: Int64(fileLength), boundary: Boundary(random: Array(0...15)))
    let request = WireRequest(
      head: bytes(TransferBench.head), body: body,
      exchange: Exchange(method: "POST", expectsContinue: expectsContinue), announcesLastByte: announcesLastByte)
    var timeouts = Timeouts()
    timeouts.stallMilliseconds = stallMilliseconds
    timeouts.responseMilliseconds = responseMilliseconds
    try self.init(
      fileLength, [request], digest: sendsDirectly ? nil : try FileDigest(),
      buffers: TransferBuffers(processors: processors),
      roundTripMilliseconds: roundTripMilliseconds, timeouts: timeouts, rateShare: rateShare, clock: clock)
  }

  /// - Parameters:
  ///   - ranges: of the file, one per request.
  ///   - jobs: how many transfers share the ring's memory.
  ///   - processors: with more than one, there is a hash thread.
  ///   - isReused: whether the connection was used before.
  convenience init(
    fileLength: Int, ranges: [Range<Int>], digest: FileDigest? = nil, jobs: Int = 1, processors: Int = 1,
    buffers: TransferBuffers? = nil, isReused: Bool = false
  ) throws {
    try self.init(
      fileLength, ranges.map(TransferBench.patch), digest: digest,
      buffers: buffers ?? TransferBuffers(jobs: jobs, processors: processors), isReused: isReused)
  }

  private init(
    _ fileLength: Int, _ requests: [WireRequest], digest: FileDigest?, buffers: TransferBuffers,
    roundTripMilliseconds: Int64 = 0, isReused: Bool = false, timeouts: Timeouts = Timeouts(),
    rateShare: RateShare? = nil,
    clock: @escaping () -> Int64 = { 0 }
  ) throws {
    content = recording(fileLength)
    file = try SourceFile.open(directory.file("set.wav", content), limit: .max)
    self.digest = digest
    following = requests.dropFirst()
    var connection = Connection(
      stream: stream, peer: TransferBench.peer, roundTripMilliseconds: roundTripMilliseconds, host: "hive")
    connection.isReused = isReused
    transfer = Transfer(
      requests[0], of: TransferSource(file: file, digest: digest, clock: clock), over: connection, buffers: buffers,
      timeouts: timeouts, rateShare: rateShare)
  }

  static func patchHead(_ range: Range<Int>) -> String {
    "PATCH /files/1 HTTP/1.1\r\nHost: hive\r\nUpload-Offset: \(range.lowerBound)\r\nContent-Length: \(range.count)\r\n\r\n"
  }

  private static func patch(_ range: Range<Int>) -> WireRequest {
    WireRequest(
      head: bytes(patchHead(range)),
      body: RequestBody(fileOffset: Int64(range.lowerBound), fileLength: Int64(range.count)),
      exchange: Exchange(method: "PATCH", expectsContinue: false))
  }

  var path: LocalPath { file.path }

  /// The expected bytes of the form on the wire.
  var wire: [UInt8] {
    bytes(TransferBench.head) + bytes(TransferBench.preamble) + content + bytes(TransferBench.closing)
  }

  /// The expected bytes of these ranges on the wire.
  func wire(_ ranges: Range<Int>...) -> [UInt8] {
    ranges.flatMap { bytes(TransferBench.patchHead($0)) + content[$0] }
  }

  /// Whether the end of the form was written, which claims "this was the whole file".
  var hasWrittenClosing: Bool {
    stream.written.suffix(TransferBench.closing.utf8.count) == bytes(TransferBench.closing)[...]
  }

  /// The responses to all requests except the last.
  var earlierAnswers: [Response] { earlier.map { $0.response } }
  /// Their response times from the request's last byte, in milliseconds.
  var earlierWaits: [Int64] { earlier.map { $0.milliseconds } }
  /// The number of requests not sent yet.
  var rangesLeft: Int { following.count }

  /// The response that ended the transfer.
  var response: Response? { last?.response }
  /// The interruption if it ended now.
  var endNow: Interruption { transfer.interruption(.uploadLost) }

  /// One step, and the next one if another request is pipelined or unanswered.
  /// - Returns: nil if the transfer has ended with a response.
  /// - Throws: the interruption, or the error of the file.
  @discardableResult
  func step(_ ready: Readiness = [.readable, .writable], at milliseconds: Int64? = nil) throws(UploadError) -> Wait? {
    now = milliseconds ?? now
    if response != nil { return nil }
    while true {
      let step = try transfer.step(ready, nowMilliseconds: now)
      if let reported = transfer.takeProgress() { progress.append(reported) }
      switch step {
      case .wait(let wait): return wait
      case .sent:
        if let request = following.popFirst() {
          transfer.append(request)
          inFlightCount += 1
        }
      case .answered(let response, let sent, let milliseconds):
        inFlightCount -= 1
        guard inFlightCount > 0, response.status < 300 else {
          last = (response, sent, milliseconds)
          return nil
        }
        earlier.append((response, milliseconds))
      case .lastByteNext: endings.append(stream.written.count)
      case .statusChanged(let statusChange):
        statusChanges.append(statusChange)
        guard statusChanges.count < 100 else { throw .internalError("it reports the same change again and again") }
        writtenAtStatusChange = stream.written.count
      case .interrupted(let interruption):
        self.interruption = interruption
        throw interruption.error
      }
    }
  }

  /// Steps until the transfer ends, as the loop does: time passes only when nothing else can happen.
  func run() throws(UploadError) {
    var ready: Readiness = []
    for _ in 0..<1_000_000 {
      guard let wait = try step(ready) else { return }
      // The hash thread takes real time, which does not count.
      for descriptor in wait.others {
        var entry = shim_poll_entry(descriptor: descriptor, events: wait.readiness.rawValue, ready: 0)
        _ = shim_poll(&entry, 1, -1)
      }
      if !wait.others.isEmpty {
        ready = .readable
        continue
      }
      ready = stream.isReadable ? wait.readiness : wait.readiness.subtracting(.readable)
      if ready.isEmpty { now = max(now, wait.untilMilliseconds) }
    }
    Issue.record("the transfer does not end")
  }
}

/// A short success response to a form.
let accepted = "HTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\nok"

/// The response of a tus server that has stored a request.
func stored(_ offset: Int, _ fields: String = "") -> String {
  "HTTP/1.1 204 No Content\r\nUpload-Offset: \(offset)\r\n\(fields)\r\n"
}
