import Testing
import UploadCore

struct UploadRequestTests {
  private func computes(_ change: (inout UploadRequest) -> Void) throws -> Bool {
    var request = UploadRequest(file: "/rec/set.wav", destination: .tus(try TargetURI("https://hive/")))
    change(&request)
    return request.computesSHA256
  }

  /// Later it tells whether the file is still the recording that was sent.
  @Test func recordingsOfAWatcherOrToBeRemovedHaveADigest() throws {
    #expect(try !computes { _ in })
    #expect(try computes { $0.computesDigest = true })
    #expect(try computes { $0.needsRecord = true })
    #expect(try computes { $0.afterDelivery.removal = .delete })
  }
}
