@testable import Uploader

/// A transfer of one file over a scripted stream, in virtual time.
final class TransferBench: SteppedTransfer {
  static let peer = "192.0.2.1:443"
  static let head = "POST /up HTTP/1.1\r\nHost: hive\r\n\r\n"
  static let preamble =
    "------GigHive-000102030405060708090a0b0c0d0e0f\r\nContent-Disposition: form-data; name=\"label\"\r\n\r\nSet 1\r\n"
    + "------GigHive-000102030405060708090a0b0c0d0e0f\r\n"
    + "Content-Disposition: form-data; name=\"file\"; filename=\"set.wav\"\r\nContent-Type: audio/wav\r\n\r\n"
  static let closing = "\r\n------GigHive-000102030405060708090a0b0c0d0e0f--\r\n"

  let directory = TemporaryDirectory()
  let path: LocalPath
  let content: [UInt8]
  let stream = ScriptedStream()
  let transfer: Transfer
  private let digest: FileDigest
  let story = TransferStory()
  /// The time of the last step, in milliseconds.
  var now: Int64 = 0

  init(
    fileLength: Int, expectsContinue: Bool = false, roundTripMilliseconds: Int64 = 0, stallMilliseconds: Int64 = 30_000,
    responseMilliseconds: Int64 = 120_000, pace: PaceShare? = nil, processors: Int = 1,
    clock: @escaping () -> Int64 = { 0 }
  ) throws {
    digest = try FileDigest()
    content = recording(fileLength)
    path = directory.file("set.wav", content)
    let file = try SourceFile.open(path, limit: .max)
    let body = try FormData.body(
      fields: [FormField("label", "Set 1")], file: FilePart(name: "file", fileName: "set.wav", mediaType: "audio/wav"),
      fileLength: file.size, boundary: Boundary(random: Array(0...15)))
    var timeouts = Timeouts()
    timeouts.stallMilliseconds = stallMilliseconds
    timeouts.responseMilliseconds = responseMilliseconds
    transfer = Transfer(
      WireRequest(
        head: bytes(TransferBench.head), body: body,
        exchange: Exchange(method: "POST", expectsContinue: expectsContinue)),
      of: TransferSource(file: file, digest: digest, clock: clock),
      over: Connection(
        stream: stream, peer: TransferBench.peer, roundTripMilliseconds: roundTripMilliseconds, host: "hive"),
      buffers: TransferBuffers(processors: processors), timeouts: timeouts, pace: pace)
  }

  /// The expected bytes on the wire.
  var wire: [UInt8] {
    bytes(TransferBench.head) + bytes(TransferBench.preamble) + content + bytes(TransferBench.closing)
  }

  /// Whether the end of the body was written, which claims "this was the whole file".
  var hasWrittenClosing: Bool {
    stream.written.suffix(TransferBench.closing.utf8.count) == bytes(TransferBench.closing)[...]
  }

  /// SHA-256 of what was read. Ends the computation.
  func finishDigest() throws -> String { try digest.finish() }
}

/// A short success response.
let accepted = "HTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\nok"
