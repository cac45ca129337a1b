/// One upload as it is to be done: what the caller asks for, the file as it was found, and what an earlier process left.
package struct UploadPlan: Sendable {
  /// What the upload's record says of an earlier try.
  package struct PreviousState: Equatable, Sendable {
    /// The address of the upload on a tus server.
    package var location: TargetURI?
    /// Bytes that the server had when it last said so.
    package var offset: Int64 = 0
    /// Did the server have every byte?
    package var isUploaded = false
    /// Could the last byte have gone out?
    package var isEnding = false

    package init() {}

    package init(_ record: UploadRecord) {
      location = record.uploadURL.flatMap { try? TargetURI($0) }
      offset = record.offset
      isUploaded = record.phase == .uploaded
      isEnding = record.isEnding
    }
  }

  package let request: UploadRequest
  /// The file's size in bytes.
  package let size: Int64
  package let previous: PreviousState
  /// Are the credentials those of a GigHive event's guest?
  package let isGuest: Bool
  /// Separates the parts of a form.
  package let boundary: Boundary

  /// - Parameters:
  ///   - request: complete: an event form has its date.
  ///   - size: bytes, above zero.
  package init(
    _ request: UploadRequest, size: Int64, previous: PreviousState = PreviousState(), isGuest: Bool = false,
    boundary: Boundary
  ) {
    precondition(size > 0)
    self.request = request
    self.size = size
    self.previous = previous
    self.isGuest = isGuest
    self.boundary = boundary
  }

  /// Does it go by tus, if the server speaks that?
  package var prefersTus: Bool { request.prefersTus(size: size) || previous.location != nil }
}
