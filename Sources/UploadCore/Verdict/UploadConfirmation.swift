/// Decides whether a server's response confirms that it has the recording: the size and SHA-256 in it are compared with those of the sent
/// bytes.
package enum UploadConfirmation: Equatable {
  case receipt(Receipt)
  /// GigHive has the recording but has not processed it yet. Contains its number, if known.
  case pending(assetID: Int64?)

  /// A response of GigHive's `uploads.php`: 201 with checksum and size, or 409 with the checksum of what has arrived, if it already has that.
  /// - Throws: also if another program answers at this address: a success without GigHive's members.
  package static func ofGigHive(_ answer: Answer, sent: SentFile) throws(UploadError) -> UploadConfirmation {
    let json = try? JSONReader.read(answer.content)
    if answer.status == 409, let stored = json?["checksum_sha256"]?.string, sent.sha256 != nil {
      var receipt = Receipt()
      try compare(checksum: stored, size: nil, with: sent, &receipt)
      receipt.assetID = json?["existing_asset_id"]?.integer
      receipt.wasAlreadyThere = true
      return .receipt(receipt)
    }
    guard answer.isSuccess else { throw answer.refusal }
    if json?["status"]?.string == "pending" {
      return .pending(assetID: json?["asset_id"]?.integer ?? json?["id"]?.integer)
    }
    guard let json, json["checksum_sha256"]?.string != nil, json["size_bytes"]?.integer != nil else {
      throw .unconfirmed(status: answer.status)
    }
    return .receipt(try compare(json, sent))
  }

  /// A response of any other endpoint: its status counts, and checksum and size if present.
  package static func ofPlainEndpoint(_ answer: Answer, sent: SentFile) throws(UploadError) -> Receipt {
    guard answer.isSuccess else { throw answer.refusal }
    return try compare((try? JSONReader.read(answer.content)) ?? .null, sent)
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

  private static func compare(_ json: JSONValue, _ sent: SentFile) throws(UploadError) -> Receipt {
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
  ) throws(UploadError) {
    if let size, size != sent.size { throw .sizeDiffers(sent: sent.size, stored: size) }
    if let checksum, let ours = sent.sha256 {
      guard ASCII.lowercased(checksum) == ours else {
        throw .checksumDiffers(sent: ours, stored: checksum)
      }
      receipt.isChecksumVerified = true
    }
  }
}
