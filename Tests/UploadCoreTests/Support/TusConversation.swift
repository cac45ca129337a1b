import Testing
import UploadCore

let sampleEndpoint = "https://hive/files/"
let sampleLocation = "https://hive/files/5e1f"
/// The response of a tus server with no extension except creation.
let plainOffer: KeyValuePairs = ["Tus-Resumable": "1.0.0", "Tus-Version": "1.0.0", "Tus-Extension": "creation"]

/// The client's side of a tus conversation.
extension TusUpload {
  /// A new upload.
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

  /// An upload about to be created.
  static func discovered(
    length: Int64 = 100, metadata: [FormField] = [], endpoint: String = sampleEndpoint,
    offer: KeyValuePairs<String, String> = plainOffer, configure: (inout Options) -> Void = { _ in }
  ) throws -> TusUpload {
    var upload = try beginning(length: length, metadata: metadata, endpoint: endpoint, configure: configure)
    try upload.ask("OPTIONS", 204, offer)
    return upload
  }

  /// An upload that was created and is still empty.
  /// - Parameter milliseconds: the response time of the creation.
  static func created(
    length: Int64 = 100, offer: KeyValuePairs<String, String> = plainOffer, afterMilliseconds milliseconds: Int64 = 0,
    configure: (inout Options) -> Void = { _ in }
  ) throws -> TusUpload {
    var upload = try discovered(length: length, offer: offer, configure: configure)
    try upload.ask("POST", 201, ["Location": sampleLocation], afterMilliseconds: milliseconds)
    return upload
  }

  /// An upload of an earlier process, about to ask for its offset.
  static func resumed(
    length: Int64 = 100, offer: KeyValuePairs<String, String> = plainOffer
  ) throws -> TusUpload {
    var upload = try beginning(length: length, location: sampleLocation)
    try upload.ask("OPTIONS", 200, offer)
    return upload
  }

  /// Takes the next request, and expects this method.
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

  /// Takes the next request, and answers it.
  mutating func ask(
    _ method: String, _ status: Int, _ fields: KeyValuePairs<String, String> = [:],
    afterMilliseconds milliseconds: Int64 = 0, sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    _ = try ask(method, sourceLocation: sourceLocation)
    try answer(status, fields, afterMilliseconds: milliseconds)
  }

  /// Takes a PATCH, whose connection breaks.
  mutating func loseConnection(arrived: Int64 = 0, sourceLocation: SourceLocation = #_sourceLocation) throws {
    _ = try ask("PATCH", sourceLocation: sourceLocation)
    interrupted(arrived: arrived)
  }

  /// Takes a PATCH, and answers that the server has all of it.
  /// - Returns: the range of the file.
  @discardableResult
  mutating func patch(
    afterMilliseconds milliseconds: Int64 = 0, sourceLocation: SourceLocation = #_sourceLocation
  ) throws -> Range<Int64> {
    let range = try ask("PATCH", sourceLocation: sourceLocation).fileRange
    try answer(204, ["Upload-Offset": String(range.upperBound)], afterMilliseconds: milliseconds)
    return range
  }

  /// Takes a HEAD, and answers with the offset.
  mutating func locate(
    _ offset: Int64, afterMilliseconds milliseconds: Int64 = 0, sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    try ask(
      "HEAD", 200, ["Upload-Offset": String(offset)], afterMilliseconds: milliseconds, sourceLocation: sourceLocation)
  }
}

enum TusConversationError: Error { case noRequest }

extension HTTPRequest {
  /// The offset of the content in the file, in bytes.
  var fileOffset: Int64 { body?.fileOffset ?? 0 }
  /// The range of the file in the request.
  var fileRange: Range<Int64> { fileOffset..<(fileOffset + contentLength) }

  func value(_ name: String) -> String? { fields.first(name) }
}

let mebibyte: Int64 = 1 << 20
let gibibyte: Int64 = 1 << 30
