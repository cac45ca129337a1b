/// A tus upload, and a server that answers as the input says.
///
///     length=10000000 defer sha        the file's length, and what is asked for: see `Setting`
///
///     204 35                           an answer: the status, and after how many milliseconds it came
///     Tus-Resumable: 1.0.0
///
///     +204                             the same, and a second request went out before it
///
///     ! 4096                           an interruption: 4096 bytes of content had arrived
enum TusTarget {
  static func run(_ input: [UInt8]) {
    var blocks = input.split(separator: 0x0A, omittingEmptySubsequences: false).split { $0.isEmpty }[...]
    guard let first = blocks.popFirst()?.first, var script = FuzzedConversation(setting: first) else { return }
    for block in blocks.prefix(2000) {
      guard let line = block.first, script.ask(twice: line.first == UInt8(ascii: "+")) else { return }
      let fields = block.dropFirst().compactMap { try? ResponseHead.parseField($0) }
      script.play(Array(line.drop { $0 == UInt8(ascii: "+") }), fields)
    }
    _ = script.ask(twice: false)
  }
}

/// The upload, and what its caller knows.
struct FuzzedConversation {
  private var upload: TusUpload
  private let length: Int64
  private let requiresTus: Bool
  private let isSecure: Bool
  /// The requests that are not answered, oldest first.
  private var inFlight: [HTTPRequest] = []
  /// The highest byte ever sent of this upload: the server cannot have more.
  private var sentEnd: Int64
  /// The most that the server has acknowledged, and the answers since then.
  private var highestOffset: Int64 = 0
  private var fruitlessAnswers = 0

  init?(setting line: ArraySlice<UInt8>) {
    let words = line.split(separator: 0x20).map { [UInt8]($0).text }
    func number(_ name: String) -> Int64? {
      words.first { $0.hasPrefix(name) }.flatMap { ASCII.decimal($0.utf8.dropFirst(name.utf8.count)) }
    }
    length = min(max(number("length=") ?? 10_000_000, 1), Limits.fileSize)
    requiresTus = words.contains("must")
    isSecure = !words.contains("http")
    var options = TusUpload.Options()
    options.defersLength = words.contains("defer")
    options.overridesMethod = words.contains("override")
    options.chunkLength = number("chunk=").map { max($0, 1) }
    let base = isSecure ? "https://hive/files/" : "http://hive/files/"
    let location = words.contains("resume") ? try? TargetURI(base + "5e1f") : nil
    sentEnd = location == nil ? 0 : length
    guard let endpoint = try? TargetURI(base),
      let upload = try? TusUpload(
        endpoint: endpoint, length: length, metadata: [FormField("filename", "set 1.wav")], location: location,
        options: options)
    else { return nil }
    self.upload = upload
  }

  // MARK: Asking

  /// Sends what is to be sent. `twice`: a second request too, if one may follow before the first is answered.
  /// - Returns: false if there is nothing left to do.
  mutating func ask(twice: Bool) -> Bool {
    if inFlight.isEmpty, !askFirst() { return false }
    if twice, inFlight.count == 1, case .sending = upload.state, case .ask(let request) = upload.next() {
      check(request)
      inFlight.append(request)
      require(inFlight.filter { $0.has("Upload-Length") }.count < 2, "the length is told twice at a time")
    }
    return true
  }

  private mutating func askFirst() -> Bool {
    for _ in 0..<4 {
      switch upload.next() {
      case .ask(let request):
        check(request)
        inFlight.append(request)
        return true
      case .checksumOfNextPatch(_, let offset, let count):
        require(offset >= 0 && count >= 0 && offset + count <= length, "a checksum of what the file does not have")
        upload.setChecksum(ofNextPatch: [0xDE, 0xAD, 0xBE, 0xEF])
      case .gone:
        upload.restart()
        (sentEnd, highestOffset, fruitlessAnswers) = (0, 0, 0)
      case .complete:
        require(sentEnd >= length, "complete, of which \(sentEnd) bytes were sent")
        return false
      case .await: fatalError("broken rule: waits for an answer to nothing")
      }
    }
    fatalError("broken rule: asks for nothing")
  }

  private mutating func check(_ request: HTTPRequest) {
    let count = request.contentLength
    let end = request.fileOffset + count
    require(request.fileOffset >= 0 && count >= 0 && end <= length, "a range that the file does not have")
    require(request.fields.allSatisfy { $0.isSendable }, "a field that cannot be sent")
    require(!isSecure || request.target.scheme == .https, "from https to http")
    // A new upload; but one that is created to learn who answers does not replace the old one yet.
    if request.has("Upload-Metadata"), upload.location == nil { sentEnd = 0 }
    if case .tryingPost(_, let confirmed) = upload.state {
      require(count == 0 && request.value("Upload-Offset") == String(confirmed), "a trial with content, or elsewhere")
    } else if request.has("Upload-Offset") {
      require(request.value("Upload-Offset") == String(request.fileOffset), "another offset than the content's")
      let before = inFlight.last.map { $0.fileOffset + $0.contentLength } ?? upload.confirmed
      require(request.fileOffset == before, "a gap: \(request.fileOffset) behind \(before)")
      require(count > 0 || request.has("Upload-Length"), "a request for nothing")
    }
    sentEnd = max(sentEnd, end)
  }

  // MARK: Answers

  mutating func play(_ line: [UInt8], _ fields: [Field]) {
    let numbers = line.split(separator: 0x20).map { ASCII.decimal($0) }
    if line.first == UInt8(ascii: "!") {
      interrupt(arrived: numbers.dropFirst().first.flatMap { $0 } ?? 0)
    } else if let status = numbers.first.flatMap({ $0 }), status >= 200, status < 600 {
      let milliseconds = numbers.dropFirst().first.flatMap { $0 } ?? 0
      answer(Int(status), fields, min(milliseconds, Limits.timeoutMilliseconds))
    }
  }

  private mutating func interrupt(arrived: Int64) {
    let most = inFlight.reduce(0) { $0 + $1.contentLength }
    inFlight = []
    upload.interrupted(arrived: min(arrived, most))
  }

  private mutating func answer(_ status: Int, _ fields: [Field], _ milliseconds: Int64) {
    inFlight.removeFirst()
    do throws(TusError) {
      try upload.receive(status: status, fields: fields, afterMilliseconds: milliseconds)
      require(!upload.awaitsStored || !inFlight.isEmpty, "waits for an answer that will not come")
      // The rest is void once the upload is no longer where it was.
      if !upload.awaitsStored { inFlight = [] }
      if case .sending = upload.state {} else { require(inFlight.isEmpty, "waits for an answer that means nothing") }
      fruitlessAnswers += 1
    } catch {
      fruitlessAnswers = 0
      if case .notSupported = error, requiresTus { upload.assumeOffer() } else { interrupt(arrived: 0) }
    }
    checkProgress()
  }

  private mutating func checkProgress() {
    let acknowledged = upload.confirmed
    require(acknowledged <= sentEnd, "\(acknowledged) acknowledged of \(sentEnd) that were sent")
    if acknowledged > highestOffset { (highestOffset, fruitlessAnswers) = (acknowledged, 0) }
    require(fruitlessAnswers < 64, "continues without progress")
    require((upload.expires?.utf8.count ?? 0) <= Limits.uriLength, "a date without end")
    guard let location = upload.location else { return }
    require((try? TargetURI(location.text)) == location, "a location that cannot be kept")
  }
}

extension HTTPRequest {
  fileprivate var fileOffset: Int64 { body?.fileOffset ?? 0 }
  fileprivate func value(_ name: String) -> String? { fields.first(name) }
  fileprivate func has(_ name: String) -> Bool { value(name) != nil }
}
