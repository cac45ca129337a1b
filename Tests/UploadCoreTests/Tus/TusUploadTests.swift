import Testing
import UploadCore

/// The start of an upload: discovery, creation, and the offset.
struct TusUploadTests {
  // MARK: Discovery (OPTIONS)

  @Test func theFirstQuestionIsWhatTheServerOffers() throws {
    var upload = try TusUpload.beginning()
    let request = try upload.ask("OPTIONS")
    #expect(request.target.text == sampleEndpoint)
    // "The Tus-Resumable header MUST be included in every request and response except for OPTIONS requests."
    #expect(request.fields.isEmpty && request.body == nil)
    #expect(upload.confirmed == 0)
  }

  @Test(
    arguments: [
      (200, ["Allow": "POST"], .notSupported(status: 200)), (301, [:], .notSupported(status: 301)),
      (404, [:], .notSupported(status: 404)), (405, [:], .notSupported(status: 405)),
      (500, [:], .notSupported(status: 500)),
      (403, plainOffer, .notSupported(status: 403)),
      (412, ["Tus-Version": "0.2.2\u{1B}x"], .versionNotSupported(offered: "0.2.2\u{1B}x")),
    ] as [(Int, KeyValuePairs<String, String>, TusError)])
  func onlyASuccessWithTusFieldsIsAnOffer(status: Int, fields: KeyValuePairs<String, String>, error: TusError) throws {
    var upload = try TusUpload.beginning()
    #expect(throws: error) { try upload.ask("OPTIONS", status, fields) }
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
    var bare = try TusUpload.discovered()
    #expect(try bare.ask("POST").value("Upload-Metadata") == nil)
  }

  /// How relative addresses are resolved: see ``TargetURIResolvingTests``.
  @Test(arguments: [
    ("https://hive/files/?token=1", "5e1f", "https://hive/files/5e1f"),
    ("https://hive/files/", "https://other:8443/x?y=z", "https://other:8443/x?y=z"),
    ("http://hive/files/", "http://other/5e1f", "http://other/5e1f"),
    // Upwards to TLS.
    ("http://hive/files/", "https://hive/files/5e1f", "https://hive/files/5e1f"),
    // A server behind a TLS proxy.
    ("https://hive/files/", "http://hive/files/5e1f", "https://hive/files/5e1f"),
    ("https://hive:8443/files/", "http://HIVE:1080/files/5e1f", "https://hive:8443/files/5e1f"),
  ])
  func theLocationIsReadAsTheServerMeansIt(endpoint: String, location: String, target: String) throws {
    var upload = try TusUpload.discovered(endpoint: endpoint)
    try upload.ask("POST", 201, ["Location": location])
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
    "ftp://hive/5e1f", "http://user@hive/5e1f", "/a b", "https://", "mailto:x",
    "/\u{1B}[2J", "/" + String(repeating: "a", count: 8000), "",
  ])
  func anAddressThatTheUploadMayNotGoToIsRefused(location: String) throws {
    var upload = try TusUpload.discovered()
    #expect(throws: location.isEmpty ? TusError.noLocation : .unusableLocation(location)) {
      try upload.ask("POST", 201, ["Location": location])
    }
  }

  @Test(arguments: [200, 204, 302, 400, 401, 403, 404, 412, 413, 429, 500, 503])
  func anythingBut201CreatesNothing(status: Int) throws {
    var upload = try TusUpload.discovered()
    let error =
      status == 412 ? TusError.versionNotSupported(offered: "2.0.0") : .refused(method: "POST", status: status)
    #expect(throws: error) {
      try upload.ask("POST", status, ["Location": sampleLocation, "Tus-Version": "2.0.0"])
    }
    // A retry is possible.
    _ = try upload.ask("POST")
  }

  // MARK: creation-with-upload

  static let withUpload: KeyValuePairs = ["Tus-Version": "1.0.0", "Tus-Extension": "creation,creation-with-upload"]

  /// If the response is lost, the URL is unknown, so the server must not have a complete upload there.
  @Test(
    arguments: [
      (1, nil, 0), (2, nil, 1), (100, nil, 99), (1_048_576, nil, 1_048_575), (1_048_577, nil, 1_048_576),
      (5_000_000, 300, 300), (5_000_000, 1_048_577, 0), (300, 300, 0),
    ] as [(Int64, Int64?, Int64)])
  func theFirstBytesButNeverTheLastGoAlongWithTheCreation(length: Int64, chunkLength: Int64?, sent: Int64) throws {
    var upload = try TusUpload.discovered(length: length, offer: TusUploadTests.withUpload) {
      $0.chunkLength = chunkLength
    }
    let request = try upload.ask("POST")
    #expect(request.fileRange == 0..<sent)
    #expect((request.value("Content-Type") == "application/offset+octet-stream") == (sent > 0))
    #expect(request.value("Upload-Length") == String(length))
  }

  @Test(arguments: [nil, 0, 1, 1_048_575, 1_048_576, 1_048_577] as [Int64?])
  func whatTheServerTookOfThemNeedNotBeSentAgain(stored: Int64?) throws {
    var upload = try TusUpload.discovered(length: 5_000_000, offer: TusUploadTests.withUpload)
    _ = try upload.ask("POST")
    let fields = [Field("Location", sampleLocation)] + (stored.map { [Field("Upload-Offset", String($0))] } ?? [])
    do throws(TusError) {
      try upload.receive(status: 201, fields: fields, afterMilliseconds: 0)
    } catch {
      #expect(error == .offsetBeyond(sent: 1_048_576, acknowledged: 1_048_577) && stored == 1_048_577)
      return
    }
    #expect(upload.confirmed == stored ?? 0)
    #expect(try upload.ask("PATCH").fileOffset == stored ?? 0)
  }

  @Test func aCreationWithoutContentStoresNothing() throws {
    var empty = try TusUpload.discovered()
    #expect(throws: TusError.offsetBeyond(sent: 0, acknowledged: 100)) {
      try empty.ask("POST", 201, ["Location": sampleLocation, "Upload-Offset": "100"])
    }
  }

  @Test(arguments: [400, 404, 411, 413, 415, 417])
  func aCreationThatIsRefusedWithContentIsTriedOnceWithout(status: Int) throws {
    var upload = try TusUpload.discovered(offer: TusUploadTests.withUpload)
    try upload.ask("POST", status)
    let second = try upload.ask("POST")
    #expect(second.contentLength == 0 && second.value("Content-Type") == nil)
    #expect(throws: TusError.refused(method: "POST", status: status)) { try upload.answer(status) }
  }

  @Test(arguments: [401, 403, 408, 429, 500, 503])
  func otherRefusalsAreNotTheContentsFault(status: Int) throws {
    var upload = try TusUpload.discovered(offer: TusUploadTests.withUpload)
    #expect(throws: TusError.refused(method: "POST", status: status)) { try upload.ask("POST", status) }
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
    #expect(try upload.ask("PATCH").value("Upload-Length") == "20971520")
    try upload.answer(204, ["Upload-Offset": "8388608"])
    #expect(try upload.ask("PATCH").value("Upload-Length") == nil)
  }

  /// tusd refuses a length that it knows already.
  @Test func theLengthIsToldOnceAlsoIfAPartOfTheFirstBytesIsStored() throws {
    var upload = try deferred()
    #expect(try upload.ask("PATCH").value("Upload-Length") == "100")
    try upload.answer(204, ["Upload-Offset": "50"])
    #expect(try upload.ask("PATCH").value("Upload-Length") == nil)
  }

  @Test(arguments: [(false, deferring), (true, withUpload)])
  func theLengthIsSentAtOnceUnlessBothSidesDeferIt(
    wants: Bool, offer: KeyValuePairs<String, String>
  ) throws {
    var upload = try TusUpload.discovered(offer: offer) { $0.defersLength = wants }
    #expect(try upload.ask("POST").value("Upload-Length") == "100")
  }

  @Test func aServerThatHasEveryByteIsStillToldTheLength() throws {
    var upload = try deferred()
    try upload.loseConnection(arrived: 100)
    try upload.ask("HEAD", 200, ["Upload-Offset": "100", "Upload-Defer-Length": "1"])
    let last = try upload.ask("PATCH")
    #expect(last.fileRange == 100..<100 && last.value("Upload-Length") == "100")
    try upload.answer(204, ["Upload-Offset": "100"])
    #expect(upload.next() == .complete)
  }

  @Test func aLengthThatTheServerKnowsIsNotToldAgain() throws {
    var upload = try deferred(length: 20 * mebibyte)
    try upload.loseConnection(arrived: 1000)
    try upload.ask("HEAD", 200, ["Upload-Offset": "1000", "Upload-Length": "20971520"])
    #expect(try upload.ask("PATCH").value("Upload-Length") == nil)
  }

  @Test func aLengthThatIsNotThisFilesIsNoticedAlthoughItCouldBeToldLate() throws {
    var upload = try deferred()
    try upload.loseConnection()
    try upload.ask("HEAD", 200, ["Upload-Offset": "50", "Upload-Length": "99"])
    #expect(upload.next() == .gone)
  }

  // MARK: Offset (HEAD)

  @Test func anUploadWithAnAddressIsAskedForItsOffset() throws {
    var upload = try TusUpload.resumed()
    let request = try upload.ask("HEAD")
    #expect(request.target.text == sampleLocation)
    #expect(request.fields == [Field("Tus-Resumable", "1.0.0"), Field("Cache-Control", "no-cache")])
    #expect(request.body == nil)
    try upload.answer(200, ["Upload-Offset": "42", "Upload-Length": "100"])
    #expect(upload.confirmed == 42)
    #expect(try upload.ask("PATCH").fileRange == 42..<100)
  }

  @Test func anUploadThatIsWholeIsComplete() throws {
    var upload = try TusUpload.resumed()
    try upload.ask("HEAD", 204, ["Upload-Offset": "100"])
    #expect(upload.next() == .complete && upload.confirmed == 100)
  }

  /// The server has forgotten it, or has an upload of another length at its URL.
  @Test(
    arguments: [
      (404, ["Tus-Resumable": "1.0.0"]), (410, ["Tus-Resumable": "1.0.0"]),
      (200, ["Upload-Offset": "42", "Upload-Length": "101"]),
    ] as [(Int, KeyValuePairs<String, String>)])
  func anUploadThatIsGoneCanBeStartedAgain(status: Int, fields: KeyValuePairs<String, String>) throws {
    var upload = try TusUpload.resumed()
    try upload.ask("HEAD", status, fields)
    #expect(upload.state == .gone(try TargetURI(sampleLocation), replacement: nil))
    #expect(upload.next() == .gone && upload.confirmed == 0)
    upload.restart()
    #expect(upload.location == nil && upload.expires == nil)
    try upload.ask("POST", 201, ["Location": "/files/next"])
    #expect(try upload.ask("PATCH").target.text == "https://hive/files/next")
  }

  @Test(arguments: [nil, "", "-1", "+5", "0x10", "5 ", "five", "99999999999999999999", "5,5", "1.0"])
  func aMalformedOffsetIsIgnored(text: String?) throws {
    var upload = try TusUpload.resumed()
    _ = try upload.ask("HEAD")
    #expect(throws: TusError.noOffset(status: 200)) {
      try upload.receive(
        status: 200, fields: text.map { [Field("Upload-Offset", $0)] } ?? [], afterMilliseconds: 0)
    }
    // The offset is still unknown.
    _ = try upload.ask("HEAD")
  }

  @Test(arguments: ["1", "86400"])
  func anOffsetThatACacheHasKeptIsNotBelieved(age: String) throws {
    var upload = try TusUpload.resumed()
    #expect(throws: TusError.cachedOffset) {
      try upload.ask("HEAD", 200, ["Upload-Offset": "42", "Upload-Length": "100", "Age": age])
    }
    try upload.ask("HEAD", 200, ["Upload-Offset": "42", "Upload-Length": "100", "Age": "0"])
    #expect(upload.confirmed == 42)
  }

  @Test(arguments: [31, 32])
  func aLengthThatLostItsUpperBitsIsNamed(bits: Int64) throws {
    let length: Int64 = 5 << 32 | 1 << 31 | 7
    let stated = length & (1 << bits - 1)
    var upload = try TusUpload.resumed(length: length)
    #expect(throws: TusError.lengthTruncated(length: length, stated: stated)) {
      try upload.ask("HEAD", 200, ["Upload-Offset": "0", "Upload-Length": String(stated)])
    }
  }

  @Test(arguments: [101, .max] as [Int64])
  func anOffsetBeyondTheFilesEndIsAbsurd(offset: Int64) throws {
    var upload = try TusUpload.resumed()
    #expect(throws: TusError.offsetBeyond(sent: 100, acknowledged: offset)) { try upload.locate(offset) }
  }

  /// Trusting it would leave a gap in the recording.
  @Test func anOffsetBeyondTheSentBytesIsAbsurd() throws {
    var upload = try TusUpload.created(length: 20 * mebibyte)
    try upload.loseConnection()
    #expect(throws: TusError.offsetBeyond(sent: 8_388_608, acknowledged: 8_388_609)) { try upload.locate(8_388_609) }
  }

  /// A proxy may still be forwarding the end of a request whose connection is gone.
  @Test func whatArrivesLateIsBelieved() throws {
    var upload = try TusUpload.created(length: 20 * mebibyte)
    try upload.loseConnection()
    try upload.locate(0)
    try upload.ask("PATCH", 413)
    try upload.locate(0)
    #expect(try upload.ask("PATCH").fileRange == 0..<(4 * mebibyte))
    upload.interrupted(arrived: 0)
    try upload.locate(6 * mebibyte)
    #expect(try upload.ask("PATCH").fileOffset == 6 * mebibyte)
  }

  @Test func aServerThatLostWhatItHadGetsItAgain() throws {
    var upload = try TusUpload.created(length: 20 * mebibyte)
    try upload.patch()
    try upload.loseConnection()
    try upload.locate(17)
    #expect(try upload.ask("PATCH").fileOffset == 17)
  }

  /// Some servers return 409 while another request has locked the upload.
  @Test(arguments: [400, 401, 403, 409, 412, 423, 500, 503])
  func otherAnswersAreLocksOrRefusals(status: Int) throws {
    var upload = try TusUpload.resumed()
    let isLocked = status == 409 || status == 423
    #expect(throws: isLocked ? TusError.locked : .refused(method: "HEAD", status: status)) {
      try upload.ask("HEAD", status)
    }
    try upload.locate(3)
    #expect(upload.confirmed == 3)
  }

  // MARK: Expiration

  @Test func theLatestExpiryIsKept() throws {
    var upload = try TusUpload.created()
    #expect(upload.expires == nil)
    try upload.ask("PATCH", 204, ["Upload-Offset": "100", "Upload-Expires": "Wed, 25 Jun 2014 16:00:00 GMT"])
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
