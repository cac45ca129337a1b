import Testing

@testable import Uploader

struct RefusedCredentialsTests {
  @Test func aServerThatHasRefusedTheCredentialsIsNotAskedForAMinute() {
    let refused = RefusedCredentials()
    let error = UploadError.refused(status: 401, message: "")
    refused.note(error, of: "https://hive", nowMilliseconds: 5)
    #expect(refused.error(of: "https://hive", nowMilliseconds: 60_004) == error)
    #expect(refused.error(of: "https://hive", nowMilliseconds: 60_005) == nil)
    #expect(refused.error(of: "https://other", nowMilliseconds: 5) == nil)
  }

  /// A 403 can be about one recording.
  @Test(arguments: [403, 404, 503])
  func otherRefusalsSayNothingAboutTheCredentials(status: Int) {
    let refused = RefusedCredentials()
    refused.note(.refused(status: status, message: ""), of: "https://hive", nowMilliseconds: 0)
    #expect(refused.error(of: "https://hive", nowMilliseconds: 0) == nil)
  }
}
