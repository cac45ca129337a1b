import Testing
import UploadCore

/// The origin of a response, and its meaning.
struct VerdictTests {
  private static let proof = Field("Tus-Resumable", "1.0.0")

  private func tus(_ status: Int, _ fields: [Field] = []) -> Verdict { Verdict.ofTus(status: status, fields: fields) }

  private func deletion(_ status: Int, _ text: String) -> Verdict {
    Verdict.ofDeletion(Answer(status: status, content: bytes(text)))
  }

  private func finalize(_ status: Int, _ text: String) -> Verdict {
    Verdict.ofFinalize(Answer(status: status, content: bytes(text)))
  }

  private func recording(_ status: Int, _ text: String) -> Verdict {
    Verdict.ofRecording(Answer(status: status, content: bytes(text)))
  }

  // MARK: tus

  /// Nothing else sends that field.
  @Test(arguments: [200, 201, 202, 204])
  func aSuccessWithAnOffsetIsATusServers(status: Int) {
    #expect(tus(status, [Field("Upload-Offset", "42")]) == .tus(.offset(42)))
  }

  @Test(arguments: [400, 404, 500])
  func anOffsetInARefusalCountsForNothing(status: Int) {
    #expect(tus(status, [Field("Upload-Offset", "42")]) == .somebodyElse(status: status))
  }

  @Test(arguments: [404, 410])
  func onlyATusServerSaysThatAnUploadIsGone(status: Int) {
    #expect(tus(status, [VerdictTests.proof]) == .tus(.gone))
    #expect(tus(status) == .somebodyElse(status: status))
    #expect(
      tus(status, [Field("Server", "firewall"), Field("Content-Type", "text/html")]) == .somebodyElse(status: status))
  }

  @Test(arguments: [200, 204, 302, 400, 401, 403, 405, 500, 502, 503, 511])
  func withoutProofAResponseIsFromSomethingElse(status: Int) {
    #expect(tus(status) == .somebodyElse(status: status))
  }

  @Test func aResponseWithProofIsTheServers() {
    #expect(tus(204, [VerdictTests.proof]) == .tus(.success(status: 204)))
    #expect(tus(403, [VerdictTests.proof]) == .tus(.refused(status: 403)))
    #expect(tus(500, [VerdictTests.proof]) == .tus(.refused(status: 500)))
    #expect(tus(200, [VerdictTests.proof, Field("Upload-Offset", "-1")]) == .tus(.success(status: 200)))
  }

  /// They only make the client wait or send less, which is harmless whatever their origin.
  @Test func harmlessAnswersNeedNoProof() {
    for fields in [[], [VerdictTests.proof]] {
      #expect(tus(409, fields) == .tus(.conflict))
      #expect(tus(413, fields) == .tus(.tooLarge))
      #expect(tus(423, fields) == .tus(.locked))
      #expect(tus(460, fields) == .tus(.checksumMismatch))
    }
  }

  /// It ends the upload.
  @Test func anUnsupportedVersionNeedsProof() {
    #expect(tus(412, [Field("Tus-Version", "2\u{1B}")]) == .tus(.unsupportedVersion(offered: "2\u{1B}")))
    #expect(tus(412, [VerdictTests.proof]) == .tus(.unsupportedVersion(offered: "1.0.0")))
    #expect(tus(412, [Field("Server", "nginx")]) == .somebodyElse(status: 412))
  }

  // MARK: Deletion

  @Test(arguments: [
    (200, #"{"success":true,"deleted_count":1,"error_count":0,"results":{"deleted":[{"asset_id":7}],"errors":[]}}"#),
    (404, #"{"success":false,"error":"Not Found"}"#),
    (410, #"{"success":false,"error":"Gone"}"#),
    (200, #"{"success":false,"deleted_count":0,"error_count":1,"results":{"errors":[{"error":"Not found"}]}}"#),
  ])
  func aRecordingThatGigHiveSaysIsNotThereIsAbsent(status: Int, text: String) {
    #expect(deletion(status, text) == .gigHive(.absent))
  }

  /// GigHive returns 200 even if it could not remove the file from its disk.
  @Test(arguments: [
    #"{"success":true,"deleted_count":0,"error_count":1,"results":{"errors":[{"error":"Failed to delete"}]}}"#,
    #"{"success":false,"message":"Failed to delete"}"#,
  ])
  func aSuccessThatDeletedNothingDoesNotCount(text: String) {
    #expect(deletion(200, text) == .gigHive(.refused(status: 200, message: "Failed to delete")))
  }

  /// A firewall's page, a portal's, or a program's that is not GigHive.
  @Test(
    arguments: [200, 204, 403, 404, 410, 500],
    ["", "<html>Welcome</html>", "{}", "[]", #"{"error":"Not Found"}"#, #"{"success":true"#])
  func aResponseThatIsNotGigHivesDeletesNothing(status: Int, text: String) {
    #expect(deletion(status, text) == .somebodyElse(status: status))
  }

  /// Many programs have a "success". GigHive counts what it has deleted.
  @Test(arguments: [
    #"{"success":true}"#, #"{"success":true,"message":"Welcome"}"#, #"{"success":true,"deleted_count":"all"}"#,
    #"{"success":true,"deleted_count":0,"error_count":0}"#,
  ])
  func aSuccessWithoutACountOrWithACountOfNoneIsNotGigHives(text: String) {
    #expect(deletion(200, text) == .somebodyElse(status: 200))
  }

  @Test(arguments: [403, 404, 410])
  func aGatewaysJSONDeletesNothing(status: Int) {
    #expect(deletion(status, #"{"success":false,"errors":[]}"#) == .somebodyElse(status: status))
  }

  @Test func aTokenThatGigHiveDoesNotKnowIsCalledThat() {
    #expect(
      deletion(403, #"{"success":false,"error":"Forbidden","message":"Invalid delete token"}"#)
        == .gigHive(.deleteTokenUnknown))
  }

  /// A token that is refused for another reason may still be needed.
  @Test(arguments: [
    (400, #"no\u001b"#, "no\u{1B}"), (500, #"no\u001b"#, "no\u{1B}"),
    (403, "Admin access required", "Admin access required"),
  ])
  func otherRefusalsOfGigHiveAreInItsWords(status: Int, json: String, message: String) {
    #expect(
      deletion(status, #"{"success":false,"error":"No","message":"\#(json)"}"#)
        == .gigHive(.refused(status: status, message: message)))
  }

  // MARK: Finalize

  @Test func refusalsOfFinalizeForTheUploadToken() {
    #expect(
      finalize(404, #"{"error":"Not Found","message":"Invalid or expired upload token"}"#)
        == .gigHive(.guestTokenUnknown))
    #expect(finalize(404, #"{"error":"invalid or expired"}"#) == .gigHive(.guestTokenUnknown))
    #expect(finalize(400, #"{"error":"invalid token"}"#) == .gigHive(.guestTokenUnknown))
    #expect(finalize(404, #"{"error":"Not Found"}"#) == .somebodyElse(status: 404))
    #expect(
      finalize(400, #"{"error":"Bad Request","message":"Missing or invalid upload_id"}"#)
        == .gigHive(.guestTokenKnown))
  }

  @Test(arguments: [400, 404, 410])
  func refusalsOfFinalizeForAnUploadThatItDoesNotFind(status: Int) {
    #expect(finalize(status, #"{"error":"Bad Request","message":"Upload not found"}"#) == .gigHive(.uploadUnknown))
  }

  @Test func otherRefusalsOfFinalizeAreInItsWords() {
    #expect(
      finalize(400, #"{"error":"Bad Request","message":"Label is required"}"#)
        == .gigHive(.refused(status: 400, message: "Label is required")))
    #expect(
      finalize(500, #"{"error":"Server Error","message":"Table not found"}"#)
        == .gigHive(.refused(status: 500, message: "Table not found")))
  }

  @Test(arguments: ["Upload not found", "The upload has not been written yet"])
  func a500CanSayThatGigHiveHasNotNoticedTheUpload(message: String) {
    #expect(
      finalize(500, #"{"error":"Server Error","message":"\#(message)"}"#) == .gigHive(.uploadNotWritten))
  }

  @Test(arguments: [400, 403, 404], ["", "<html>Upload not found</html>", #"{"message":"Upload not found"}"#, "[]"])
  func aResponseThatIsNotGigHivesIsFromSomethingElse(status: Int, text: String) {
    #expect(finalize(status, text) == .somebodyElse(status: status))
  }

  // MARK: A recording

  @Test func aRecordingThatGigHiveHas() {
    #expect(
      recording(200, #"{"checksum_sha256":"ab","size_bytes":7}"#)
        == .gigHive(.recording(checksum: "ab", sizeBytes: 7, mediaPath: nil)))
    #expect(
      recording(200, #"{"checksum_sha256":null,"size_bytes":null}"#)
        == .gigHive(.recording(checksum: nil, sizeBytes: nil, mediaPath: nil)))
    let (sum, name) = (GigHive.sha256, GigHive.sha256 + ".mp4")
    #expect(
      recording(200, #"{"checksum_sha256":"\#(sum)","size_bytes":7,"file_name":"\#(name)","file_type":"video"}"#)
        == .gigHive(.recording(checksum: sum, sizeBytes: 7, mediaPath: "video/" + name)))
    #expect(recording(404, #"{"error":"Not Found"}"#) == .gigHive(.absent))
    #expect(recording(500, #"{"error":"x"}"#) == .gigHive(.refused(status: 500, message: "x")))
    #expect(recording(200, "<html>") == .somebodyElse(status: 200))
    #expect(recording(404, "<html>") == .somebodyElse(status: 404))
  }

  // MARK: HTTPInstruction

  @Test func anAnswerGivesTheSameInstructionToAnyClient() {
    func instruction(_ status: Int, expectedContinue: Bool = false) -> HTTPInstruction {
      Answer(status: status, fields: [Field("Location", "/x")]).instruction(expectedContinue: expectedContinue)
    }
    #expect(instruction(417, expectedContinue: true) == .repeatWithoutExpect && instruction(417) == .none)
    #expect(instruction(401) == .authenticate && instruction(403) == .authenticate && instruction(407) == .none)
    for status in [307, 308] { #expect(instruction(status) == .redirect(to: "/x")) }
    for status in [300, 301, 302, 303, 304] { #expect(instruction(status) == .redirectAsGet(to: "/x")) }
    for status in [200, 204, 400, 500] { #expect(instruction(status) == .none) }
  }
}
