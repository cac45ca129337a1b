@testable import Uploader

/// The responses of a tus server on the loopback interface, and uploads to it.
enum TusScript {
  typealias Action = LoopbackServer.Action

  /// The response to OPTIONS.
  static func offer(_ extensions: String = "creation") -> Action {
    .answer(
      "HTTP/1.1 204 No Content\r\nTus-Version: 1.0.0\r\nTus-Extension: \(extensions)\r\n"
        + "Tus-Checksum-Algorithm: sha256\r\n\r\n")
  }

  static let created = created(storing: 0)
  /// Delayed, as from a distant server.
  static let createdFarAway = Action.answerLate(createdText(0), milliseconds: 40)
  static func created(storing offset: Int) -> Action { .answer(createdText(offset)) }
  private static func createdText(_ offset: Int) -> String {
    "HTTP/1.1 201 Created\r\n\(proof)Location: /files/1\r\nUpload-Offset: \(offset)\r\nContent-Length: 0\r\n\r\n"
  }
  /// The field that proves a tus server.
  static let proof = "Tus-Resumable: 1.0.0\r\n"

  /// The response to HEAD.
  static func located(_ offset: Int, of length: Int) -> Action {
    .answer(
      "HTTP/1.1 200 OK\r\n\(proof)Upload-Offset: \(offset)\r\nUpload-Length: \(length)\r\nContent-Length: 0\r\n\r\n")
  }

  /// The response to PATCH.
  static func took(_ offset: Int) -> Action { .answer(stored(offset)) }

  static func refusal(_ status: Int, _ fields: String = "") -> String {
    "HTTP/1.1 \(status) No\r\n\(fields)Content-Length: 2\r\n\r\nno"
  }
}

/// A tus server with one upload of `length` bytes, and with faults. After the faults it accepts requests of any length, because
/// their length depends on the speed of the machine.
final class TusStub: @unchecked Sendable {
  private let length: Int
  private let extensions: String
  private var resets: [Int] = []
  private var troubles: ArraySlice<LoopbackServer.Action> = []
  private var offset = 0
  private var offsetBehindTroubles = 0
  private var isFarAway = false
  private var count = 0

  /// - Parameter resets: the requests, counted from 0, whose connection is reset without reading them.
  init(length: Int, extensions: String = "creation", resets: [Int] = []) {
    self.length = length
    self.extensions = extensions
    self.resets = resets
  }

  /// A server so distant that two requests are in flight.
  /// - Parameters:
  ///   - second: how to handle the second PATCH, when the first has arrived and was not answered.
  ///   - kept: how much of both the server has.
  init(farAway length: Int, second: LoopbackServer.Action, kept: Int) {
    self.length = length
    extensions = "creation"
    troubles = [.answer(""), second]
    offsetBehindTroubles = kept
    isFarAway = true
  }

  func answer(_ request: LoopbackServer.Request) -> LoopbackServer.Action {
    count += 1
    if resets.contains(count - 1) { return .reset }
    switch request.head.prefix(while: { $0 != " " }) {
    case "OPTIONS": return TusScript.offer(extensions)
    case "POST":
      offset = Int(request.value("Content-Length") ?? "") ?? 0
      defer { isFarAway = false }
      return isFarAway ? TusScript.createdFarAway : TusScript.created(storing: offset)
    case "HEAD": return TusScript.located(offset, of: length)
    default: return patch(request)
    }
  }

  private func patch(_ request: LoopbackServer.Request) -> LoopbackServer.Action {
    if let trouble = troubles.popFirst() {
      if troubles.isEmpty { offset = offsetBehindTroubles }
      return trouble
    }
    guard request.offset == offset else { return .answer(TusScript.refusal(409)) }
    offset += Int(request.value("Content-Length") ?? "") ?? 0
    return TusScript.took(offset)
  }
}

/// Uploads with their own file and configuration, and a log of their callbacks.
final class UploadBench {
  let directory = TemporaryDirectory()
  let content: [UInt8]
  var configuration = Configuration()
  private(set) var retries: [Retry] = []
  private let path: LocalPath

  init(length: Int) {
    content = recording(length)
    path = directory.file("set.wav", content)
    configuration.retryMaximumDelayMilliseconds = 1
  }

  func tus(_ server: LoopbackServer) throws -> UploadRequest {
    UploadRequest(file: path, destination: .tus(try TargetURI(server.url + "files/")))
  }

  /// Uploads one after the other, then closes the connection.
  @discardableResult
  func upload(_ requests: UploadRequest...) throws -> [Delivery] {
    let uploader = Uploader(configuration)
    var observer = UploadObserver()
    var outcomes: [Result<Delivery, UploadError>] = []
    observer.onRetry = { self.retries.append($1) }
    observer.onEnd = { outcomes.append($1) }
    for request in requests { uploader.upload([request], observer: observer) }
    return try outcomes.map { try $0.get() }
  }
}

/// The range of the file in a PATCH.
extension LoopbackServer.Request {
  var offset: Int? { value("Upload-Offset").flatMap { Int($0) } }
}
