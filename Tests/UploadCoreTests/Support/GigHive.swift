import UploadCore

/// GigHive's responses.
enum GigHive {
  static let sha256 = String(repeating: "ab", count: 32)
  /// The same in Base64.
  static let checksum = "q6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6s="
  static let created = created(checksum: sha256, size: 100)
  static let uploadUnknown = #"{"error":"Bad Request","message":"Upload not found"}"#
  static let tokenKnown = #"{"error":"Bad Request","message":"Missing or invalid upload_id"}"#
  static let tokenUnknown = #"{"error":"Not Found","message":"Invalid or expired upload token"}"#
  static let page = "<html><body>Who are you?</body></html>"
  static let loginPage = #"<html><form action="/login"><input type="password" name="p"></form></html>"#

  /// What GigHive says of a stored recording of 6 GiB.
  static let row =
    #"{"id":9,"file_name":"\#(sha256).mp4","file_type":"video","checksum_sha256":"\#(sha256)","size_bytes":6442450944}"#

  static func created(checksum: String, size: Int64) -> String {
    #"{"asset_id":9,"size_bytes":\#(size),"checksum_sha256":"\#(checksum)","delete_token":"5ec2e7"}"#
  }
}
