/// The range of the file that one PATCH carries, in bytes.
struct PatchRange: Equatable, Sendable {
  let offset: Int64
  let length: Int64
  var end: Int64 { offset + length }
}
