import Testing
import UploadCore

/// Chunked uploads with kills, lost responses, lost chunks, lost metadata and a rival, against both kinds of Nextcloud.
struct NextcloudPartsFuzzTests {
  @Test func aDeliveredRecordingIsWhole() throws {
    try PartsRun<NextcloudServer>.play(reaching: ["delivered", "objectExists"])
  }
}

private struct NextcloudServer: PartsServer {
  private struct Chunk: Equatable {
    let versions: Versions
    let offset: Int64
    let length: Int64
  }

  private struct Upload {
    var chunks: [Int: Chunk] = [:]
    /// Whether the server has forgotten what only its cache knew.
    var hasNoMetadata = false
  }

  private struct File {
    let chunks: [Chunk]
    let modified: Int64
    var size: Int64 { chunks.reduce(0) { $0 + $1.length } }
  }

  static let size: Int64 = 40 << 20
  static let checksParts = false

  private var file: File?
  private var uploads: [String: Upload] = [:]
  private let isOnStore: Bool
  private let hashes: Bool
  private let hasTime: Bool
  private(set) var repeated: (upload: String, number: Int)?

  init(using random: inout SeededGenerator) {
    isOnStore = Bool.random(using: &random)
    hashes = Bool.random(using: &random)
    hasTime = Int.random(in: 0..<4, using: &random) > 0
  }

  func destination() throws -> Destination {
    .webDAV(try TargetURI("https://hive/remote.php/dav/files/ann/a/set.wav"))
  }

  func modifiedSeconds(of versions: Versions) -> Int64 {
    hasTime ? 1_700_000_000 + Int64(versions.reduce(0, +)) : 0
  }

  func name(ofUpload url: String) -> String { url.split(separator: "/").last.map(String.init) ?? "" }

  var hasObject: Bool { file != nil }

  func isWhole(_ versions: Versions) -> Bool {
    guard let file, file.size == NextcloudServer.size else { return false }
    var end: Int64 = 0
    for chunk in file.chunks {
      guard chunk.offset == end, chunk.versions == Self.versions(versions, at: end, chunk.length) else { return false }
      end += chunk.length
    }
    return true
  }

  func showsOwner(_ versions: Versions) -> Bool { isWhole(versions) }

  var hides: Bool { false }

  mutating func addRival(using random: inout SeededGenerator) {
    let length = Bool.random(using: &random) ? 7 : NextcloudServer.size
    file = File(chunks: [Chunk(versions: [0], offset: 0, length: length)], modified: 7)
  }

  mutating func lose(using random: inout SeededGenerator) -> Bool {
    guard let name = uploads.keys.sorted().first else { return false }
    switch Int.random(in: 0..<3, using: &random) {
    case 0: uploads[name] = nil
    case 1: uploads[name]?.chunks[1] = nil
    default: if isOnStore { uploads[name] = Upload(hasNoMetadata: true) }
    }
    return true
  }

  func page(for request: HTTPRequest) -> Answer {
    // That would be a server without chunks.
    if request.target.requestTarget.contains("/files/") || request.method == "MKCOL" { return Answer(status: 503) }
    return Answer(status: 404, content: Array("<html><body>Who?</body></html>".utf8))
  }

  mutating func answer(_ request: HTTPRequest, _ versions: Versions) -> Answer {
    repeated = nil
    let path = request.target.requestTarget.split(separator: "/").map(String.init)
    guard path[2] == "uploads" else { return answerAboutFile(request) }
    let name = path[4]
    if request.method == "MKCOL" {
      guard uploads[name] == nil else { return refusal(405, "The resource you tried to create already exists") }
      uploads[name] = Upload()
      return Answer(status: 201)
    }
    guard let upload = uploads[name] else { return refusal(404) }
    switch request.method {
    case "PUT": return put(request, versions, Int(path[5]) ?? 0, name)
    case "PROPFIND":
      let entries = upload.chunks.sorted { $0.key > $1.key }.map { entry("u/\($0.key)", $0.value.length) }
      return Answer(status: 207, content: list([entry("u/.file", 7)] + entries))
    case "DELETE":
      uploads[name] = nil
      return Answer(status: 204)
    default: return join(upload, name, Int64(request.fields.first("X-OC-MTime") ?? "") ?? 7)
    }
  }

  private func refusal(_ status: Int, _ message: String = "x") -> Answer {
    let text = "<error><exception>Sabre</exception><message>\(message)</message></error>"
    return Answer(status: status, content: Array(text.utf8))
  }

  private func entry(_ name: String, _ size: Int64, _ modified: Int64 = 7) -> String {
    let isKnown = modified >= 1_700_000_000
    let date =
      isKnown
      ? "Tue, 14 Nov 2023 22:13:\(20 + modified - 1_700_000_000) GMT" : "Thu, 01 Jan 1970 00:00:0\(modified) GMT"
    return "<response><href>/\(name)</href><propstat><prop><getcontentlength>\(size)</getcontentlength>"
      + "<getlastmodified>\(date)</getlastmodified></prop></propstat></response>"
  }

  private func list(_ entries: [String]) -> [UInt8] { Array("<multistatus>\(entries.joined())</multistatus>".utf8) }

  private func answerAboutFile(_ request: HTTPRequest) -> Answer {
    if request.method == "MKCOL" { return refusal(405, "The resource you tried to create already exists") }
    guard let file else { return refusal(404) }
    if request.method == "PROPFIND" {
      return Answer(status: 207, content: list([entry("set.wav", file.size, file.modified)]))
    }
    guard hashes else { return refusal(501) }
    return Answer(status: 204, fields: [Field("OC-Checksum", "SHA256:" + digest(of: file.chunks))])
  }

  private func digest(of chunks: [Chunk]) -> String {
    Self.digest(chunks.flatMap(\.versions), chunks.reduce(0) { $0 + $1.length })
  }

  private mutating func put(_ request: HTTPRequest, _ all: Versions, _ number: Int, _ name: String) -> Answer {
    if uploads[name]?.hasNoMetadata == true { return refusal(412, "Missing metadata for chunked upload.") }
    let (offset, length) = (request.fileOffset, request.body?.fileLength ?? 0)
    let chunk = Chunk(versions: Self.versions(all, at: offset, length), offset: offset, length: length)
    if uploads[name]?.chunks[number] == chunk { repeated = (name, number) }
    uploads[name]?.chunks[number] = chunk
    return Answer(status: isOnStore ? 200 : 201)
  }

  private mutating func join(_ upload: Upload, _ name: String, _ modified: Int64) -> Answer {
    if file != nil { return refusal(412) }
    let chunks = upload.chunks.sorted { $0.key < $1.key }.map(\.value)
    if !isOnStore || upload.hasNoMetadata, chunks.reduce(0, { $0 + $1.length }) != NextcloudServer.size {
      return refusal(400, "Chunks on server do not sum up")
    }
    // On an object store, without a word about what is missing.
    file = File(chunks: chunks, modified: modified)
    uploads[name] = nil
    let hash = Field("X-Hash-SHA256", digest(of: chunks))
    return Answer(status: 201, fields: isOnStore ? [] : [hash])
  }
}
