/// The range of the file that one PATCH carries, in bytes.
struct PatchRange: Equatable, Sendable {
  let offset: Int64
  let length: Int64
  var end: Int64 { offset + length }

  /// Whether a server that has kept so much of it makes progress. Some keep a byte of each request.
  func isFair(_ kept: Int64) -> Bool { kept >= length / Limits.fairPart }
}
