import UploadCore

/// A line between client and server, in virtual time.
struct SimulatedLink {
  let bytesPerMillisecond: Double
  let roundTripMilliseconds: Double
  /// Does a connection begin with ten segments a round trip, and double from there (RFC 5681, 3.1; RFC 6928)?
  var startsSlowly = true
  private var window = 0.0
  private var sentInRound = 0.0
  private var freeAt = 0.0

  init(megabitsPerSecond: Double, roundTripMilliseconds: Double, startsSlowly: Bool = true) {
    bytesPerMillisecond = megabitsPerSecond * 125
    self.roundTripMilliseconds = roundTripMilliseconds
    self.startsSlowly = startsSlowly
  }

  /// A new connection has been made.
  mutating func restart(at time: Double) {
    window = 10 * 1460
    sentInRound = 0
    freeAt = time
  }

  /// - Returns: when the last of the bytes has left the client.
  mutating func send(_ count: Int64, at time: Double) -> Double {
    var left = Double(count)
    var now = max(time, freeAt)
    let full = bytesPerMillisecond * roundTripMilliseconds
    while startsSlowly, window < full, left > 0 {
      let run = min(left, window - sentInRound)
      now += run / window * roundTripMilliseconds
      left -= run
      sentInRound += run
      guard sentInRound >= window else { break }
      window *= 2
      sentInRound = 0
    }
    freeAt = now + left / bytesPerMillisecond
    return freeAt
  }
}

/// A tus server with one upload, without bytes: it counts what it was sent.
struct SimulatedTusServer {
  enum Kind: Equatable {
    /// Stores what it gets as it comes, like tusd on its own.
    case streaming
    /// Has a proxy in front that takes a request whole before it passes it on, and drops one that is cut.
    case spooling
  }

  let kind: Kind
  let length: Int64
  var extensions = "creation"
  /// The proxy answers 413 to longer content.
  var contentLimit = Int64.max
  /// How fast the proxy passes requests on.
  var spoolBytesPerMillisecond = 125_000.0
  private(set) var offset: Int64 = 0
  private(set) var isCreated = false
  private(set) var knowsLength = false
  /// What a client did that no client may do.
  private(set) var violations: [String] = []

  init(_ kind: Kind, length: Int64) {
    self.kind = kind
    self.length = length
  }

  /// A request whose head says too much is refused on the spot.
  func refuses(_ request: HTTPRequest) -> Bool { request.contentLength > contentLimit }

  /// Takes a whole request.
  mutating func take(_ request: HTTPRequest) -> (status: Int, fields: [Field]) {
    if request.method != "OPTIONS", request.fields.first("Tus-Resumable") != "1.0.0" { return (412, []) }
    if refuses(request) { return (413, []) }
    switch request.method {
    case "OPTIONS": return (204, [Field("Tus-Version", "1.0.0"), Field("Tus-Extension", extensions)])
    case "POST":
      isCreated = true
      knowsLength = request.fields.first("Upload-Length") == String(length)
      offset = request.contentLength
      return (201, [Field("Location", "/files/1"), Field("Upload-Offset", String(offset))])
    case "HEAD":
      guard isCreated else { return (404, [Field("Tus-Resumable", "1.0.0")]) }
      let told = knowsLength ? Field("Upload-Length", String(length)) : Field("Upload-Defer-Length", "1")
      return (200, [Field("Upload-Offset", String(offset)), told])
    default: return store(request)
    }
  }

  private mutating func store(_ request: HTTPRequest) -> (status: Int, fields: [Field]) {
    guard accepts(request) else { return (409, []) }
    offset += request.contentLength
    return (204, [Field("Upload-Offset", String(offset))])
  }

  /// A request is cut behind so many bytes of its content.
  mutating func lose(_ request: HTTPRequest, after arrived: Int64) {
    guard kind == .streaming, !refuses(request), request.method == "PATCH", accepts(request) else { return }
    offset += arrived
  }

  private mutating func accepts(_ request: HTTPRequest) -> Bool {
    if request.fields.first("Upload-Offset") != String(request.fileOffset) || request.fileOffset != offset {
      violations.append("PATCH at \(request.fileOffset), the server is at \(offset)")
      return false
    }
    if let told = request.fields.first("Upload-Length") {
      if knowsLength || told != String(length) { violations.append("Upload-Length \(told) again") }
      knowsLength = true
    }
    return true
  }
}

/// An upload to a simulated server: what the session does in the product, in virtual time.
struct SimulatedUpload {
  private struct Flight {
    let request: HTTPRequest
    let sentAt: Double
    let answerAt: Double
    let answer: (status: Int, fields: [Field])
  }

  /// What one interruption cost, in bytes.
  struct Interruption: Equatable {
    /// What has to be sent again.
    var cost: Int64
    /// All requests under way, together.
    var underWay: Int64
    /// What had been stored without an interruption until then.
    var streamed: Int64
  }

  private(set) var server: SimulatedTusServer
  private(set) var upload: TusUpload
  private var link: SimulatedLink
  private var random: SeededGenerator
  /// How many connections break, and behind how many bytes at the most.
  private var breaks: Int
  private let breakWithin: Int64

  private(set) var milliseconds = 0.0
  private(set) var interruptions: [Interruption] = []
  /// The longest PATCH before the server had kept a part of one.
  private(set) var longestUnproved: Int64 = 0
  private(set) var mostUnderWay = 0
  private(set) var patches = 0
  private(set) var error: TusError?

  private var isConnected = false
  private var flights: [Flight] = []
  /// Bytes until the connection breaks.
  private var bytesLeft: Int64?
  private var sentEnd: Int64 = 0
  private var streamed: Int64 = 0
  private var pending: Interruption?
  private var hasKeptPart = false

  init(
    _ server: SimulatedTusServer, over link: SimulatedLink, breaks: Int = 0, breakWithin: Int64 = 1, seed: UInt64 = 0,
    options: TusUpload.Options = TusUpload.Options()
  ) throws {
    self.server = server
    self.link = link
    self.breaks = breaks
    self.breakWithin = breakWithin
    random = SeededGenerator(seed: seed)
    upload = try TusUpload(
      endpoint: TargetURI(sampleEndpoint), length: server.length, metadata: [], options: options)
  }

  /// Is the recording there, every byte of it once and in order?
  var isWhole: Bool {
    upload.state == .complete && server.offset == server.length && server.knowsLength && server.violations.isEmpty
  }

  /// Runs to the end.
  mutating func run() {
    for _ in 0..<100_000 {
      if !isConnected { connect() }
      if flights.isEmpty || upload.awaitsStored {
        switch upload.next() {
        case .ask(let request):
          send(request)
          continue
        case .complete, .gone, .checksum: return
        case .await: break
        }
      }
      receive()
      if error != nil { return }
    }
  }

  // MARK: The connection

  private mutating func connect() {
    // TCP and TLS 1.3.
    milliseconds += 2 * link.roundTripMilliseconds
    link.restart(at: milliseconds)
    isConnected = true
    flights = []
    bytesLeft = nil
    if breaks > 0 {
      breaks -= 1
      // Near and far alike: the exponent is what is even.
      let limit = Int64.random(in: 1...breakWithin, using: &random)
      bytesLeft = Int64.random(in: 0...limit, using: &random)
    }
  }

  private mutating func send(_ request: HTTPRequest) {
    let content = request.contentLength
    noteLength(of: request)
    let headLength: Int64 = 300
    if server.refuses(request) { return refuse(request, headLength) }
    if let left = bytesLeft, headLength + content > left {
      // Sometimes all of it arrives, and the answer is lost.
      let arrives = Int.random(in: 0..<4, using: &random) == 0 ? content : max(0, left - headLength)
      return interrupt(request, after: arrives)
    }
    if let left = bytesLeft { bytesLeft = left - headLength - content }
    let sentAt = link.send(headLength + content, at: milliseconds)
    let before = flights.last?.answerAt ?? 0
    let answer = server.take(request)
    let passedOn = server.kind == .spooling ? Double(content) / server.spoolBytesPerMillisecond : 0
    let answerAt = max(before, sentAt + link.roundTripMilliseconds + passedOn)
    flights.append(Flight(request: request, sentAt: sentAt, answerAt: answerAt, answer: answer))
    sentEnd = max(sentEnd, request.fileOffset + content)
    mostUnderWay = max(mostUnderWay, flights.count)
    milliseconds = sentAt
    receiveDue()
  }

  private mutating func noteLength(of request: HTTPRequest) {
    guard request.method == "PATCH" else { return }
    patches += 1
    if !hasKeptPart { longestUnproved = max(longestUnproved, request.contentLength) }
  }

  /// The head alone is enough to be refused, and the connection ends.
  private mutating func refuse(_ request: HTTPRequest, _ headLength: Int64) {
    milliseconds = link.send(headLength, at: milliseconds)
    receiveDue()
    milliseconds += link.roundTripMilliseconds
    receiveDue()
    // Should the answers to the requests before it still be missing, they come first.
    while !flights.isEmpty, isConnected { receive() }
    guard isConnected, error == nil else { return }
    tell(server.take(request), afterMilliseconds: link.roundTripMilliseconds)
    isConnected = false
  }

  /// The connection breaks.
  private mutating func interrupt(_ request: HTTPRequest, after arrived: Int64) {
    milliseconds = link.send(arrived, at: milliseconds)
    receiveDue()
    let isWhole = request.body != nil && arrived == request.contentLength
    if isWhole { _ = server.take(request) } else { server.lose(request, after: arrived) }
    if request.method == "PATCH" {
      sentEnd = max(sentEnd, request.fileOffset + arrived)
      let underWay = flights.reduce(request.contentLength) { $0 + $1.request.contentLength }
      pending = Interruption(cost: 0, underWay: underWay, streamed: streamed)
      if server.kind == .streaming, arrived > 0, !isWhole { hasKeptPart = true }
    }
    // What the other side's kernel has acknowledged by then.
    let unanswered = flights.reduce(arrived) { $0 + $1.request.contentLength }
    let inFlight = Int64(link.bytesPerMillisecond * link.roundTripMilliseconds)
    upload.interrupted(arrived: max(0, unanswered - Int64.random(in: 0...max(1, inFlight), using: &random)))
    isConnected = false
    // The pause before the next try.
    milliseconds += 1000
  }

  // MARK: Answers

  private mutating func receiveDue() {
    while let flight = flights.first, flight.answerAt <= milliseconds, error == nil, isConnected { receive() }
  }

  private mutating func receive() {
    guard !flights.isEmpty else { return }
    let flight = flights.removeFirst()
    milliseconds = max(milliseconds, flight.answerAt)
    tell(flight.answer, afterMilliseconds: flight.answerAt - flight.sentAt)
  }

  private mutating func tell(_ answer: (status: Int, fields: [Field]), afterMilliseconds time: Double) {
    let before = upload.acknowledged
    do throws(TusError) {
      try upload.receive(status: answer.status, fields: answer.fields, afterMilliseconds: Int64(time))
    } catch { self.error = error }
    if var interruption = pending, case .sending(let offset, _) = upload.state {
      interruption.cost = max(0, sentEnd - offset)
      interruptions.append(interruption)
      pending = nil
      streamed = 0
      sentEnd = offset
    } else if upload.acknowledged > before {
      streamed += upload.acknowledged - before
    }
    // Answers behind one that was not expected mean nothing.
    if !flights.isEmpty, !upload.awaitsStored { isConnected = false }
  }
}
