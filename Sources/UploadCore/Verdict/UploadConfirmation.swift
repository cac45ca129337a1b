/// Decides whether a server's response confirms that it has the recording: the size and SHA-256 in it are compared with those of the sent
/// bytes.
package enum UploadConfirmation {
  /// A response of GigHive's `uploads.php`: 201 with checksum and size, or 409 for a recording that it already has.
  package static func fromGigHive(status: Int, content: [UInt8], sent: SentFile) throws(ConfirmationFailure) -> Receipt
  {
    let json = try? JSONReader.read(content)
    if status == 409, let stored = json?["checksum_sha256"]?.string, sent.sha256 == ASCII.lowercased(stored) {
      var receipt = Receipt()
      receipt.assetID = json?["existing_asset_id"]?.integer
      receipt.isChecksumVerified = true
      receipt.wasAlreadyThere = true
      return receipt
    }
    try requireSuccess(status, content, json)
    if json?["status"]?.string == "pending" {
      throw .pending(assetID: json?["asset_id"]?.integer ?? json?["id"]?.integer)
    }
    guard let json, json["checksum_sha256"]?.string != nil, json["size_bytes"]?.integer != nil else {
      throw .notFromGigHive(status: status)
    }
    return try compare(json, sent)
  }

  /// A response of any other endpoint: its status counts, and checksum and size if present.
  package static func fromPlainEndpoint(status: Int, content: [UInt8], sent: SentFile) throws(ConfirmationFailure)
    -> Receipt
  {
    let json = try? JSONReader.read(content)
    try requireSuccess(status, content, json)
    return try compare(json ?? .null, sent)
  }

  /// Whether the address that an S3 POST policy redirects to confirms the upload (`success_action_redirect`: bucket, key and
  /// etag in the query).
  static func isConfirmationByS3(_ location: String) -> Bool {
    guard let query = location.split(separator: "?", maxSplits: 1).dropFirst().first else { return false }
    let names = query.split(separator: "&").compactMap { pair in
      pair.split(separator: "=", maxSplits: 1).count == 2 ? pair.split(separator: "=", maxSplits: 1)[0] : nil
    }
    return ["bucket", "key", "etag"].allSatisfy { name in names.contains { $0 == name } }
  }

  private static func requireSuccess(_ status: Int, _ content: [UInt8], _ json: JSONValue?) throws(ConfirmationFailure)
  {
    guard status < 200 || status > 299 else { return }
    throw ConfirmationFailure(status: status, json, content)
  }

  private static func compare(_ json: JSONValue, _ sent: SentFile) throws(ConfirmationFailure) -> Receipt {
    var receipt = Receipt()
    receipt.assetID = json["asset_id"]?.integer ?? json["id"]?.integer
    if let token = json["delete_token"]?.string, token.utf8.count <= Limits.serverTextLength {
      receipt.deleteToken = token
    }
    try compare(
      checksum: json["checksum_sha256"]?.string, size: json["size_bytes"]?.integer, with: sent, &receipt)
    return receipt
  }

  /// Compares the checksum and size in the response, if present, with those of the sent file.
  static func compare(
    checksum: String?, size: Int64?, with sent: SentFile, _ receipt: inout Receipt
  ) throws(ConfirmationFailure) {
    if let size, size != sent.size { throw .sizeDiffers(sent: sent.size, stored: size) }
    if let checksum, let ours = sent.sha256 {
      guard ASCII.lowercased(checksum) == ours else {
        throw .checksumDiffers(sent: ours, stored: checksum)
      }
      receipt.isChecksumVerified = true
    }
  }
}

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
