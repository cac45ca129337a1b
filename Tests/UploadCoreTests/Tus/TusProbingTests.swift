import Testing
import UploadCore

/// A response without proof says that an upload is gone.
struct TusProbingTests {
  private static let proof = Field("Tus-Resumable", "1.0.0")
  private let old = sampleLocation
  private let new = "https://hive/files/0ddb"
  private let terminating: KeyValuePairs = [
    "Tus-Resumable": "1.0.0", "Tus-Version": "1.0.0", "Tus-Extension": "creation,termination",
  ]

  /// An upload to be resumed, whose HEAD was answered without proof.
  private func probing(status: Int = 404, offer: KeyValuePairs<String, String> = plainOffer) throws -> TusUpload {
    var upload = try TusUpload.resumed(offer: offer)
    try upload.ask("HEAD", status)
    return upload
  }

  /// A new upload was created, and its HEAD answered.
  private func examined(
    status: Int = 404, offer: KeyValuePairs<String, String> = plainOffer
  ) throws -> TusUpload {
    var upload = try probing(status: status, offer: offer)
    let creation = try upload.ask("POST")
    #expect(creation.contentLength == 0 && creation.value("Upload-Length") == "100" && upload.location?.text == old)
    try upload.answer(201, ["Tus-Resumable": "1.0.0", "Location": new])
    #expect(try upload.ask("HEAD").target.text == new)
    try upload.answer(200, ["Tus-Resumable": "1.0.0", "Upload-Offset": "0"])
    return upload
  }

  @Test func aServerThatEndsNoUploadsIsNotAskedTo() throws {
    var upload = try examined()
    try upload.ask("HEAD", 200, ["Upload-Offset": "42"])
    #expect(try upload.ask("PATCH").fileOffset == 42)
    // Later doubts need a new upload.
    upload.interrupted(arrived: 0)
    try upload.ask("HEAD", 404)
    _ = try upload.ask("POST")
  }

  @Test(arguments: [(201, false), (200, true), (404, false), (404, true), (302, false), (500, true)])
  func whoCreatesNothingProvesNothing(status: Int, isProved: Bool) throws {
    var upload = try probing()
    _ = try upload.ask("POST")
    #expect(throws: TusError.unproved(status: 404)) {
      try upload.receive(
        status: status, fields: [Field("Location", new)] + (isProved ? [TusProbingTests.proof] : []),
        afterMilliseconds: 0
      )
    }
    #expect(upload.location?.text == old)
    #expect(try upload.ask("HEAD").target.text == old)
  }

  /// The error names the response that said so, whatever came of examining it.
  @Test func theErrorNamesTheStatusThatWasNotProved() throws {
    var upload = try probing(status: 410)
    #expect(throws: TusError.unproved(status: 410)) { try upload.ask("POST", 404) }
    try upload.ask("HEAD", 410)
    try upload.ask("POST", 201, ["Tus-Resumable": "1.0.0", "Location": new])
    #expect(throws: TusError.unproved(status: 410)) { try upload.ask("HEAD", 404) }
  }

  @Test(arguments: [
    (200, ["Upload-Offset": "0"]), (404, [:]), (404, ["Tus-Resumable": "1.0.0"]), (200, ["Tus-Resumable": "1.0.0"]),
  ])
  func whoDoesNotKnowWhatWasCreatedProvesNothing(status: Int, fields: [String: String]) throws {
    var upload = try probing()
    try upload.ask("POST", 201, ["Tus-Resumable": "1.0.0", "Location": new])
    _ = try upload.ask("HEAD")
    #expect(throws: TusError.unproved(status: 404)) {
      try upload.receive(status: status, fields: fields.map { Field($0.key, $0.value) }, afterMilliseconds: 0)
    }
    #expect(try upload.ask("HEAD").target.text == old)
    try upload.answer(404)
    // As long as nothing says that it is gone, the new upload is used again: each attempt would leave one more on the server.
    if status == 404 { _ = try upload.ask("POST") } else { #expect(try upload.ask("HEAD").target.text == new) }
  }

  @Test func anUnusedUploadIsRemovedOnceTheOldOneIsFound() throws {
    var upload = try examined(offer: terminating)
    #expect(throws: TusError.unproved(status: 503)) { try upload.ask("HEAD", 503) }
    try upload.ask("HEAD", 200, ["Upload-Offset": "42"])
    #expect(try upload.ask("DELETE").target.text == new && upload.confirmed == 42)
    try upload.answer(204)
    #expect(try upload.ask("PATCH").fileOffset == 42)
    upload.interrupted(arrived: 0)
    try upload.ask("HEAD", 200, ["Upload-Offset": "42"])
    #expect(try upload.ask("PATCH").fileOffset == 42)
  }

  /// As from a server that computes the URL from the file.
  @Test func aNewUploadWithTheOldURLIsNotRemoved() throws {
    var upload = try probing(offer: terminating)
    try upload.ask("POST", 201, ["Tus-Resumable": "1.0.0", "Location": old])
    try upload.ask("HEAD", 200, ["Tus-Resumable": "1.0.0", "Upload-Offset": "42"])
    #expect(try upload.ask("PATCH").fileOffset == 42)
  }

  /// If that has taken the place of a whole upload, it is not continued.
  @Test func anEmptyUploadWithTheOldURLMeansThatTheOldOneIsGone() throws {
    var upload = try probing(offer: terminating)
    try upload.ask("POST", 201, ["Tus-Resumable": "1.0.0", "Location": old])
    try upload.ask("HEAD", 200, ["Tus-Resumable": "1.0.0", "Upload-Offset": "0"])
    #expect(upload.next() == .gone)
    upload.restart()
    #expect(try upload.ask("PATCH").target.text == old)
  }

  @Test(arguments: [200, 302, 403, 409, 423, 500, 503])
  func anotherAnswerFromTheOldAddressLeavesItOpen(status: Int) throws {
    var upload = try examined()
    #expect(throws: TusError.unproved(status: status)) { try upload.ask("HEAD", status) }
    #expect(upload.location?.text == old)
  }

  /// Something else may answer on the next connection. One new upload is enough.
  @Test func afterAnInterruptionTheServerProvesItselfAgainWithTheSameNewUpload() throws {
    var upload = try examined()
    _ = try upload.ask("HEAD")
    for _ in 0..<3 {
      upload.interrupted(arrived: 0)
      #expect(try upload.ask("HEAD").target.text == old)
      try upload.answer(404)
      #expect(try upload.ask("HEAD").target.text == new)
    }
    try upload.answer(200, ["Tus-Resumable": "1.0.0", "Upload-Offset": "0"])
    #expect(try upload.ask("HEAD").target.text == old)
    try upload.answer(404)
    upload.restart()
    #expect(upload.location?.text == new)
  }

  @Test func anInterruptionBeforeThereIsANewUploadLetsTheExaminationBeginAgain() throws {
    var upload = try probing()
    _ = try upload.ask("POST")
    upload.interrupted(arrived: 0)
    #expect(try upload.ask("HEAD").target.text == old)
  }
}
