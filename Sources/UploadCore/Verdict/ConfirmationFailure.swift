/// Why a response does not confirm that the server has the recording (``UploadConfirmation``).
package enum ConfirmationFailure: Error, Equatable {
  /// The server refused with this status. `message` is its unprocessed text.
  case refused(status: Int, message: String)
  /// The same, and sending it again cannot help (``GigHiveFailure``).
  case dropped(status: Int, message: String, UploadError.FormProblem)
  /// The server's SHA-256 differs from that of the sent bytes.
  case checksumDiffers(sent: String, stored: String)
  /// The server's size differs from the number of bytes sent.
  case sizeDiffers(sent: Int64, stored: Int64)
  /// GigHive has the recording but has not processed it yet. Contains its number, if known.
  case pending(assetID: Int64?)
  /// A success without GigHive's fields: another program answers at this address.
  case notFromGigHive(status: Int)
}

extension ConfirmationFailure {
  /// A refusal.
  /// - Parameter json: the content, if it is JSON.
  init(status: Int, _ json: JSONValue?, _ content: [UInt8]) {
    let message = ServerMessage.text(of: json, content: content)
    self =
      switch GigHiveFailure(status: status, json: json)?.problem {
      case let problem?: .dropped(status: status, message: message, problem)
      case nil: .refused(status: status, message: message)
      }
  }
}
