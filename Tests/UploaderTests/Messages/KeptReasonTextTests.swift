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
      (
        .needed(upload: "5e1f0a77", destination: "https://hive/?key=1", since: 1_700_000_000, isRenamed: false),
        "its upload 5e1f0a77 to https://hive/?…, begun " + DurationText.moment(1_700_000_000) + ", is not finished."
      ),
      (
        .needed(upload: "5e1f0a77", destination: "https://hive/", since: 1_700_000_000, isRenamed: true),
        "its upload 5e1f0a77 to https://hive/, begun " + DurationText.moment(1_700_000_000)
          + " under another name, is not finished."
      ),
      (.state(.noDirectory), StateError.noDirectory.problem),
    ] as [(KeptReason, String)])
  func anErrorIsPartOfTheReason(reason: KeptReason, text: String) { #expect(reason.text == text) }
}
