import Dispatch
import Foundation
import Testing
// Not @testable: the view of a program that uses the library and Foundation.
import Uploader

/// Every public name of the library is usable along with Foundation. Ambiguous names would not compile.
struct ImportedNamesTests {
  @Test func noNameIsAmbiguousBesideFoundation() {
    let types: [Any.Type] = [
      AddressFamily.self, Cancellation.self, Configuration.self, CongestionControl.self, Credentials.self,
      Delivery.self, Ending.self, RecordedUpload.self,
      PostponementReason.self, PreviousDelivery.self, RateLimit.self, RateSchedule.self, RetryLimit.self,
      RedactedAnswer.self,
      UploadProtocol.self, Destination.self, EventForm.self, EventFormError.self, FileChange.self, FileError.self,
      FormDataError.self, FormField.self, LocalPath.self, Proxy.self, ProxySettings.self, Receipt.self,
      CustomField.self, CustomFieldError.self, RequestHeadError.self, ResponseError.self, Retry.self, SentFile.self,
      SentRecording.self,
      StateError.self, SystemError.self,
      TLSError.self, TLSOptions.self, TargetURI.self, TargetURIError.self, Timeouts.self, TusError.self,
      UploadError.self, UploadObserver.self, UploadPhase.self, UploadProgress.self, UploadRequest.self, Uploader.self,
    ]
    #expect(Set(types.map { String(reflecting: $0) }).count == types.count)
    #expect(!Uploader.version.isEmpty)
  }

  @Test func namesOfFoundationStayItsOwn() {
    let progress: Progress = Progress(totalUnitCount: 1)
    let version: OperatingSystemVersion = ProcessInfo.processInfo.operatingSystemVersion
    #expect(progress.totalUnitCount == 1 && version.majorVersion > 0)
  }
}
