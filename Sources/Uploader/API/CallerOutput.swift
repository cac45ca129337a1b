/// The output of the uploader's caller. The loop polls it along with the connections, so that a slow or missing reader does not
/// delay uploads in progress.
package protocol CallerOutput: AnyObject {
  /// The descriptors with pending output.
  var blocked: [Int32] { get }
  /// Writes as much as possible without waiting.
  func write()
  /// Whether another upload may start.
  func admission(nowMilliseconds: Int64) -> UploadAdmission
}
