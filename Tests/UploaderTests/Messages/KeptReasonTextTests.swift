import Glibc
import Testing
import UploadCore

@testable import Uploader

struct KeptReasonTextTests {
  @Test(
    arguments: [
      (
        .unanswered(.notFromServer(status: 404)),
        "the server did not confirm that it still has it: " + UploadError.notFromServer(status: 404).problem
      ),
      (.unreadable(.unreadable(SystemError(code: EACCES))), "it cannot be read: Permission denied."),
      (.noStatus(SystemError(code: EIO)), "it cannot be checked: Input/output error."),
      (
        .notComparable(.outOfResources("memory")),
        "it cannot be checked: " + UploadError.outOfResources("memory").problem
      ),
      (.state(.noDirectory), StateError.noDirectory.problem),
    ] as [(KeptReason, String)])
  func anErrorIsPartOfTheReason(reason: KeptReason, text: String) { #expect(reason.text == text) }
}
