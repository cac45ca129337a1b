import Foundation
import UploadCore

/// The machine's actions as a ``Transcript`` shows them.
extension TranscriptRun {
  /// A request without what its kind always has: `PATCH /files/1 0-100`, `POST /files/ {Upload-Defer-Length: 1}`.
  func text(_ request: HTTPRequest) -> String {
    var text = request.method + " " + shortened(request.target.text)
    if let body = request.body, request.method != "PROPFIND" {
      if body.fileLength > 0 {
        text += " \(body.fileOffset)-\(body.fileOffset + body.fileLength)"
      } else if !body.header.isEmpty {
        let content = String(decoding: body.header, as: UTF8.self)
        text += " " + (request.signing == nil ? content : joined(content))
      }
    }
    let usual = usualFields(of: request)
    let shown = request.fields.filter { !usual.contains($0) }.map { "\($0.name): \($0.value)" }
    if !shown.isEmpty { text += " {" + shown.joined(separator: "; ") + "}" }
    for field in usual where !request.fields.contains(where: { $0.name == field.name }) {
      text += ", without " + field.name
    }
    if request.isConfidential, request.signing == nil { text += ", confidential" }
    if request.mayExpectContinue { text += ", expects 100" }
    let joins = request.target.text.hasSuffix("/.file") || text.contains(" joins ") || text.contains("Concat: final")
    let joined = request.body?.joinedLength ?? 0
    if joined != (joins ? setup.size : 0) { text += ", WAITS FOR \(joined) BYTES" }
    if let signing = request.signing {
      if signing.region != "us-east-1" { text += ", signed for " + signing.region }
      if let time = signing.serverTime { text += ", signed at \(time)" }
      // The digest of a range is "deadbeef".
      let isPart = request.target.text.contains("partNumber=")
      let digest = request.body?.fileLength ?? 0 == 0 ? nil : isPart ? "deadbeef" : setup.sha256
      if signing.contentSHA256 != digest { text += ", SIGNED AS \(signing.contentSHA256 ?? "it is")" }
    }
    return text
  }

  /// The path of an address on `https://hive`.
  private func shortened(_ address: String) -> String {
    if address.hasPrefix(TranscriptSetup.chunks) { return "U" + address.dropFirst(TranscriptSetup.chunks.count) }
    return address.hasPrefix("https://hive/") ? String(address.dropFirst(12)) : address
  }

  /// `joins 1 a, 2 b`: the parts that an S3 server is to join (CompleteMultipartUpload).
  private func joined(_ xml: String) -> String {
    let part = /<Part><PartNumber>(\d+)<\/PartNumber><ETag>"([^"<]+)"<\/ETag><\/Part>/
    let parts = xml.matches(of: part).map { $0.1 + " " + $0.2 }.joined(separator: ", ")
    let frame = "<CompleteMultipartUpload xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"></CompleteMultipartUpload>"
    return xml.replacing(part, with: "") == frame ? "joins " + parts : xml
  }

  /// The fields that a request of its kind has (tus 1.0.0).
  private func usualFields(of request: HTTPRequest) -> [Field] {
    let version = Field("Tus-Resumable", "1.0.0")
    let noCache = Field("Cache-Control", "no-cache")
    let isTus = request.fields.contains { $0.name.hasPrefix("Upload-") || $0.name == "Tus-Resumable" }
    switch request.method {
    case "HEAD" where request.signing != nil: return [noCache, Field("x-amz-checksum-mode", "ENABLED")]
    case "PUT" where request.target.text.contains("partNumber="): return []
    case "PROPFIND": return [Field("Content-Type", "application/xml"), noCache]
    case "POST" where request.signing != nil:
      let token = Field("x-amz-meta-gighive-upload", String(repeating: "07", count: 16))
      let isCreation = request.target.text.hasSuffix("?uploads=")
      return request.fields.filter { $0.name == "Content-Type" } + [isCreation ? token : Field("If-None-Match", "*")]
    case "PUT" where request.signing != nil:
      let type = request.fields.filter { $0.name == "Content-Type" }
      let own = Field("x-amz-meta-sha256", setup.sha256)
      return type + [Field("If-None-Match", "*"), Field("x-amz-checksum-sha256", GigHive.checksum), own]
    case "PUT", "MKCOL":
      let isChunked = request.target.text.hasPrefix(TranscriptSetup.chunks)
      return isChunked ? [Field("Destination", "https://hive/remote.php/dav/files/ann/set.wav")] : []
    case "HEAD", "GET": return isTus ? [version, noCache] : [noCache]
    case "DELETE" where request.signing != nil, "GET" where request.signing != nil: return []
    case "DELETE":
      let isTus = ![".wav", "-part"].contains { request.target.text.hasSuffix($0) }
      return isTus && !request.target.text.hasPrefix(TranscriptSetup.chunks) ? [version] : []
    case "PATCH", "POST":
      guard isTus else {
        return request.fields.filter { $0.name == "Content-Type" }
      }
      if request.fields.contains(where: { $0.name == "Upload-Offset" }) {
        let offset = Field("Upload-Offset", String(request.fileOffset))
        return [version, Field("Content-Type", "application/offset+octet-stream"), offset]
      }
      let metadata = request.fields.filter { $0.name == "Upload-Metadata" }
      return [version, Field("Upload-Length", String(setup.size))] + metadata
    default: return []
    }
  }

  func text(_ outcome: Outcome) -> String {
    switch outcome {
    case .delivered(let receipt, let file, let resumedFrom):
      var parts = ["delivered"]
      if resumedFrom > 0 { parts.append("resumed from \(resumedFrom)") }
      if let id = receipt.assetID { parts.append("asset \(id)") }
      if receipt.isChecksumVerified { parts.append("checksum verified") }
      if receipt.wasAlreadyThere { parts.append("was there") }
      if receipt.isUnprovedPage { parts.append("unproved page") }
      if receipt.deleteToken != nil { parts.append("delete token") }
      if file.size != setup.size { parts.append("SIZE \(file.size)") }
      if file.sha256 != nil { parts.append("SHA-256") }
      return parts.joined(separator: ", ")
    case .ended: return "the recording has ended"
    case .cancelled(let isKept): return isKept ? "cancelled, kept by the server" : "cancelled"
    case .deleted(let wasGone): return wasGone ? "deleted, was gone" : "deleted"
    case .examined(let absence): return "examined: " + (absence.map { "\($0)" } ?? "stored")
    case .partTaken: return "taken"
    }
  }

  /// `refused(status: 413, message: "")`, without the names of the types.
  func text(_ error: UploadError) -> String {
    String(describing: error).replacing(/(UploadCore\.)?([A-Z]\w*\.)+(?=[a-z])/, with: "")
      .replacing("UploadCore.", with: "").replacing(
        "LocalPath(bytes: [47, 115, 101, 116, 46, 119, 97, 118])", with: "/set.wav")
  }

  func text(_ record: UploadRecord) -> String {
    guard let upload = record.unfinished else { return record.phase.rawValue }
    var parts = [record.phase.rawValue]
    if let remote = upload.remote {
      parts.append("at \(shortened(remote.url)) offset \(remote.offset)")
    }
    if let url = upload.formerURL { parts.append("former \(url)") }
    if upload.lastByteMayBeSent { parts.append("last byte sent") }
    if record.mayBeStored { parts.append("may be stored") }
    if upload.isServerDoubtful { parts.append("doubtful server") }
    if let id = upload.assetID { parts.append("processing \(id)") }
    if let doubt = upload.doubt { parts.append("\(doubt)") }
    if upload.detours.overridesMethod { parts.append("by POST") }
    if upload.detours.splitEnd > 0 { parts.append("split to \(upload.detours.splitEnd)") }
    if let sends = upload.fullSends { parts.append("full sends \(sends.times.count) \(sends.failure)") }
    if !upload.cookies.texts.isEmpty { parts.append("cookies " + upload.cookies.texts.joined(separator: " and ")) }
    if upload.nextRetry != nil { parts.append("postponed") }
    return parts.joined(separator: ", ")
  }
}
