@testable import Uploader

/// A transfer of one file over a scripted stream, with a clock that the test owns.
final class TransferBench: SteppedTransfer {
  static let peer = "192.0.2.1:443"
  static let head = "POST /up HTTP/1.1\r\nHost: hive\r\n\r\n"
  static let preamble =
    "------GigHive-000102030405060708090a0b0c0d0e0f\r\nContent-Disposition: form-data; name=\"label\"\r\n\r\nSet 1\r\n"
    + "------GigHive-000102030405060708090a0b0c0d0e0f\r\n"
    + "Content-Disposition: form-data; name=\"file\"; filename=\"set.wav\"\r\nContent-Type: audio/wav\r\n\r\n"
  static let closing = "\r\n------GigHive-000102030405060708090a0b0c0d0e0f--\r\n"

  let directory = TemporaryDirectory()
  let path: FilePath
  let content: [UInt8]
  let stream = ScriptedStream()
  let transfer: Transfer
  private let digest: FileDigest
  private let told = Told()
  /// What the last step took as the time, in milliseconds.
  var now: Int64 = 0

  private final class Told { var progress: [Progress] = [] }

  init(
    fileLength: Int, expectsContinue: Bool = false, roundTripMilliseconds: Int64 = 0, stallMilliseconds: Int64 = 30_000,
    responseMilliseconds: Int64 = 120_000, pace: Pace? = nil
  ) throws {
    digest = try FileDigest()
    content = recording(fileLength)
    path = directory.file("set.wav", content)
    let file = try SourceFile(path: path, limit: .max)
    let body = try FormData.body(
      fields: [FormField("label", "Set 1")], file: FilePart(name: "file", fileName: "set.wav", mediaType: "audio/wav"),
      fileLength: file.size, boundary: Boundary(random: Array(0...15)))
    var timeouts = Timeouts()
    timeouts.stallMilliseconds = stallMilliseconds
    timeouts.responseMilliseconds = responseMilliseconds
    let told = told
    var hooks = TransferHooks()
    hooks.onProgress = { told.progress.append($0) }
    transfer = Transfer(
      OutgoingRequest(
        head: bytes(TransferBench.head), body: body,
        exchange: Exchange(method: "POST", expectsContinue: expectsContinue)),
      of: file, digest: digest,
      over: Connection(
        stream: stream, peer: TransferBench.peer, roundTripMilliseconds: roundTripMilliseconds),
      buffers: TransferBuffers(), timeouts: timeouts, pace: pace, hooks: hooks)
  }

  var progress: [Progress] { told.progress }

  /// Everything that belongs on the wire.
  var wire: [UInt8] {
    bytes(TransferBench.head) + bytes(TransferBench.preamble) + content + bytes(TransferBench.closing)
  }

  /// Does what was written hold the end of the body, which says "this was the whole file"?
  var hasWrittenClosing: Bool {
    stream.written.suffix(TransferBench.closing.utf8.count) == bytes(TransferBench.closing)[...]
  }

  /// SHA-256 of what was read. Ends the computation.
  func finishDigest() throws -> String { try digest.finish() }
}

/// A small answer that says yes.
let accepted = "HTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\nok"
