/// Why a server of objects (S3, Google Cloud Storage, Azure) refuses a request, from the XML of its response.
struct ObjectStoreRefusal {
  private let status: Int
  private let code: String
  private let message: String

  /// - Returns: nil if the response says nothing of this kind.
  init?(_ answer: Answer) {
    guard answer.status >= 400, let code = S3Content.text(of: "Code", in: answer.content) else { return nil }
    status = answer.status
    self.code = code
    message = S3Content.text(of: "Message", in: answer.content) ?? ""
  }

  var error: UploadError {
    let text = code + (message.isEmpty ? "" : ": " + message)
    switch code {
    case "SignatureDoesNotMatch", "ExpiredToken", "InvalidToken", "InvalidAccessKeyId", "AuthenticationFailed",
      "RequestTimeTooSkewed":
      return .signatureRefused(status: status, message: text)
    case "AccessDenied" where message.utf8.count < Limits.serverTextLength && message.hasSuffix("expired"):
      return .signatureRefused(status: status, message: text)
    case "QuotaExceeded", "XMinioAdminBucketQuotaExceeded", "XMinioStorageFull":
      return .refused(status: 507, message: text)
    // It got nothing for a while (S3 says 400).
    case "RequestTimeout": return .refused(status: 408, message: text)
    default: return .refused(status: status, message: text)
    }
  }
}

extension Answer {
  /// What its status and content say, if it refuses a request for an object.
  var objectRefusal: UploadError {
    if status == 301, let region = fields.first("x-amz-bucket-region"), region.utf8.count <= Limits.regionLength {
      return .refused(status: status, message: "the bucket is in the region " + region + ", which has another endpoint")
    }
    if let error = ObjectStoreRefusal(self)?.error { return error }
    // Only the content would say whether it is a RequestTimeout, whose sender closes the connection at once.
    if status == 400, isCut { return .refused(status: 408, message: "the connection ended within a 400 (Bad Request)") }
    return refusal
  }
}

extension [Field] {
  /// nil if there is none, or no number.
  var contentLength: Int64? { first("Content-Length").flatMap { Int64($0) } }

  /// The SHA-256 of a stored object in lower-case hexadecimal digits, as Artifactory, Nextcloud, S3 and RFC 9530 name it; nil if no field does.
  var objectSHA256: String? {
    if let text = first("X-Checksum-Sha256") ?? first("X-Hash-SHA256") { return ASCII.lowercased(text) }
    let encoded =
      first("x-amz-checksum-sha256")
      ?? first("Repr-Digest").flatMap { $0.hasPrefix("sha-256=:") ? String($0.dropFirst(9).prefix { $0 != ":" }) : nil }
    guard let digest = encoded.flatMap({ Base64.decode($0.utf8) }), digest.count == 32 else { return nil }
    return ASCII.hex(digest)
  }

  /// Whether a field says that the server has stored content with this MD5 (lower-case hexadecimal digits): Azure in Content-MD5, S3 and others as
  /// the ETag. An ETag may be anything else, so one that differs shows nothing (with SSE-KMS, it has the form of an MD5).
  func haveMD5(_ md5: String) -> Bool {
    if let digest = first("Content-MD5").flatMap({ Base64.decode($0.utf8) }), ASCII.hex(digest) == md5 { return true }
    guard let tag = first("ETag") else { return false }
    return ASCII.lowercased(tag.hasPrefix("\"") ? String(tag.dropFirst().dropLast()) : tag) == md5
  }
}
