import UploadCore

/// The responses of the servers in a fuzzed run, and what they prove.
extension FuzzedRun {
  private func field(_ name: String, _ value: String) -> Field { Field(name, value) }

  mutating func habitualAnswer(_ request: HTTPRequest) -> Answer {
    let question = request.method + (request.body?.header.isEmpty ?? true ? "" : " a call")
    if habits[question] == nil {
      habits[question] = .some(!hasStrangersOnly && !chance(3) ? nil : gone(request) ?? wildAnswer(request))
    }
    return (habits[question] ?? nil) ?? sensibleAnswer(request)
  }

  /// Sometimes, what a server says that does not know the upload.
  private mutating func gone(_ request: HTTPRequest) -> Answer? {
    guard !hasStrangersOnly, chance(2) else { return nil }
    if request.target.text.hasSuffix("finalize") { return Answer(status: 400, content: bytes(GigHive.uploadUnknown)) }
    return request.method == "HEAD" ? Answer(status: 404, fields: [field("Tus-Resumable", "1.0.0")]) : nil
  }

  mutating func sensibleAnswer(_ request: HTTPRequest) -> Answer {
    let proof = field("Tus-Resumable", "1.0.0")
    let end = request.fileOffset + request.contentLength
    switch request.method {
    case "OPTIONS":
      return Answer(status: 204, fields: [proof, field("Tus-Extension", "creation-with-upload,termination")])
    case "HEAD":
      if chance(8) { return Answer(status: 404, fields: [proof]) }
      return Answer(
        status: 200,
        fields: [proof, field("Upload-Offset", String(min(size, Int64.random(in: 0...size, using: &random) * 2)))])
    case "PATCH": return Answer(status: 204, fields: [proof, field("Upload-Offset", String(end))])
    case "DELETE": return Answer(status: 204, fields: [proof])
    case "GET": return Answer(status: 200, content: bytes(GigHive.created(checksum: GigHive.sha256, size: size)))
    default: break
    }
    let path = request.target.text
    if path.hasSuffix("files/") {
      return Answer(
        status: 201, fields: [proof, field("Location", "/files/\(UInt16.random(in: 0...UInt16.max, using: &random))")],
        afterMilliseconds: chance(2) ? 0 : 100)
    }
    if path.hasSuffix("finalize"), request.body?.header.starts(with: bytes(#"{"upload_id":"""#)) == true {
      return Answer(status: 400, content: bytes(GigHive.tokenKnown))
    }
    if path.hasSuffix("delete_media_files.php") {
      return Answer(status: 200, content: bytes(#"{"success":true,"deleted_count":1}"#))
    }
    return Answer(status: 201, content: bytes(GigHive.created(checksum: GigHive.sha256, size: size)))
  }

  private static let statuses = [
    200, 201, 202, 204, 301, 303, 307, 308, 400, 401, 403, 404, 405, 409, 410, 412, 413, 417, 423, 429, 460, 500, 501,
    502, 503, 504, 511,
  ]

  mutating func wildAnswer(_ request: HTTPRequest) -> Answer {
    var fields: [Field] = []
    if chance(3) { fields.append(field("Location", "/files/\(Int.random(in: 0..<9, using: &random))")) }
    if chance(9) { fields.append(field("Retry-After", "2")) }
    var content = ["", GigHive.page].randomElement(using: &random) ?? ""
    if !hasStrangersOnly {
      if chance(2) { fields.append(field("Tus-Resumable", "1.0.0")) }
      if chance(2) {
        fields.append(
          field("Upload-Offset", String([0, 1, size, request.fileOffset, size + 1].randomElement(using: &random) ?? 0)))
      }
      if chance(9) { fields.append(field("Upload-Length", "77")) }
      if chance(2) {
        content =
          [
            GigHive.created(checksum: String(repeating: "cd", count: 32), size: size), GigHive.uploadUnknown,
            GigHive.tokenUnknown,
            #"{"status":"pending","asset_id":9}"#, #"{"status":"pending"}"#, #"{"success":false,"message":"x"}"#,
          ].randomElement(using: &random) ?? ""
      }
    }
    return Answer(
      status: FuzzedRun.statuses.randomElement(using: &random) ?? 200, fields: fields, content: bytes(content),
      sent: chance(5) ? .partial : .whole, afterMilliseconds: chance(2) ? 0 : 50)
  }

  // MARK: Proof

  mutating func note(_ answer: Answer, to request: HTTPRequest) {
    let isProved = answer.fields.first("Tus-Resumable") != nil
    let isNotFound = answer.status == 404 || answer.status == 410
    let isCall = request.method == "POST" && request.body.map { !$0.header.isEmpty } ?? false
    if isNotFound, isProved { isLossProved = true }
    if answer.fields.first("Upload-Length") == "77" { isLossProved = true }
    noteDoubt(answer, request, isProved: isProved, isNotFound: isNotFound)
    if let offset = answer.fields.tusNumber("Upload-Offset"), answer.isSuccess, offset == size { isWholeProved = true }
    if let offset = answer.fields.tusNumber("Upload-Offset"), answer.isSuccess, offset < size, inFlight.count == 1 {
      lastByteMayBeSent = false
    }
    // It was not carried out, or not whole.
    if request.fields.first("Upload-Offset") != nil, inFlight.count == 1,
      answer.sent != .whole || [307, 308, 401, 417].contains(answer.status)
    {
      lastByteMayBeSent = false
    }
    let isJSON = answer.content.first == UInt8(ascii: "{")
    switch kind {
    case .plain:
      isWholeProved = isWholeProved || (answer.isSuccess && answer.sent == .whole)
      if answer.sent == .whole, ![307, 308, 401, 417].contains(answer.status) { mayBeStored = true }
    case .form, .gigHive, .guest:
      if isCall || request.method == "GET", isJSON {
        isLossProved = true
        isWholeProved = isWholeProved || answer.isSuccess
      }
    case .tusServer: break
    case .cancel:
      if isProved,
        answer.isSuccess || [405, 501].contains(answer.status) || answer.fields.tusNumber("Upload-Offset") != nil
      {
        isLossProved = true
      }
      if answer.isSuccess, answer.fields.tusNumber("Upload-Offset") != nil { isLossProved = true }
    case .delete: if isJSON { isLossProved = true }
    }
  }

  /// A server that creates and knows a new upload, and then not the old one.
  private mutating func noteDoubt(_ answer: Answer, _ request: HTTPRequest, isProved: Bool, isNotFound: Bool) {
    if request.method == "POST", answer.status == 201, isProved {
      newLocation = answer.fields.first("Location").flatMap { try? request.target.resolving($0) }?.text
    }
    guard request.method == "HEAD" else { return }
    if isProved, answer.isSuccess, request.target.text == newLocation { isNewKnown = true }
    if isNotFound, isNewKnown { isLossProved = true }
  }
}
