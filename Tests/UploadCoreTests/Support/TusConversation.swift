import Testing
import UploadCore

let sampleEndpoint = "https://hive/files/"
let sampleLocation = "https://hive/files/5e1f"
/// What a server says that speaks tus and has no extension but creation.
let plainOffer: KeyValuePairs = ["Tus-Resumable": "1.0.0", "Tus-Version": "1.0.0", "Tus-Extension": "creation"]

/// The client's side of a conversation, as tests of tus play it.
extension TusUpload {
  /// An upload at its beginning.
  static func beginning(
    length: Int64 = 100, metadata: [FormField] = [], endpoint: String = sampleEndpoint, location: String? = nil,
    configure: (inout Options) -> Void = { _ in }
  ) throws -> TusUpload {
    var options = Options()
    configure(&options)
    return try TusUpload(
      endpoint: TargetURI(endpoint), length: length, metadata: metadata, location: location.map { try TargetURI($0) },
      options: options)
  }

  /// An upload whose creation is what comes next.
  static func discovered(
    length: Int64 = 100, metadata: [FormField] = [], endpoint: String = sampleEndpoint,
    offer: KeyValuePairs<String, String> = plainOffer, configure: (inout Options) -> Void = { _ in }
  ) throws -> TusUpload {
    var upload = try beginning(length: length, metadata: metadata, endpoint: endpoint, configure: configure)
    _ = try upload.ask("OPTIONS")
    try upload.answer(204, offer)
    return upload
  }

  /// An upload that was created, and of which the server has nothing yet.
  /// - Parameter milliseconds: how long the creation's answer took.
  static func created(
    length: Int64 = 100, offer: KeyValuePairs<String, String> = plainOffer, afterMilliseconds milliseconds: Int64 = 0,
    configure: (inout Options) -> Void = { _ in }
  ) throws -> TusUpload {
    var upload = try discovered(length: length, offer: offer, configure: configure)
    _ = try upload.ask("POST")
    try upload.answer(201, ["Location": sampleLocation], afterMilliseconds: milliseconds)
    return upload
  }

  /// Asks, and expects a request with this method.
  mutating func ask(_ method: String, sourceLocation: SourceLocation = #_sourceLocation) throws -> HTTPRequest {
    let step = next()
    guard case .ask(let request) = step else {
      Issue.record("expected \(method), got \(step)", sourceLocation: sourceLocation)
      throw TusConversationError.noRequest
    }
    #expect(request.method == method, sourceLocation: sourceLocation)
    return request
  }

  mutating func answer(
    _ status: Int, _ fields: KeyValuePairs<String, String> = [:], afterMilliseconds milliseconds: Int64 = 0
  ) throws(TusError) {
    try receive(
      status: status, fields: fields.map { Field($0.key, $0.value) }, afterMilliseconds: milliseconds)
  }

  /// Asks for a PATCH and answers that the server has all of it.
  /// - Returns: the stretch of the file.
  @discardableResult
  mutating func patch(
    afterMilliseconds milliseconds: Int64 = 0, sourceLocation: SourceLocation = #_sourceLocation
  ) throws -> Range<Int64> {
    let range = try ask("PATCH", sourceLocation: sourceLocation).fileRange
    try answer(204, ["Upload-Offset": String(range.upperBound)], afterMilliseconds: milliseconds)
    return range
  }

  /// Asks how much the server has, and is told.
  mutating func locate(_ offset: Int64, sourceLocation: SourceLocation = #_sourceLocation) throws {
    _ = try ask("HEAD", sourceLocation: sourceLocation)
    try answer(200, ["Upload-Offset": String(offset)])
  }
}

enum TusConversationError: Error { case noRequest }

extension HTTPRequest {
  /// What of the file goes with it.
  var fileRange: Range<Int64> { fileOffset..<(fileOffset + contentLength) }

  func value(_ name: String) -> String? { fields.first(name) }
}

let mebibyte: Int64 = 1 << 20
let gibibyte: Int64 = 1 << 30
