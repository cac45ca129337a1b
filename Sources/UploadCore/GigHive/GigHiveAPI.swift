/// GigHive's paths below a server's base address, and the JSON for them.
enum GigHiveAPI {
  /// Accepts a recording as multipart/form-data.
  package static let uploads = "api/uploads.php?ui=json"
  /// Creates tus uploads.
  package static let files = "files/"
  /// Turns a finished tus upload into a recording. Repeating the call gives the same result.
  package static let finalize = "api/uploads/finalize"
  package static let delete = "db/delete_media_files.php"

  /// The state of an asset.
  package static func recording(_ assetID: Int64) -> String { "api/uploads/" + String(assetID) }

  static func question(about assetID: Int64, at base: TargetURI) -> HTTPRequest {
    // A cached response is no proof (RFC 9111, 5.2.1.4).
    var request = HTTPRequest(
      method: "GET", target: base.appending(recording(assetID)), fields: [Field("Cache-Control", "no-cache")])
    // Only the server that has confirmed the recording can say that it still has it.
    request.isConfidential = true
    return request
  }

  /// The path of a recording's file, as GigHive's row of it says: "video/SHA256.mp4".
  /// - Returns: nil if the file's name is anything else than its SHA-256 and an extension.
  static func mediaPath(fileType: String?, fileName: String?, sha256: String?) -> String? {
    guard let fileType, ["audio", "video"].contains(fileType), let fileName, let sha256, sha256.utf8.count == 64,
      ASCII.equalsIgnoringCase(fileName.utf8.prefix(65), (sha256 + ".").utf8)
    else { return nil }
    let ending = fileName.utf8.dropFirst(65)
    let isExtension =
      (1...Limits.mediaExtensionLength).contains(ending.count)
      && ending.allSatisfy { ASCII.isLetter($0) || ASCII.isDigit($0) }
    return isExtension ? fileType + "/" + fileName : nil
  }

  /// Asks whether the server has the file at ``mediaPath(fileType:fileName:sha256:)``.
  /// - Parameter nonce: another one each time, because some caches ignore what a request says about them.
  static func questionAboutFile(at path: String, nonce: UInt64, base: TargetURI) -> HTTPRequest {
    var request = HTTPRequest(
      method: "HEAD", target: base.appending(path + "?nonce=" + ASCII.hex(nonce)),
      fields: [Field("Cache-Control", "no-cache")])
    request.isConfidential = true
    return request
  }

  /// The content of a finalize request.
  /// - Parameter uploadID: the last segment of the tus upload's URL.
  static func finalizeContent(uploadID: String, fields: [FormField]) -> [UInt8] {
    var json = JSONWriter()
    json.add("upload_id", uploadID)
    for (index, field) in fields.enumerated() where !fields[(index + 1)...].contains(where: { $0.name == field.name }) {
      // This field is a boolean here.
      if field.name == "tos_accepted", field.value == "true" {
        json.add(field.name, true)
      } else {
        json.add(field.name, field.value)
      }
    }
    return Array(json.finished().utf8)
  }

  static func deleteContent(assetID: Int64, deleteToken: String) -> [UInt8] {
    var json = JSONWriter()
    json.add("asset_id", assetID)
    json.add("delete_token", deleteToken)
    return Array(json.finished().utf8)
  }
}

extension Limits {
  /// The longest extension of a recording's file on GigHive, in bytes.
  static let mediaExtensionLength = 16
}
