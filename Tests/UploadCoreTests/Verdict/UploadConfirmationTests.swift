import Testing
import UploadCore

/// The answers are those of a real server (see docs/troubleshooting.md for their causes).
struct UploadConfirmationTests {
  private let ours = String(repeating: "ab", count: 32)
  private let other = String(repeating: "cd", count: 32)
  private var sent: SentFile { SentFile(size: 43147, sha256: ours) }

  private func confirmation(_ status: Int, _ text: String, sent: SentFile? = nil) throws -> UploadConfirmation {
    try UploadConfirmation.ofGigHive(Answer(status: status, content: bytes(text)), sent: sent ?? self.sent)
  }

  private func gigHive(_ status: Int, _ text: String, sent: SentFile? = nil) throws -> Receipt {
    guard case .receipt(let receipt) = try confirmation(status, text, sent: sent) else {
      throw UploadError.stillProcessing
    }
    return receipt
  }

  private func plain(_ status: Int, _ text: String, sent: SentFile? = nil) throws -> Receipt {
    try UploadConfirmation.ofPlainEndpoint(Answer(status: status, content: bytes(text)), sent: sent ?? self.sent)
  }

  private func created(checksum: String, size: String = "43147") -> String {
    #"{"id":7,"asset_id":9,"file_name":"x.mp4","file_type":"video","mime_type":"video\/mp4","size_bytes":"# + size
      + #","checksum_sha256":""# + checksum + #"","label":"Gr\u00fc\u00dfe","delete_token":"5ec2e7"}"#
  }

  // MARK: GigHive

  /// The case of the checksum does not count, and a size can be a string.
  @Test(arguments: [("ab", "43147"), ("AB", "43147"), ("ab", "\"43147\"")])
  func aConfirmationWithOurChecksumAndSizeIsADelivery(digits: String, size: String) throws {
    let receipt = try gigHive(201, created(checksum: String(repeating: digits, count: 32), size: size))
    #expect(receipt.assetID == 9 && receipt.isChecksumVerified && !receipt.wasAlreadyThere)
    #expect(receipt.deleteToken == "5ec2e7")
  }

  @Test func theSameFileInAnotherEventHasNoDeleteToken() throws {
    let receipt = try gigHive(201, #"{"id":7,"size_bytes":43147,"checksum_sha256":"\#(ours)"}"#)
    #expect(receipt.assetID == 7 && receipt.deleteToken == nil && receipt.isChecksumVerified)
  }

  @Test func anotherChecksumIsNoDelivery() {
    #expect(throws: UploadError.checksumDiffers(sent: ours, stored: other)) {
      try gigHive(201, created(checksum: other))
    }
    #expect(throws: UploadError.checksumDiffers(sent: ours, stored: "")) {
      try gigHive(201, created(checksum: ""))
    }
  }

  @Test func anotherSizeIsNoDelivery() {
    #expect(throws: UploadError.sizeDiffers(sent: 43147, stored: 43146)) {
      try gigHive(201, created(checksum: ours, size: "43146"))
    }
  }

  @Test(arguments: [
    "", "{}", "ok", "<html></html>", "[]", #"{"size_bytes":43147}"#, #"{"checksum_sha256":"ab"}"#,
    #"{"size_bytes":null,"checksum_sha256":"ab"}"#, #"{"size_bytes":43147,"checksum_sha256":null}"#,
  ])
  func aSuccessWithoutConfirmationIsNotGigHives(text: String) {
    #expect(throws: UploadError.unconfirmed(status: 200)) { try gigHive(200, text) }
  }

  @Test func aDuplicateWithOurChecksumIsADelivery() throws {
    let text =
      #"{"error":"Duplicate Upload","message":"There already","existing_asset_id":4,"checksum_sha256":"\#(ours)"}"#
    let receipt = try gigHive(409, text)
    #expect(receipt.assetID == 4 && receipt.isChecksumVerified && receipt.wasAlreadyThere && receipt.deleteToken == nil)
  }

  /// It is of what has arrived.
  @Test func aDuplicateWithAnotherChecksumIsNotWhatWasSent() {
    let text =
      #"{"error":"Duplicate Upload","message":"There already","existing_asset_id":4,"checksum_sha256":"\#(other)"}"#
    #expect(throws: UploadError.checksumDiffers(sent: ours, stored: other)) { try gigHive(409, text) }
    let refusal = UploadError.refused(status: 409, message: "There already")
    #expect(throws: refusal) { try gigHive(409, #"{"message":"There already"}"#) }
    // The file was not read to its end, so its checksum is not known.
    let unknown = SentFile(size: 43147, sha256: nil)
    #expect(throws: refusal) {
      try gigHive(409, #"{"message":"There already","checksum_sha256":null}"#, sent: unknown)
    }
  }

  /// GigHive has not processed it yet. A later query will tell.
  @Test func aRecordingThatGigHiveHasNotLookedAtIsPending() throws {
    #expect(try confirmation(202, #"{"status":"pending","asset_id":7}"#) == .pending(assetID: 7))
    #expect(try confirmation(200, #"{"status":"pending","id":"9"}"#) == .pending(assetID: 9))
    #expect(try confirmation(200, #"{"status":"pending"}"#) == .pending(assetID: nil))
    #expect(throws: UploadError.refused(status: 503, message: "")) {
      try gigHive(503, #"{"status":"pending"}"#)
    }
  }

  // MARK: Any endpoint

  @Test(arguments: [200, 201, 204, 299])
  func anySuccessOfAPlainEndpointCounts(status: Int) throws {
    for text in ["", "ok", "<html>", "{}", "[1]", "7"] {
      let receipt = try plain(status, text)
      #expect(!receipt.isChecksumVerified && receipt.assetID == nil)
    }
  }

  @Test func theDigestThatAPlainEndpointStatesIsCompared() throws {
    #expect(try plain(200, #"{"checksum_sha256":"\#(ours)"}"#).isChecksumVerified)
    #expect(throws: UploadError.checksumDiffers(sent: ours, stored: other)) {
      try plain(200, #"{"checksum_sha256":"\#(other)"}"#)
    }
    #expect(throws: UploadError.sizeDiffers(sent: 43147, stored: 1)) { try plain(200, #"{"size_bytes":1}"#) }
    let receipt = try plain(200, created(checksum: other), sent: SentFile(size: 43147, sha256: nil))
    #expect(!receipt.isChecksumVerified)
  }

  // MARK: Refusals

  @Test(arguments: [100, 199, 300, 400, 500, 599])
  func everyStatusBut2xxIsARefusal(status: Int) {
    #expect(throws: UploadError.refused(status: status, message: "no")) { try gigHive(status, "no") }
    #expect(throws: UploadError.refused(status: status, message: "no")) { try plain(status, "no") }
  }

  @Test(arguments: [
    (#"{"error":"Bad Request","message":"Label is required"}"#, "Label is required"),
    (#"{"error":"Bad Request","message":""}"#, "Bad Request"), (#"{"error":"Bad Request"}"#, "Bad Request"),
    (#"{"message":"a \/ b\n\u001b[2J\u00fc"}"#, "a / b \u{FFFD}[2Jü"), (#"{"detail":"x"}"#, ""), ("", ""),
    ("  \r\n", ""),
    ("plain words\n", "plain words"),
    (
      "<!DOCTYPE html><html><head><title>413</title><style>p{}</style></HEAD>\n<body>\n<h1>Too</h1>\n<p>Large.</p></body></html>",
      "Too Large."
    ), ("<html><body><h1>401 Unauthorized</h1></body></html>", "401 Unauthorized"),
    ("<h1>cut off</h1><a href=\"", "cut off"),
  ])
  func aRefusalIsReportedInTheServersWords(text: String, message: String) {
    #expect {
      try gigHive(400, text)
    } throws: { error in
      guard case UploadError.refused(400, let words) = error else { return false }
      return Secrets().line(words) == message
    }
  }

  /// A secret in it must not be truncated yet, and can contain white space.
  @Test func theWordsAreKeptAsTheyCameUntilTheyAreShown() {
    #expect(throws: UploadError.refused(status: 500, message: filler(65_536))) {
      try gigHive(500, filler(65_536))
    }
    #expect(throws: UploadError.refused(status: 500, message: "a  \t b")) {
      try gigHive(500, #"{"error":"a  \t b"}"#)
    }
    #expect(Secrets().line(filler(65_536)) == filler(300) + "…")
  }
}
