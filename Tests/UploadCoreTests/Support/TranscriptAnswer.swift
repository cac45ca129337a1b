import Foundation
import UploadCore

/// A `<` line of a ``Transcript``: a response, or a connection that ends without one.
///
/// `404 tus`, `201 [Location: /files/1] after 100 ms`, `200 early $page`; short for what tus servers say: `offer creation,checksum`,
/// `created`, `has 42`, `has all`, `gone`; `lost`, and names of errors.
struct TranscriptAnswer {
  /// As it stands in the file.
  let text: String
  let event: UploadEvent
  /// How much of the request's content was sent.
  let sent: ContentSent
  /// How long it took.
  let milliseconds: Int64

  /// - Parameter run: what was read of the file to be sent, which is known of some requests; `misread` if it was something else than was hashed.
  init(_ text: String, to request: HTTPRequest, _ run: inout SentRun?) throws {
    self.text = text
    var words = TranscriptAnswer.words(text)
    var (sent, after, cut) = (ContentSent.whole, Int64(0), Int64?.none)
    var fields: [Field] = []
    var content = ""
    var arrived: Int64 = 0
    var staleness = Interruption.Staleness.fresh
    var (isMisread, isCut) = (false, false)
    var link: LinkCounts?
    let kind = words.removeFirst()
    var rest = words[...]
    func number() -> Int64 { Int64(rest.popFirst() ?? "") ?? 0 }
    var own: [String] = []
    while let word = rest.popFirst() {
      switch word {
      case "early": sent = .partial
      case "unsent": sent = .none
      case "after":
        after = number()
        if rest.popFirst() == "s" { after *= 1000 }
      case "cut":
        cut = number() * 1000
        _ = rest.popFirst()
        sent = .partial
      case "arrived": arrived = number()
      case "unused": staleness = .used(hasSentLittle: true)
      case "half-used": staleness = .used(hasSentLittle: false)
      case "announced": staleness = .announced
      case "misread": isMisread = true
      case "incomplete": isCut = true
      case "lossy": link = .lossy
      case "tus": fields.append(Field("Tus-Resumable", "1.0.0"))
      case _ where word.hasPrefix("["): fields += TranscriptAnswer.fields(word)
      case _ where word.hasPrefix("$"): content = try TranscriptAnswer.named(word, request)
      case _ where word.first == "{" || word.first == "<" || word.first == "\"":
        content = word.first == "\"" ? String(word.dropFirst().dropLast()) : word
      default: own.append(word)
      }
    }
    (self.sent, milliseconds) = (sent, after)
    let sentRun = TranscriptAnswer.run(request.body, after: run, isMisread: isMisread)
    run = sentRun ?? run
    func lost(_ error: UploadError) -> UploadEvent {
      .interrupted(
        Interruption(error, sent: sent, arrived: arrived, cutAfterMilliseconds: cut, staleness: staleness, run: sentRun)
      )
    }
    func answer(_ status: Int, _ more: [Field]) -> UploadEvent {
      .answered(
        Answer(
          status: status, fields: more + fields, content: bytes(content), isCut: isCut, sent: sent,
          afterMilliseconds: after, cutAfterMilliseconds: cut, run: sentRun, link: link))
    }
    let proof = Field("Tus-Resumable", "1.0.0")
    switch kind {
    case "offer":
      var offer = [proof, Field("Tus-Version", "1.0.0")]
      if let extensions = own.first { offer.append(Field("Tus-Extension", extensions)) }
      if own.count > 1 { offer.append(Field("Tus-Checksum-Algorithm", own[1])) }
      event = answer(204, offer)
    case "created": event = answer(201, [proof, Field("Location", own.first ?? "1")])
    case "has":
      let offset =
        own.first == "all" ? String((request.fileOffset) + (request.body?.fileLength ?? 0)) : own[0]
      let length = own.count > 2 ? [Field("Upload-Length", own[2])] : []
      event = answer(204, [proof, Field("Upload-Offset", offset)] + length)
    case "gone": event = answer(404, [proof])
    // Of S3 servers.
    case "part": event = answer(200, [Field("ETag", "\"" + own[0] + "\"")])
    case "own":
      // `own -2` is that of the second attempt, `own of 7` one of 7 bytes.
      let size = own.first == "of" ? own[1] : "20971520"
      let token = String(repeating: "07", count: 16) + (own.first == "of" ? "" : own.first ?? "")
      let fields = [Field("Content-Length", size), Field("x-amz-meta-gighive-upload", token)]
      event = answer(200, [Field("ETag", "1-3")] + fields)
    case "lists":
      content = "<ListPartsResult>"
      for tag in own where tag.utf8.count == 1 {
        let number = Int(tag.utf8.first ?? 0) - 96
        let size = own.contains("other") ? 7 : number == 3 && !own.contains("full") ? 4 << 20 : 8 << 20
        content += "<Part><PartNumber>\(number)</PartNumber><ETag>&quot;\(tag)&quot;</ETag><Size>\(size)</Size></Part>"
      }
      if own.last == "more" {
        content += "<IsTruncated>true</IsTruncated><NextPartNumberMarker>1</NextPartNumberMarker>"
      }
      content += "</ListPartsResult>"
      event = answer(200, [])
    // Of a Nextcloud: `file SIZE`, `file SIZE own` with the time of the upload's file; `chunks 1 2 3:7`, with sizes that are not those of chunks.
    case "file":
      let modified =
        own.last == "own" ? "<getlastmodified>Tue, 14 Nov 2023 22:13:20 GMT</getlastmodified>" : ""
      let tag =
        own.firstIndex { $0 == "tag" || $0 == "weak" }.map {
          "<getetag>\(own[$0] == "weak" ? "W/" : "")\"a\"</getetag>"
        } ?? ""
      content = TranscriptAnswer.listed("set.wav", "<getcontentlength>\(own[0])</getcontentlength>" + modified + tag)
      content = "<multistatus>\(content)</multistatus>"
      event = answer(207, [])
    case "chunks":
      content =
        TranscriptAnswer.listed("u/", "") + TranscriptAnswer.listed(".file", "<getcontentlength>7</getcontentlength>")
      for word in own {
        let parts = word.split(separator: ":")
        let size = parts.count > 1 ? Int(parts[1]) ?? 0 : parts[0] == "3" ? 8 << 20 : 16 << 20
        content += TranscriptAnswer.listed(String(parts[0]), "<getcontentlength>\(size)</getcontentlength>")
      }
      content = "<multistatus>\(content)</multistatus>"
      event = answer(207, [])
    case "lost": event = lost(.connectionLost(.awaitingConfirmation, peer: "hive", nil))
    case "unreachable": event = lost(.connectionLost(.awaitingConfirmation, peer: "hive", SystemError(code: 113)))
    case "stalled": event = lost(.timedOut(.awaitingConfirmation, peer: "hive", limitMilliseconds: 1))
    case "silent": event = lost(.timedOut(.awaitingAnswer, peer: "hive", limitMilliseconds: 1))
    case "not-connected":
      event = lost(.notConnected(host: request.target.host, address: "10.0.0.1:80", SystemError(code: 111)))
    case "connecting-stalled": event = lost(.timedOut(.connecting, peer: request.target.host, limitMilliseconds: 1))
    case "no-name": event = lost(.noSuchName(host: request.target.host))
    case "not-http": event = lost(.invalidResponse(.notHTTP, peer: "hive"))
    case "alert": event = lost(.tls(.alert(Int(own[0]) ?? 0, words: "no"), host: "hive"))
    case "certificate": event = lost(.tls(.certificate(code: Int(own[0]) ?? 0, reason: ""), host: "hive"))
    case "other-pin": event = lost(.tls(.pinMismatch(actual: ""), host: "hive"))
    case "proxy-refused": event = lost(.proxyRefused(status: Int(own[0]) ?? 0, proxy: "p:1", hadCredentials: false))
    case "checksum-mismatch": event = lost(.tus(.checksumMismatch(offset: 0)))
    default:
      guard let status = Int(kind), own.isEmpty else { throw TranscriptRun.Failure("unknown answer: \(text)") }
      event = answer(status, [])
    }
  }

  private static func run(_ body: RequestBody?, after former: SentRun?, isMisread: Bool) -> SentRun? {
    guard let body, let earliest = body.digestedFrom, body.fileLength > 0 else { return nil }
    let continued = former.flatMap { $0.offset >= earliest && $0.end == body.fileOffset ? $0 : nil }
    let start = continued?.offset ?? body.fileOffset
    let sha256 = isMisread ? "cd" : continued?.sha256 ?? TranscriptSetup.sentChecksum
    return SentRun(offset: start, length: body.fileOffset + body.fileLength - start, sha256: sha256)
  }

  private static func listed(_ name: String, _ properties: String) -> String {
    "<response><href>/dav/\(name)</href><propstat><prop>\(properties)</prop></propstat></response>"
  }

  /// A refusal by Sabre, on which Nextcloud is based.
  private static func sabre(_ exception: String, _ message: String) -> String {
    "<error><exception>Sabre\\DAV\\Exception\\\(exception)</exception><message>\(message)</message></error>"
  }

  /// Split at spaces, but not within brackets; the content is the last one.
  private static func words(_ text: String) -> [String] {
    var words: [String] = []
    var rest = Substring(text)
    while !rest.isEmpty {
      let end: Substring.Index
      switch rest.first {
      case "[": end = rest.firstIndex(of: "]").map { rest.index(after: $0) } ?? rest.endIndex
      case "{", "<", "\"": end = rest.endIndex
      default: end = rest.firstIndex(of: " ") ?? rest.endIndex
      }
      words.append(String(rest[..<end]))
      rest = rest[end...].drop { $0 == " " }
    }
    return words
  }

  /// `[Location: /new; Age: 1]`
  private static func fields(_ word: String) -> [Field] {
    word.dropFirst().dropLast().components(separatedBy: "; ").map { line in
      let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
      return Field(String(parts[0]), parts.count > 1 ? parts[1].trimmingCharacters(in: .whitespaces) : "")
    }
  }

  /// Contents that GigHive, or something in front of it, often sends.
  private static func named(_ word: String, _ request: HTTPRequest) throws -> String {
    switch word {
    case "$page": return GigHive.page
    case "$begun": return "<InitiateMultipartUploadResult><UploadId>u</UploadId></InitiateMultipartUploadResult>"
    case "$joined": return "<CompleteMultipartUploadResult><ETag></ETag></CompleteMultipartUploadResult>"
    case "$no-such-upload": return "<Error><Code>NoSuchUpload</Code></Error>"
    case "$drop": return sabre("MethodNotAllowed", "Only PUT, MKCOL and MOVE are allowed on files drop")
    case "$missing": return sabre("NotFound", "File with name //set.wav could not be located")
    case "$exists": return sabre("MethodNotAllowed", "The resource you tried to create already exists")
    case "$precondition": return sabre("PreconditionFailed", "The destination node already exists")
    case "$no-metadata": return sabre("PreconditionFailed", "Missing metadata for chunked upload.")
    case "$sum": return sabre("BadRequest", "Chunks on server do not sum up to 41943040 but to 25165824 bytes")
    case "$locked": return sabre("FileLocked", "set.wav is locked")
    case "$full": return sabre("InsufficientStorage", "Insufficient space in /set.wav")
    case "$maintenance": return sabre("ServerMaintenanceMode", "System is in maintenance mode.")
    case "$disabled": return sabre("ServiceUnavailable", "OC\\User\\LoginException: Account disabled")
    case "$login": return GigHive.loginPage
    case "$created": return GigHive.created
    case "$row": return GigHive.row
    case "$pending": return #"{"status":"pending","asset_id":9}"#
    case "$unknown-upload": return GigHive.uploadUnknown
    case "$taken": return #"{"error":"Server Error","message":"Upload data missing on disk"}"#
    case "$known-token": return GigHive.tokenKnown
    case "$unknown-token": return GigHive.tokenUnknown
    default: throw TranscriptRun.Failure("unknown content: \(word)")
    }
  }
}
