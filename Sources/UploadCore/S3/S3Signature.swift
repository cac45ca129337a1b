/// What the signature of a request depends on besides the request itself and the keys.
package struct S3Signing: Equatable, Sendable {
  package var region: String
  /// The SHA-256 of content from the file, in lower-case hexadecimal digits: the server refuses any other. nil if the content is framing, or
  /// there is none.
  package var contentSHA256: String?
  /// The server's time when it refused a signature as too old or too new, in seconds since 1970: its clock counts from then on.
  package var serverTime: Int64?

  package init(region: String) { self.region = region }
}

/// Signature Version 4 of Amazon Web Services ("Authenticating Requests: Using the Authorization Header", S3 API Reference).
package struct S3Signature {
  /// A digest, and one with a key (RFC 2104), with SHA-256.
  package struct Hashes {
    package let sha256: ([UInt8]) throws(UploadError) -> [UInt8]
    package let hmac: (_ key: [UInt8], _ message: [UInt8]) throws(UploadError) -> [UInt8]

    package init(
      sha256: @escaping ([UInt8]) throws(UploadError) -> [UInt8],
      hmac: @escaping (_ key: [UInt8], _ message: [UInt8]) throws(UploadError) -> [UInt8]
    ) {
      self.sha256 = sha256
      self.hmac = hmac
    }
  }

  /// The fields that sign a request, as it is except for fields that proxies may change: Host and those that begin with `x-amz-`.
  /// - Parameter unixSeconds: by the server's clock, which may differ by 15 minutes.
  package static func fields(
    for request: HTTPRequest, _ signing: S3Signing, by keys: S3Keys, unixSeconds: Int64, with hashes: Hashes
  ) throws(UploadError) -> [Field] {
    let time = timestamp(unixSeconds)
    let day = String(time.prefix(8))
    let content: String
    if let sha256 = signing.contentSHA256 {
      content = sha256
    } else {
      content = ASCII.hex(try hashes.sha256(request.body?.header ?? []))
    }
    var added = [Field("x-amz-content-sha256", content), Field("x-amz-date", time)]
    if let token = keys.sessionToken { added.append(Field("x-amz-security-token", token)) }
    var signed = (request.fields + added).map { (name: ASCII.lowercased($0.name), value: $0.value) }
      .filter { $0.name.hasPrefix("x-amz-") }
    signed.append(("host", request.target.authority))
    signed.sort { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    let names = signed.map { $0.name }.joined(separator: ";")
    let target = Array(request.target.requestTarget.utf8)
    let path = target.prefix { $0 != ASCII.questionMark }
    var text = request.method + "\n" + canonical(path, keeping: ASCII.slash) + "\n"
    text += canonicalQuery(target[path.endIndex...].dropFirst()) + "\n"
    for field in signed { text += field.name + ":" + trimmed(field.value) + "\n" }
    text += "\n" + names + "\n" + content
    let scope = day + "/" + signing.region + "/s3/aws4_request"
    let toSign =
      "AWS4-HMAC-SHA256\n" + time + "\n" + scope + "\n" + ASCII.hex(try hashes.sha256(Array(text.utf8)))
    var key = Array(("AWS4" + keys.secret).utf8)
    for part in [day, signing.region, "s3", "aws4_request"] { key = try hashes.hmac(key, Array(part.utf8)) }
    let signature = ASCII.hex(try hashes.hmac(key, Array(toSign.utf8)))
    added.append(
      Field(
        "Authorization",
        "AWS4-HMAC-SHA256 Credential=" + keys.id + "/" + scope + ",SignedHeaders=" + names + ",Signature=" + signature))
    return added
  }

  /// Such as 20261127T195500Z.
  private static func timestamp(_ unixSeconds: Int64) -> String {
    let digits = Timestamp.text(seconds: unixSeconds).utf8.prefix(19).filter { $0 != ASCII.hyphen && $0 != ASCII.colon }
    return String(decoding: digits, as: UTF8.self) + "Z"
  }

  /// Percent-encoded as the server does it, whatever the request has left as it is.
  private static func canonical(_ bytes: ArraySlice<UInt8>, keeping separator: UInt8?) -> String {
    guard let separator else { return Percent.encode(segment: Percent.decode(bytes) ?? Array(bytes)) }
    return bytes.split(separator: separator, omittingEmptySubsequences: false).map { canonical($0, keeping: nil) }
      .joined(separator: "/")
  }

  private static func canonicalQuery(_ query: ArraySlice<UInt8>) -> String {
    let pairs = query.split(separator: UInt8(ascii: "&")).map { pair in
      let name = pair.prefix { $0 != UInt8(ascii: "=") }
      return canonical(name, keeping: nil) + "=" + canonical(pair[name.endIndex...].dropFirst(), keeping: nil)
    }
    return pairs.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }.joined(separator: "&")
  }

  private static func trimmed(_ value: String) -> String {
    String(decoding: ASCII.trimmed(Array(value.utf8)[...]), as: UTF8.self)
  }
}
