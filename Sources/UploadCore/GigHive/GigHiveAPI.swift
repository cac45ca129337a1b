/// GigHive's addresses below a server's base, and what is posted to them as JSON.
package enum GigHiveAPI {
  /// Takes a recording as multipart/form-data.
  package static let uploads = "api/uploads.php?ui=json"
  /// Creates tus uploads.
  package static let files = "files/"
  /// Makes a recording of a finished tus upload. The same call again has the same result.
  package static let finalize = "api/uploads/finalize"
  /// Deletes a recording.
  package static let delete = "db/delete_media_files.php"

  /// Says what it has under an asset's number.
  package static func recording(_ assetID: Int64) -> String { "api/uploads/" + String(assetID) }

  /// The content of a finalize request.
  /// - Parameter uploadID: the last segment of the tus upload's address.
  package static func finalizeContent(uploadID: String, fields: [FormField]) -> [UInt8] {
    var json = JSONWriter()
    json.add("upload_id", uploadID)
    for (index, field) in fields.enumerated() where !fields[(index + 1)...].contains(where: { $0.name == field.name }) {
      // What guests agree to is a truth value there.
      if field.name == "tos_accepted", field.value == "true" {
        json.add(field.name, true)
      } else {
        json.add(field.name, field.value)
      }
    }
    return Array(json.finished().utf8)
  }

  /// The content of a delete request.
  package static func deleteContent(assetID: Int64, deleteToken: String) -> [UInt8] {
    var json = JSONWriter()
    json.add("asset_id", assetID)
    json.add("delete_token", deleteToken)
    return Array(json.finished().utf8)
  }
}
