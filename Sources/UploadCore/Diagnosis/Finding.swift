/// The result of one check of a diagnosis.
package struct Finding: Sendable {
  /// In the order of the data's path.
  package enum Check: String, Sendable, CaseIterable {
    case clock, entropy, memory
    case openFiles = "open-files"
    case user
    case stateDirectory = "state-directory"
    case leftovers, file, proxy, connection
    case addresses, tls, certificate
    case serverClock = "server-clock"
    case tus, credentials
    case guestToken = "guest-token"
    case largestFile = "largest-file"
    case uploadAddress = "upload-address"
    case formLimit = "form-limit"
    case requestLimit = "request-limit"
    case contentLimit = "content-limit"
    case spooling
    case testUpload = "test-upload"
    case testObject = "test-object"
    case region, overwriting, parts, chunks
    case link
    case removal
  }

  package enum Result: Sendable {
    case ok(String)
    /// Uploads work, but worse than they could, or not for long. `remedy`: what to do.
    case warning(String, remedy: String?)
    /// Uploads would fail with this error. `about`: what it concerns, such as a length; can be empty. `answer`: the response that
    /// shows it. `remedy`: if it is not that of the error.
    case failure(UploadError, about: String = "", answer: RedactedAnswer? = nil, remedy: String? = nil)
    /// Why it was not examined.
    case notExamined(String)
  }

  package let check: Check
  package let result: Result

  package init(_ check: Check, _ result: Result) {
    self.check = check
    self.result = result
  }
}
