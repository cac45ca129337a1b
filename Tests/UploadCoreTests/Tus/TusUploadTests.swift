import Testing
import UploadCore

/// The beginning of an upload: what the server offers, creating it, and asking how much the server has.
struct TusUploadTests {
  // MARK: Discovery (OPTIONS)

  @Test func theFirstQuestionIsWhatTheServerOffers() throws {
    var upload = try TusUpload.beginning()
    let request = try upload.ask("OPTIONS")
    #expect(request.target.text == sampleEndpoint)
    // "The Tus-Resumable header MUST be included in every request and response except for OPTIONS requests."
    #expect(request.fields.isEmpty && request.body == nil)
    #expect(upload.acknowledged == 0)
  }

  @Test(arguments: [200, 404, 405, 500, 301])
  func anAnswerWithoutTusFieldsIsNotTus(status: Int) throws {
    var upload = try TusUpload.beginning()
    _ = try upload.ask("OPTIONS")
    #expect(throws: TusError.notSpoken(status: status)) { try upload.answer(status, ["Allow": "POST"]) }
  }

  @Test func aRefusalWithTusFieldsIsNoOffer() throws {
    var upload = try TusUpload.beginning()
    _ = try upload.ask("OPTIONS")
    #expect(throws: TusError.notSpoken(status: 403)) { try upload.answer(403, plainOffer) }
  }

  @Test func aMismatchOfVersionsSaysWhichOnesThereAre() throws {
    var upload = try TusUpload.beginning()
    _ = try upload.ask("OPTIONS")
    #expect(throws: TusError.versionNotSupported(offered: "0.2.2\u{1B}x")) {
      try upload.answer(412, ["Tus-Version": "0.2.2\u{1B}x"])
    }
  }

  @Test func theCallerCanGoOnWithoutAnOffer() throws {
    var upload = try TusUpload.beginning()
    _ = try upload.ask("OPTIONS")
    #expect(throws: TusError.notSpoken(status: 405)) { try upload.answer(405) }
    upload.assumeOffer()
    _ = try upload.ask("POST")
    var resumed = try TusUpload.beginning(location: sampleLocation)
    _ = try resumed.ask("OPTIONS")
    #expect(throws: TusError.notSpoken(status: 404)) { try resumed.answer(404) }
    resumed.assumeOffer()
    _ = try resumed.ask("HEAD")
  }

  // MARK: Creation (POST)

  @Test func creationTellsLengthAndMetadata() throws {
    var upload = try TusUpload.discovered(length: 4_710_000_000, metadata: [FormField("filename", "set.wav")])
    let request = try upload.ask("POST")
    #expect(request.target.text == sampleEndpoint)
    #expect(
      request.fields == [
        Field("Tus-Resumable", "1.0.0"), Field("Upload-Length", "4710000000"),
        Field("Upload-Metadata", "filename c2V0Lndhdg=="),
      ])
    #expect(request.contentLength == 0)
  }

  @Test func withoutMetadataThereIsNoSuchField() throws {
    var upload = try TusUpload.discovered()
    #expect(try upload.ask("POST").value("Upload-Metadata") == nil)
  }

  @Test func anUploadThatIsCreatedIsSentFromItsBeginning() throws {
    let upload = try TusUpload.created()
    #expect(upload.location?.text == sampleLocation)
    #expect(upload.state == .sending(acknowledged: 0, next: 0))
  }

  @Test(arguments: [
    // Absolute; another host; upwards to TLS.
    ("https://hive/files/", "https://hive/files/5e1f", "https://hive/files/5e1f"),
    ("https://hive/files/", "https://other:8443/x?y=z", "https://other:8443/x?y=z"),
    ("http://hive/files/", "https://hive/files/5e1f", "https://hive/files/5e1f"),
    ("http://hive/files/", "http://other/5e1f", "http://other/5e1f"),
    // Relative.
    ("https://hive:8443/files/", "/files/5e1f", "https://hive:8443/files/5e1f"),
    ("https://hive/files/", "5e1f", "https://hive/files/5e1f"),
    ("https://hive/files", "5e1f", "https://hive/5e1f"),
    ("https://hive/a/files/", "../5e1f", "https://hive/a/5e1f"),
    ("https://hive/files/?token=1", "5e1f", "https://hive/files/5e1f"),
    ("https://hive/files/", "//hive/files/5e1f", "https://hive/files/5e1f"),
    ("https://hive/files/", "/files/5e1f+2~a.b", "https://hive/files/5e1f+2~a.b"),
    // A server that does not know of the TLS in front of it.
    ("https://hive/files/", "http://hive/files/5e1f", "https://hive/files/5e1f"),
    ("https://hive:8443/files/", "http://HIVE:1080/files/5e1f", "https://hive:8443/files/5e1f"),
  ])
  func theLocationIsReadAsTheServerMeansIt(endpoint: String, location: String, target: String) throws {
    var upload = try TusUpload.discovered(endpoint: endpoint)
    _ = try upload.ask("POST")
    try upload.answer(201, ["Location": location])
    #expect(upload.location?.text == target)
    #expect(try upload.ask("PATCH").target.text == target)
  }

  @Test func behindARedirectionALocationBelongsToWhoAnswered() throws {
    var upload = try TusUpload.discovered()
    _ = try upload.ask("POST")
    try upload.receive(
      status: 201, fields: [Field("Location", "5e1f")], from: TargetURI("https://second/tus/"), afterMilliseconds: 0)
    #expect(upload.location?.text == "https://second/tus/5e1f")
  }

  @Test(arguments: [
    "http://other/files/5e1f", "ftp://hive/5e1f", "http://user@hive/5e1f", "/a b", "https://", "mailto:x",
    "/\u{1B}[2J", "/" + String(repeating: "a", count: 8000),
  ])
  func anAddressThatTheUploadMayNotGoToIsRefused(location: String) throws {
    var upload = try TusUpload.discovered()
    _ = try upload.ask("POST")
    #expect(throws: TusError.unusableLocation(location)) {
      try upload.answer(201, ["Location": location])
    }
  }

  @Test(arguments: [[:], ["Location": ""]] as [KeyValuePairs<String, String>])
  func anUploadWithoutAnAddressIsUseless(fields: KeyValuePairs<String, String>) throws {
    var upload = try TusUpload.discovered()
    _ = try upload.ask("POST")
    #expect(throws: TusError.noLocation) { try upload.answer(201, fields) }
  }

  @Test(arguments: [200, 204, 302, 400, 401, 403, 404, 413, 429, 500, 503])
  func anythingBut201CreatesNothing(status: Int) throws {
    var upload = try TusUpload.discovered()
    _ = try upload.ask("POST")
    #expect(throws: TusError.refused(method: "POST", status: status)) {
      try upload.answer(status, ["Location": sampleLocation])
    }
    // Another try is possible.
    _ = try upload.ask("POST")
  }

  @Test func creationCanFailOverTheVersion() throws {
    var upload = try TusUpload.discovered()
    _ = try upload.ask("POST")
    #expect(throws: TusError.versionNotSupported(offered: "2.0.0")) { try upload.answer(412, ["Tus-Version": "2.0.0"]) }
  }

  // MARK: creation-with-upload

  static let withUpload: KeyValuePairs = [
    "Tus-Version": "1.0.0", "Tus-Extension": "creation,creation-with-upload",
  ]

  @Test(
    arguments: [
      (2, nil, 1), (100, nil, 99), (1_048_576, nil, 1_048_575), (1_048_577, nil, 1_048_576), (5_000_000, 300, 300),
    ] as [(Int64, Int64?, Int64)])
  func theFirstBytesButNeverTheLastGoAlongWithTheCreation(length: Int64, chunkLength: Int64?, sent: Int64) throws {
    var upload = try TusUpload.discovered(length: length, offer: TusUploadTests.withUpload) {
      $0.chunkLength = chunkLength
    }
    let request = try upload.ask("POST")
    #expect(request.fileRange == 0..<sent)
    #expect(request.value("Content-Type") == "application/offset+octet-stream")
    #expect(request.value("Upload-Length") == String(length))
  }

  @Test(arguments: [0, 1, 1_048_575, 1_048_576] as [Int64])
  func whatTheServerTookOfThemNeedNotBeSentAgain(stored: Int64) throws {
    var upload = try TusUpload.discovered(length: 5_000_000, offer: TusUploadTests.withUpload)
    _ = try upload.ask("POST")
    try upload.answer(201, ["Location": sampleLocation, "Upload-Offset": String(stored)])
    #expect(upload.acknowledged == stored)
    #expect(try upload.ask("PATCH").fileOffset == stored)
  }

  @Test func aServerThatDoesNotSayHowMuchItTookHasNothing() throws {
    var upload = try TusUpload.discovered(offer: TusUploadTests.withUpload)
    _ = try upload.ask("POST")
    try upload.answer(201, ["Location": sampleLocation])
    #expect(try upload.ask("PATCH").fileRange == 0..<100)
  }

  /// If the answer is lost, nobody knows the address: the server must not have a whole upload there.
  @Test func noFileIsCompleteWithItsCreation() throws {
    var upload = try TusUpload.discovered(offer: TusUploadTests.withUpload)
    _ = try upload.ask("POST")
    try upload.answer(201, ["Location": sampleLocation, "Upload-Offset": "99"])
    #expect(try upload.patch() == 99..<100)
    #expect(upload.next() == .complete && upload.acknowledged == 100)
    var byte = try TusUpload.discovered(length: 1, offer: TusUploadTests.withUpload)
    #expect(try byte.ask("POST").contentLength == 0)
  }

  @Test func moreThanWasSentWithTheCreationIsAbsurd() throws {
    var upload = try TusUpload.discovered(length: 5_000_000, offer: TusUploadTests.withUpload)
    _ = try upload.ask("POST")
    #expect(throws: TusError.offsetBeyond(sent: 1_048_576, acknowledged: 1_048_577)) {
      try upload.answer(201, ["Location": sampleLocation, "Upload-Offset": "1048577"])
    }
    var empty = try TusUpload.discovered()
    _ = try empty.ask("POST")
    #expect(throws: TusError.offsetBeyond(sent: 0, acknowledged: 100)) {
      try empty.answer(201, ["Location": sampleLocation, "Upload-Offset": "100"])
    }
  }

  @Test(arguments: [400, 404, 411, 413, 415, 417])
  func aCreationThatIsRefusedWithContentIsTriedOnceWithout(status: Int) throws {
    var upload = try TusUpload.discovered(offer: TusUploadTests.withUpload)
    _ = try upload.ask("POST")
    try upload.answer(status)
    let second = try upload.ask("POST")
    #expect(second.contentLength == 0 && second.value("Content-Type") == nil)
    #expect(throws: TusError.refused(method: "POST", status: status)) { try upload.answer(status) }
  }

  @Test(arguments: [401, 403, 408, 429, 500, 503])
  func otherRefusalsAreNotTheContentsFault(status: Int) throws {
    var upload = try TusUpload.discovered(offer: TusUploadTests.withUpload)
    _ = try upload.ask("POST")
    #expect(throws: TusError.refused(method: "POST", status: status)) { try upload.answer(status) }
    #expect(try upload.ask("POST").contentLength == 99)
  }

  @Test(arguments: [(0, 99), (1, 0)] as [(Int64, Int64)])
  func aCreationThatIsCutWithItsContentGoesWithoutTheNextTime(arrived: Int64, sent: Int64) throws {
    var upload = try TusUpload.discovered(offer: TusUploadTests.withUpload)
    _ = try upload.ask("POST")
    upload.interrupted(arrived: arrived)
    #expect(try upload.ask("POST").contentLength == sent)
  }

  @Test func aServerThatChecksContentGetsNoneWithTheCreation() throws {
    var upload = try TusUpload.discovered(
      offer: ["Tus-Version": "1.0.0", "Tus-Extension": "creation,creation-with-upload,checksum"])
    #expect(try upload.ask("POST").contentLength == 0)
  }

  // MARK: creation-defer-length

  static let deferring: KeyValuePairs = [
    "Tus-Version": "1.0.0", "Tus-Extension": "creation,creation-defer-length,creation-with-upload",
  ]

  private func deferred(length: Int64 = 100) throws -> TusUpload {
    try TusUpload.created(length: length, offer: TusUploadTests.deferring) { $0.defersLength = true }
  }

  @Test func theLengthCanBeToldWithTheFirstBytes() throws {
    var upload = try TusUpload.discovered(length: 20 * mebibyte, offer: TusUploadTests.deferring) {
      $0.defersLength = true
    }
    let creation = try upload.ask("POST")
    #expect(creation.value("Upload-Defer-Length") == "1" && creation.value("Upload-Length") == nil)
    #expect(creation.contentLength == 0)
    try upload.answer(201, ["Location": sampleLocation])
    let first = try upload.ask("PATCH")
    #expect(first.value("Upload-Length") == "20971520")
    try upload.answer(204, ["Upload-Offset": "8388608"])
    #expect(try upload.ask("PATCH").value("Upload-Length") == nil)
  }

  @Test(arguments: [(false, deferring), (true, withUpload)])
  func theLengthIsToldAtOnceUnlessBothSidesWantItOtherwise(
    wants: Bool, offer: KeyValuePairs<String, String>
  ) throws {
    var upload = try TusUpload.discovered(offer: offer) { $0.defersLength = wants }
    #expect(try upload.ask("POST").value("Upload-Length") == "100")
  }

  @Test func aServerThatHasEveryByteIsStillToldTheLength() throws {
    var upload = try deferred()
    _ = try upload.ask("PATCH")
    upload.interrupted(arrived: 100)
    _ = try upload.ask("HEAD")
    try upload.answer(200, ["Upload-Offset": "100", "Upload-Defer-Length": "1"])
    let last = try upload.ask("PATCH")
    #expect(last.fileRange == 100..<100 && last.value("Upload-Length") == "100")
    try upload.answer(204, ["Upload-Offset": "100"])
    #expect(upload.next() == .complete)
  }

  @Test func aLengthThatTheServerKnowsIsNotToldAgain() throws {
    var upload = try deferred(length: 20 * mebibyte)
    _ = try upload.ask("PATCH")
    upload.interrupted(arrived: 1000)
    _ = try upload.ask("HEAD")
    try upload.answer(200, ["Upload-Offset": "1000", "Upload-Length": "20971520"])
    #expect(try upload.ask("PATCH").value("Upload-Length") == nil)
  }

  @Test func aLengthThatIsNotThisFilesIsNoticedAlthoughItCouldBeToldLate() throws {
    var upload = try deferred()
    _ = try upload.ask("PATCH")
    upload.interrupted(arrived: 0)
    _ = try upload.ask("HEAD")
    try upload.answer(200, ["Upload-Offset": "50", "Upload-Length": "99"])
    #expect(upload.next() == .gone)
  }

  // MARK: How much has the server? (HEAD)

  private func resumed(length: Int64 = 100) throws -> TusUpload {
    var upload = try TusUpload.beginning(length: length, location: sampleLocation)
    _ = try upload.ask("OPTIONS")
    try upload.answer(200, plainOffer)
    return upload
  }

  @Test func anUploadWithAnAddressIsAskedForItsOffset() throws {
    var upload = try resumed()
    let request = try upload.ask("HEAD")
    #expect(request.target.text == sampleLocation)
    #expect(request.fields == [Field("Tus-Resumable", "1.0.0")] && request.body == nil)
    try upload.answer(200, ["Upload-Offset": "42", "Upload-Length": "100"])
    #expect(upload.acknowledged == 42)
    #expect(try upload.ask("PATCH").fileRange == 42..<100)
  }

  @Test func anUploadThatIsWholeIsComplete() throws {
    var upload = try resumed()
    _ = try upload.ask("HEAD")
    try upload.answer(204, ["Upload-Offset": "100"])
    #expect(upload.next() == .complete && upload.acknowledged == 100)
  }

  @Test(arguments: [404, 410])
  func anUploadThatTheServerForgotIsGoneAndCanBeginAnew(status: Int) throws {
    var upload = try resumed()
    _ = try upload.ask("HEAD")
    try upload.answer(status, ["Tus-Resumable": "1.0.0"])
    #expect(upload.state == .gone(replacement: nil))
    #expect(upload.next() == .gone && upload.acknowledged == 0)
    upload.restart()
    #expect(upload.location == nil && upload.expires == nil)
    _ = try upload.ask("POST")
    try upload.answer(201, ["Location": "/files/next"])
    #expect(try upload.ask("PATCH").target.text == "https://hive/files/next")
  }

  @Test func anUploadOfAnotherLengthIsNotThisFiles() throws {
    var upload = try resumed()
    _ = try upload.ask("HEAD")
    try upload.answer(200, ["Upload-Offset": "42", "Upload-Length": "101"])
    #expect(upload.next() == .gone)
  }

  @Test(arguments: ["", "-1", "+5", "0x10", "5 ", "five", "99999999999999999999", "5,5", "1.0"])
  func anOffsetThatIsNoNumberIsNone(text: String) throws {
    var upload = try resumed()
    _ = try upload.ask("HEAD")
    #expect(throws: TusError.noOffset(status: 200)) { try upload.answer(200, ["Upload-Offset": text]) }
    // The question stays open.
    _ = try upload.ask("HEAD")
  }

  @Test func anOffsetIsNeeded() throws {
    var upload = try resumed()
    _ = try upload.ask("HEAD")
    #expect(throws: TusError.noOffset(status: 204)) { try upload.answer(204) }
  }

  @Test(arguments: [101, .max] as [Int64])
  func anOffsetBehindTheFilesEndIsAbsurd(offset: Int64) throws {
    var upload = try resumed()
    _ = try upload.ask("HEAD")
    #expect(throws: TusError.offsetBeyond(sent: 100, acknowledged: offset)) {
      try upload.answer(200, ["Upload-Offset": String(offset)])
    }
  }

  /// Believing it would leave a hole in the recording.
  @Test func anOffsetBehindWhatWasSentIsAbsurd() throws {
    var upload = try TusUpload.created(length: 20 * mebibyte)
    _ = try upload.ask("PATCH")
    upload.interrupted(arrived: 0)
    _ = try upload.ask("HEAD")
    #expect(throws: TusError.offsetBeyond(sent: 8_388_608, acknowledged: 8_388_609)) {
      try upload.answer(200, ["Upload-Offset": "8388609"])
    }
  }

  /// A proxy may still be passing on the end of a request whose connection is long gone.
  @Test func whatArrivesLateIsBelieved() throws {
    var upload = try TusUpload.created(length: 20 * mebibyte)
    _ = try upload.ask("PATCH")
    upload.interrupted(arrived: 0)
    try upload.locate(0)
    _ = try upload.ask("PATCH")
    try upload.answer(413)
    try upload.locate(0)
    #expect(try upload.ask("PATCH").fileRange == 0..<(4 * mebibyte))
    upload.interrupted(arrived: 0)
    try upload.locate(6 * mebibyte)
    #expect(try upload.ask("PATCH").fileOffset == 6 * mebibyte)
  }

  @Test func aServerThatLostWhatItHadGetsItAgain() throws {
    var upload = try TusUpload.created(length: 20 * mebibyte)
    try upload.patch()
    _ = try upload.ask("PATCH")
    upload.interrupted(arrived: 0)
    try upload.locate(17)
    #expect(try upload.ask("PATCH").fileOffset == 17)
  }

  /// Some servers say 409 while they hold the upload for another request.
  @Test(arguments: [409, 423])
  func aLockedUploadIsAskedForAgainLater(status: Int) throws {
    var upload = try resumed()
    _ = try upload.ask("HEAD")
    #expect(throws: TusError.locked) { try upload.answer(status) }
    try upload.locate(3)
    #expect(upload.acknowledged == 3)
  }

  @Test(arguments: [400, 401, 403, 412, 500, 503])
  func otherAnswersAreRefusals(status: Int) throws {
    var upload = try resumed()
    _ = try upload.ask("HEAD")
    #expect(throws: TusError.refused(method: "HEAD", status: status)) { try upload.answer(status) }
  }

  // MARK: Expiration

  @Test func theLatestExpiryIsKept() throws {
    var upload = try TusUpload.created()
    #expect(upload.expires == nil)
    _ = try upload.ask("PATCH")
    try upload.answer(204, ["Upload-Offset": "100", "Upload-Expires": "Wed, 25 Jun 2014 16:00:00 GMT"])
    #expect(upload.expires == "Wed, 25 Jun 2014 16:00:00 GMT")
  }

  // MARK: Termination

  @Test func terminationIsADelete() throws {
    let request = TusUpload.termination(of: try TargetURI(sampleLocation), overridesMethod: false)
    #expect(request.method == "DELETE" && request.target.text == sampleLocation)
    #expect(request.fields == [Field("Tus-Resumable", "1.0.0")])
    let overridden = TusUpload.termination(of: try TargetURI(sampleLocation), overridesMethod: true)
    #expect(overridden.method == "POST" && overridden.value("X-HTTP-Method-Override") == "DELETE")
  }
}
