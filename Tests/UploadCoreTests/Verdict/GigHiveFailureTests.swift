import Testing
import UploadCore

/// GigHive's 500s, in its words.
struct GigHiveFailureTests {
  private static func json(_ message: String) -> String { #"{"error":"Server Error","message":""# + message + #""}"# }

  private func remedy(_ status: Int, _ content: String) -> String? {
    RedactedAnswer(Answer(status: status, content: bytes(content)), Secrets()).remedy
  }

  @Test(arguments: [
    ("Upload failed with code 1", UploadError.FormProblem.tooLarge, "upload_max_filesize"),
    ("Upload failed with code 2", .tooLarge, "upload_max_filesize"),
    (
      "SQLSTATE[22001]: String data, right truncated: 1406 Data too long for column 'label' at row 1", .valueRefused,
      "too long for GigHive's database"
    ),
    ("SQLSTATE[22007]: Invalid datetime format: 1292 Incorrect date value", .valueRefused, "refuses a value"),
    ("SQLSTATE[01000]: Warning: 1265 Data truncated for column 'event_type'", .valueRefused, "refuses a value"),
  ])
  func aRefusalThatDoesNotPassIsNotRepeated(message: String, problem: UploadError.FormProblem, setting: String) throws {
    let content = GigHiveFailureTests.json(message)
    let error = Answer(status: 500, content: bytes(content)).refusal
    #expect(error == .formDropped(status: 500, message: message, problem))
    let remedy = try #require(self.remedy(500, content))
    #expect(ASCII.contains(bytes(remedy), setting))
  }

  @Test(arguments: [
    ("Upload failed with code 3", "cut off"), ("Upload failed with code 6", "upload_tmp_dir"),
    ("Upload failed with code 7", "free space"),
    ("DB connection failed: SQLSTATE[HY000] [2002] Connection refused", "GigHive's database does not run; start it"),
    ("DB connection failed: SQLSTATE[HY000] [1045] Access denied for user 'appuser'", "refuses the password"),
    ("DB connection failed: SQLSTATE[HY000] [1049] Unknown database 'music_db'", "no database of GigHive's"),
    ("SQLSTATE[HY000]: General error: 2006 MySQL server has gone away", "database failed, as the message says"),
  ])
  func aFailureThatCanPassIsRepeatedAndHasARemedy(message: String, words: String) throws {
    let content = GigHiveFailureTests.json(message)
    #expect(Answer(status: 500, content: bytes(content)).refusal == .refused(status: 500, message: message))
    let remedy = try #require(self.remedy(500, content))
    #expect(ASCII.contains(bytes(remedy), words))
  }

  @Test func aTypeThatGigHiveDoesNotTakeIsExplained() throws {
    let text = try #require(self.remedy(400, #"{"error":"Bad Request","message":"Unsupported media type"}"#))
    #expect(text.contains("mp4") && text == GigHiveFailureTests.remedy(of: ServerChecks.fileType(of: "/a/notes.pdf")))
    #expect(ServerChecks.fileType(of: "/a/GIG.MP4") == nil)
  }

  private static func remedy(of finding: Finding?) -> String? {
    if case .failure(.refused(status: 400, _), _, _, let remedy) = finding?.result { remedy } else { nil }
  }

  /// Another program may mean something else by the same words.
  @Test(arguments: [
    (500, "Upload failed with code 1"), (500, json("Upload failed with code 8")),
    (503, json("Upload failed with code 1")),
    (500, #"{"statusCode":500,"error":"Server Error","message":"Upload failed with code 1"}"#),
  ])
  func anythingElseIsAFailureOfTheServer(status: Int, content: String) throws {
    guard case .refused(status, _) = Answer(status: status, content: bytes(content)).refusal else {
      Issue.record("not a failure")
      return
    }
    #expect(self.remedy(status, content) == nil)
  }
}
