import Testing
import UploadCore

/// Recordings that tus servers get while they are made, with kills, lost responses and lost uploads.
struct TusPartsFuzzTests {
  @Test func aGigHiveGetsTheWholeRecording() throws {
    try PartsRun<TusServer<ForGigHive>>.play(reaching: ["delivered", "left"])
  }

  @Test func aPlainServerGetsItAtMostOnceUnasked() throws {
    try PartsRun<TusServer<ForPlain>>.play(reaching: ["delivered", "mayBeStored", "left"])
  }
}

private protocol TusKind { static var isGigHive: Bool { get } }
private enum ForGigHive: TusKind { static let isGigHive = true }
private enum ForPlain: TusKind { static let isGigHive = false }

private struct TusServer<Kind: TusKind>: PartsServer {
  private struct Upload {
    /// nil while it is unknown.
    var length: Int64?
    let isPartial: Bool
    /// What was sent, with the version that its range of the recording had then.
    var pieces: [(offset: Int64, length: Int64, version: Int)] = []
    var offset: Int64 { pieces.reduce(0) { $0 + $1.length } }
  }

  static var size: Int64 { 36 << 20 }
  static var checksParts: Bool { false }
  static var needsConnections: Bool { true }
  static var alwaysComputesDigest: Bool { Kind.isGigHive }

  private var uploads: [String: Upload] = [:]
  private var recording: Upload?
  private var count = 0
  private var random: SeededGenerator
  private let extensions: String
  /// Of each upload's path, which may be too long for a list of parts.
  private let ending: String
  var repeated: (upload: String, number: Int)? { nil }

  init(using random: inout SeededGenerator) {
    self.random = SeededGenerator(seed: random.next())
    let joining = ["", ",creation-defer-length", ",creation-defer-length"].randomElement(using: &random) ?? ""
    extensions =
      "creation,termination" + (Int.random(in: 0..<3, using: &random) == 0 ? joining : ",concatenation")
      + (Bool.random(using: &random) ? ",creation-with-upload" : "")
    ending = String(repeating: "x", count: self.random.next() % 8 == 0 ? Limits.partPathLength : 0)
  }

  func destination() throws -> Destination {
    guard Kind.isGigHive else { return .tus(try TargetURI("https://hive/files/")) }
    var form = EventForm()
    form.eventDate = "2026-11-28"
    return .gigHive(try TargetURI("https://hive"), form)
  }

  func modifiedSeconds(of versions: Versions) -> Int64 { 0 }
  func name(ofUpload url: String) -> String { url }
  var hasObject: Bool { recording != nil }
  func isWhole(_ versions: Versions) -> Bool { recording.map { content(of: $0) == versions } ?? false }
  func showsOwner(_ versions: Versions) -> Bool { false }
  var hides: Bool { false }
  mutating func addRival(using random: inout SeededGenerator) {}

  mutating func lose(using random: inout SeededGenerator) -> Bool {
    guard let id = uploads.keys.sorted().randomElement(using: &random) else { return false }
    if uploads[id]?.length == nil, Bool.random(using: &random) {
      _ = uploads[id]?.pieces.popLast()
    } else {
      uploads[id] = nil
    }
    return true
  }

  func page(for request: HTTPRequest) -> Answer {
    Answer(status: 200, content: Array("<html><body>Log in</body></html>".utf8))
  }

  /// The version of each range, if all of it has the same one and is in its place; 0 for others.
  private func content(of upload: Upload) -> Versions {
    var versions = Versions(repeating: 0, count: Int((Self.size - 1) / Self.rangeLength) + 1)
    var next: Int64 = 0
    for piece in upload.pieces {
      guard piece.offset == next else { return [] }
      let range = Int(piece.offset / Self.rangeLength)
      let isFirst = piece.offset % Self.rangeLength == 0
      versions[range] = isFirst || versions[range] == piece.version ? piece.version : 0
      next += piece.length
    }
    return next == Self.size ? versions : []
  }

  private func answer(_ status: Int, _ fields: [Field] = []) -> Answer {
    Answer(status: status, fields: [Field("Tus-Resumable", "1.0.0")] + fields)
  }

  mutating func answer(_ request: HTTPRequest, _ versions: Versions) -> Answer {
    let path = request.target.requestTarget
    if request.method == "OPTIONS" {
      return answer(204, [Field("Tus-Version", "1.0.0"), Field("Tus-Extension", extensions)])
    }
    if path.hasSuffix("finalize") { return finalize(request) }
    if request.body?.header.isEmpty == false { return takeForm(request, versions) }
    if request.method == "POST" { return create(request, versions) }
    guard let upload = uploads[path] else { return answer(404) }
    switch request.method {
    case "HEAD":
      let length = upload.length.map { Field("Upload-Length", String($0)) } ?? Field("Upload-Defer-Length", "1")
      return answer(200, [Field("Upload-Offset", String(upload.offset)), length])
    case "DELETE":
      uploads[path] = nil
      return answer(204)
    default:
      guard request.fields.first("Upload-Offset") == String(upload.offset) else { return answer(409) }
      if let length = request.fields.first("Upload-Length") { uploads[path]?.length = Int64(length) }
      store(request, versions, in: path)
      if let whole = uploads[path], !whole.isPartial, whole.offset == whole.length, !Kind.isGigHive {
        recording = whole
      }
      return answer(204, [Field("Upload-Offset", String(uploads[path]?.offset ?? 0))])
    }
  }

  /// Sometimes only the first half of it.
  private mutating func store(_ request: HTTPRequest, _ versions: Versions, in path: String) {
    guard let body = request.body, body.fileLength > 0 else { return }
    let isHalf = body.fileLength > 1 && Int.random(in: 0..<6, using: &random) == 0
    var offset = body.fileOffset
    let end = offset + (isHalf ? body.fileLength / 2 : body.fileLength)
    while offset < end {
      let range = offset / Self.rangeLength
      let length = min(end, (range + 1) * Self.rangeLength) - offset
      uploads[path]?.pieces.append((offset, length, versions[Int(range)]))
      offset += length
    }
  }

  private mutating func create(_ request: HTTPRequest, _ versions: Versions) -> Answer {
    let concatenation = request.fields.first("Upload-Concat") ?? ""
    var upload = Upload(
      length: Int64(request.fields.first("Upload-Length") ?? ""), isPartial: concatenation == "partial")
    if upload.length == nil, request.fields.first("Upload-Defer-Length") != "1", concatenation.isEmpty {
      return answer(400)
    }
    if concatenation.hasPrefix("final;") {
      for part in concatenation.dropFirst(6).split(separator: " ") {
        guard let other = uploads[String(part)] else { return answer(404) }
        guard other.isPartial, other.offset == other.length else { return answer(400) }
        upload.pieces += other.pieces
      }
      guard upload.offset == Self.size else { return answer(400) }
      upload.length = Self.size
      if !Kind.isGigHive { recording = upload }
    }
    count += 1
    let path = "/files/\(count)\(ending)"
    uploads[path] = upload
    store(request, versions, in: path)
    return answer(201, [Field("Location", path), Field("Upload-Offset", String(uploads[path]?.offset ?? 0))])
  }

  private mutating func takeForm(_ request: HTTPRequest, _ versions: Versions) -> Answer {
    var upload = Upload(length: Self.size, isPartial: false)
    for (index, version) in versions.enumerated() {
      let offset = Int64(index) * Self.rangeLength
      upload.pieces.append((offset, min(Self.rangeLength, Self.size - offset), version))
    }
    return record(upload)
  }

  private mutating func finalize(_ request: HTTPRequest) -> Answer {
    let json = try? JSONReader.read(request.body?.header ?? [])
    guard let id = json?["upload_id"]?.string, let upload = uploads["/files/" + id], upload.offset == upload.length
    else {
      return Answer(status: 404, content: Array(GigHive.uploadUnknown.utf8))
    }
    return record(upload)
  }

  private mutating func record(_ upload: Upload) -> Answer {
    recording = upload
    let digest = Self.digest(content(of: upload), upload.offset)
    return Answer(
      status: 201,
      content: Array(#"{"asset_id": 7, "checksum_sha256": "\#(digest)", "size_bytes": \#(upload.offset)}"#.utf8))
  }
}
