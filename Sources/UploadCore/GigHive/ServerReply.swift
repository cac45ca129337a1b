/// Parses a server's response to an upload.
package enum ServerReply {
  /// A response of GigHive's `uploads.php`: 201 with checksum and size, or 409 for a recording that it already has.
  package static func fromGigHive(status: Int, content: [UInt8], sent: SentFile) throws(ReplyFailure) -> Receipt {
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
  package static func fromPlainEndpoint(status: Int, content: [UInt8], sent: SentFile) throws(ReplyFailure) -> Receipt {
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

  private static func requireSuccess(_ status: Int, _ content: [UInt8], _ json: JSONValue?) throws(ReplyFailure) {
    guard status < 200 || status > 299 else { return }
    throw .refused(status: status, message: message(of: json, content: content))
  }

  private static func compare(_ json: JSONValue, _ sent: SentFile) throws(ReplyFailure) -> Receipt {
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
  ) throws(ReplyFailure) {
    if let size, size != sent.size { throw .sizeDiffers(sent: sent.size, stored: size) }
    if let checksum, let ours = sent.sha256 {
      guard ASCII.lowercased(checksum) == ours else {
        throw .checksumDiffers(sent: ours, stored: checksum)
      }
      receipt.isChecksumVerified = true
    }
  }

  /// The message for people in a response's content.
  package static func message(of content: [UInt8]) -> String {
    message(of: try? JSONReader.read(content), content: content)
  }

  /// The message for people, not yet made printable: `message` and `error` of a JSON response, or the text of an HTML page.
  static func message(of json: JSONValue?, content: [UInt8]) -> String {
    let error = json?["error"]?.string ?? ""
    let message = json?["message"]?.string ?? ""
    if !message.isEmpty { return message }
    if !error.isEmpty { return error }
    if json != nil { return "" }
    return withoutTags(content)
  }

  /// The text of a short HTML page: everything outside of tags, after the head.
  private static func withoutTags(_ content: [UInt8]) -> String {
    var text: [UInt8] = []
    var isInTag = false
    var tag: [UInt8] = []
    for byte in content {
      switch (isInTag, byte) {
      case (false, UInt8(ascii: "<")):
        isInTag = true
        tag = []
      case (true, UInt8(ascii: ">")):
        isInTag = false
        if ASCII.equalsIgnoringCase(tag, "/head".utf8) { text = [] }
        text.append(ASCII.space)
      case (true, _): if tag.count < 8 { tag.append(byte) }
      case (false, _): text.append(byte)
      }
    }
    return String(decoding: text, as: UTF8.self)
  }
}
