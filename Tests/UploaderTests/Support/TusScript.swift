import Foundation

@testable import Uploader

/// What a tus server on the loopback interface says, and uploads to it.
enum TusScript {
  typealias Action = LoopbackServer.Action

  /// The answer to OPTIONS.
  static func offer(_ extensions: String = "creation") -> Action {
    .answer("HTTP/1.1 204 No Content\r\nTus-Version: 1.0.0\r\nTus-Extension: \(extensions)\r\n\r\n")
  }

  static let created = Action.answer(createdText)
  /// So late that the server must be far away.
  static let createdFarAway = Action.answerLate(createdText, milliseconds: 40)
  private static let createdText =
    "HTTP/1.1 201 Created\r\nTus-Resumable: 1.0.0\r\nLocation: /files/1\r\nContent-Length: 0\r\n\r\n"
  /// The field that shows that a tus server has answered.
  static let proof = "Tus-Resumable: 1.0.0\r\n"

  /// The answer to HEAD.
  static func located(_ offset: Int, of length: Int) -> Action {
    .answer(
      "HTTP/1.1 200 OK\r\n\(proof)Upload-Offset: \(offset)\r\nUpload-Length: \(length)\r\nContent-Length: 0\r\n\r\n")
  }

  /// The answer to PATCH.
  static func took(_ offset: Int) -> Action { .answer(stored(offset)) }

  static func refusal(_ status: Int, _ fields: String = "") -> String {
    "HTTP/1.1 \(status) No\r\n\(fields)Content-Length: 2\r\n\r\nno"
  }

  /// GigHive's confirmation.
  static func recorded(_ content: [UInt8]) -> Action {
    let json = #"{"asset_id":7,"size_bytes":\#(content.count),"checksum_sha256":"\#(sha256(content))"}"#
    return .answer("HTTP/1.1 201 Created\r\nContent-Length: \(json.utf8.count)\r\n\r\n" + json)
  }
}

/// A tus server with one upload of `length` bytes, and with troubles. Once they are over it takes whatever comes, in pieces
/// of any length: how long those are depends on how fast the machine is.
final class TusStub: @unchecked Sendable {
  /// A PATCH that is cut: how much of its body is read, and how much of that is kept.
  struct Cut {
    var after: Int
    var kept: Int
  }

  private let length: Int
  private var cuts: ArraySlice<Cut> = []
  private var resets: [Int] = []
  private var troubles: ArraySlice<LoopbackServer.Action> = []
  private var offset = 0
  private var offsetBehindTroubles = 0
  private var isFarAway = false
  private var count = 0

  /// - Parameter resets: the requests, counted from 0, that are not read: their connection is reset.
  init(length: Int, cuts: [Cut] = [], resets: [Int] = []) {
    self.length = length
    self.cuts = cuts[...]
    self.resets = resets
  }

  /// A server so far away that two requests are under way.
  /// - Parameters:
  ///   - first: happens to the first PATCH, and `second` to the one behind it.
  ///   - kept: what the server has of them.
  init(
    farAway length: Int, first: LoopbackServer.Action = .answer(""), second: LoopbackServer.Action, kept: Int = 0
  ) {
    self.length = length
    troubles = [first, second]
    offsetBehindTroubles = kept
    isFarAway = true
  }

  func answer(_ request: LoopbackServer.Request) -> LoopbackServer.Action {
    count += 1
    if resets.contains(count - 1) { return .reset }
    switch request.head.prefix(while: { $0 != " " }) {
    case "OPTIONS": return TusScript.offer()
    case "POST":
      offset = 0
      defer { isFarAway = false }
      return isFarAway ? TusScript.createdFarAway : TusScript.created
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
    if let cut = cuts.popFirst() {
      offset += cut.kept
      return .interrupt(afterBody: cut.after)
    }
    offset += Int(request.value("Content-Length") ?? "") ?? 0
    return TusScript.took(offset)
  }
}

/// Uploads with a file and a configuration of their own, and what they told meanwhile.
final class UploadBench {
  let directory = TemporaryDirectory()
  let content: [UInt8]
  var configuration = Configuration()
  private(set) var retries: [Retry] = []
  private let path: LocalPath

  init(length: Int, keepsRecords: Bool = false) {
    content = recording(length)
    path = directory.file("set.wav", content)
    configuration.retryMaximumDelayMilliseconds = 1
    if keepsRecords { configuration.stateDirectory = LocalPath(directory.path(of: "state")) }
  }

  deinit { try? FileManager.default.removeItem(atPath: directory.path(of: "state")) }

  /// What is on the disk of the uploads.
  func records() throws -> [UploadRecord] {
    try StateDirectory(LocalPath(directory.path(of: "state")), warn: { _ in }).records(.all)
  }

  func tus(_ server: LoopbackServer) throws -> UploadRequest {
    UploadRequest(file: path, destination: .tus(try TargetURI(server.url + "files/")))
  }

  func gigHive(_ server: LoopbackServer) throws -> UploadRequest {
    var form = EventForm()
    form.label = "Set 1"
    form.eventDate = "2026-11-20"
    var request = UploadRequest(file: path, destination: .gigHive(try TargetURI(server.url), form))
    request.uploadProtocol = .tus
    return request
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

/// What of the file a PATCH carried.
extension LoopbackServer.Request {
  var offset: Int? { value("Upload-Offset").flatMap { Int($0) } }
}
