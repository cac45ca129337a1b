@testable import Uploader

/// The responses of a tus server on the loopback interface.
enum TusScript {
  typealias Action = LoopbackServer.Action

  /// The response to OPTIONS.
  static let offer = Action.answer(offerText("creation"))
  static func offerText(_ extensions: String) -> String {
    "HTTP/1.1 204 No Content\r\nTus-Version: 1.0.0\r\nTus-Extension: \(extensions)\r\n\r\n"
  }

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
