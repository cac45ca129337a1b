/// One upload as it is to be done: what the caller asks for, the file as it was found, and what an earlier process left.
package struct UploadPlan: Sendable {
  /// What the upload's record says of an earlier try.
  package struct Former: Equatable, Sendable {
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
  package let former: Former
  /// Are the credentials those of a GigHive event's guest?
  package let isGuest: Bool
  /// Separates the parts of a form.
  package let boundary: Boundary

  /// - Parameters:
  ///   - request: complete: an event form has its date.
  ///   - size: bytes, above zero.
  package init(
    _ request: UploadRequest, size: Int64, former: Former = Former(), isGuest: Bool = false, boundary: Boundary
  ) {
    precondition(size > 0)
    self.request = request
    self.size = size
    self.former = former
    self.isGuest = isGuest
    self.boundary = boundary
  }

  /// Does it go by tus, if the server speaks that?
  package var prefersTus: Bool { request.prefersTus(size: size) || former.location != nil }
}

/// What applies to an upload whatever its protocol is.
package struct UploadTerms: Sendable {
  package var retries: RetryPolicy
  /// The whole of it, with all its tries, in milliseconds; nil for no limit.
  package var totalMilliseconds: Int64?
  /// Can other credentials be looked for when those in use are refused?
  package var canRenewCredentials = false
  /// Decides how long the pauses between tries are.
  package var seed: UInt64

  package init(retries: RetryPolicy, seed: UInt64) {
    self.retries = retries
    self.seed = seed
  }
}
