import Testing
import UploadCore

/// Multipart uploads with kills, lost responses, lost parts and a rival, against servers of several kinds.
struct S3PartsFuzzTests {
  @Test func aDeliveredRecordingIsWhole() throws {
    try PartsRun<S3Server>.play(reaching: ["delivered", "objectExists", "mayBeStored", "ahead"])
  }
}

private struct S3Server: PartsServer {
  private struct Upload {
    let token: String
    /// What was signed, by number.
    var parts: [Int: (digest: String, size: Int64)] = [:]
  }

  private struct Object {
    let token: String?
    /// What was signed of its parts.
    let digests: [String]
    let size: Int64
  }

  static let size: Int64 = 20 << 20
  static let checksParts = true

  private var object: Object?
  private var uploads: [String: Upload] = [:]
  private var count = 0
  private let forbidsLooking: Bool
  private let forbidsLists: Bool
  private let wantsEveryPart: Bool
  private let keepsMetadata: Bool
  private(set) var repeated: (upload: String, number: Int)?

  init(using random: inout SeededGenerator) {
    forbidsLooking = Int.random(in: 0..<8, using: &random) == 0
    forbidsLists = Int.random(in: 0..<6, using: &random) == 0
    wantsEveryPart = Bool.random(using: &random)
    keepsMetadata = Int.random(in: 0..<8, using: &random) != 0
  }

  func destination() throws -> Destination {
    .s3(S3Object(url: try TargetURI("https://hive/bucket/set.wav"), region: "us-east-1"))
  }

  func modifiedSeconds(of versions: Versions) -> Int64 { 0 }

  func name(ofUpload url: String) -> String { url.split(separator: "=").last.map(String.init) ?? "" }

  var hasObject: Bool { object != nil }

  func isWhole(_ versions: Versions) -> Bool {
    let parts: [(Int64, Int64)] = [(0, 8 << 20), (8 << 20, 8 << 20), (16 << 20, 4 << 20)]
    return object?.digests == parts.map { ASCII.hex(S3Server.digest(versions, at: $0.0, $0.1)) }
  }

  func showsOwner(_ versions: Versions) -> Bool { keepsMetadata && object?.token != nil }

  var hides: Bool { forbidsLooking || !keepsMetadata }

  mutating func addRival(using random: inout SeededGenerator) { object = Object(token: nil, digests: [], size: 7) }

  mutating func lose(using random: inout SeededGenerator) -> Bool {
    guard let id = uploads.keys.sorted().first else { return false }
    if Bool.random(using: &random) { uploads[id] = nil } else { uploads[id]?.parts[1] = nil }
    return true
  }

  func page(for request: HTTPRequest) -> Answer {
    Answer(status: 200, content: Array("<html><body>Log in</body></html>".utf8))
  }

  mutating func answer(_ request: HTTPRequest, _ versions: Versions) -> Answer {
    repeated = nil
    let query = request.target.requestTarget.split(separator: "?").last.map(String.init) ?? ""
    let pairs = query.split(separator: "&").map { $0.split(separator: "=").map(String.init) }
    func value(_ name: String) -> String? { pairs.first { $0[0] == name }?.last }
    if request.method == "HEAD" { return look() }
    if query == "uploads=" {
      count += 1
      let token = request.fields.first("x-amz-meta-gighive-upload") ?? ""
      uploads["\(count)"] = Upload(token: token)
      return Answer(status: 200, content: xml("InitiateMultipartUploadResult", "<UploadId>\(count)</UploadId>"))
    }
    guard let id = value("uploadId"), let upload = uploads[id] else {
      return Answer(status: 404, content: xml("Error", "<Code>NoSuchUpload</Code>"))
    }
    switch request.method {
    case "PUT": return put(request, Int(value("partNumber") ?? "") ?? 0, id)
    case "GET":
      if forbidsLists { return Answer(status: 403, content: xml("Error", "<Code>AccessDenied</Code>")) }
      let parts = upload.parts.sorted { $0.key < $1.key }.map {
        "<Part><PartNumber>\($0.key)</PartNumber><ETag>\"\($0.value.digest)\"</ETag><Size>\($0.value.size)</Size></Part>"
      }
      return Answer(status: 200, content: xml("ListPartsResult", parts.joined()))
    case "DELETE":
      uploads[id] = nil
      return Answer(status: 204)
    default: return join(request, id)
    }
  }

  private func look() -> Answer {
    if forbidsLooking { return Answer(status: 403) }
    guard let object else { return Answer(status: 404) }
    var fields = [Field("Content-Length", String(object.size)), Field("ETag", "1-3")]
    if keepsMetadata, let token = object.token { fields.append(Field("x-amz-meta-gighive-upload", token)) }
    return Answer(status: 200, fields: fields)
  }

  private mutating func put(_ request: HTTPRequest, _ number: Int, _ id: String) -> Answer {
    let digest = request.signing?.contentSHA256 ?? ""
    if uploads[id]?.parts[number]?.digest == digest { repeated = (id, number) }
    uploads[id]?.parts[number] = (digest, request.body?.fileLength ?? 0)
    return Answer(status: 200, fields: [Field("ETag", "\"" + digest + "\"")])
  }

  private mutating func join(_ request: HTTPRequest, _ id: String) -> Answer {
    guard let upload = uploads[id] else { return Answer(status: 404) }
    if object != nil { return Answer(status: 412, content: xml("Error", "<Code>PreconditionFailed</Code>")) }
    let list = String(decoding: request.body?.header ?? [], as: UTF8.self)
    let named = list.matches(of: /<PartNumber>(\d+)<\/PartNumber><ETag>"(\w+)"/).map { (Int($0.1) ?? 0, String($0.2)) }
    let isRight = named.allSatisfy { upload.parts[$0.0]?.digest == $0.1 }
    guard isRight, !wantsEveryPart || named.count == upload.parts.count else {
      return Answer(status: 400, content: xml("Error", "<Code>InvalidPart</Code>"))
    }
    object = Object(
      token: upload.token, digests: named.map { $0.1 }, size: named.reduce(0) { $0 + (upload.parts[$1.0]?.size ?? 0) })
    uploads[id] = nil
    return Answer(status: 200, content: xml("CompleteMultipartUploadResult", "<ETag>1-3</ETag>"))
  }

  private func xml(_ root: String, _ content: String) -> [UInt8] { Array("<\(root)>\(content)</\(root)>".utf8) }
}
