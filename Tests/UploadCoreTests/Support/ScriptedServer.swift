import Testing
import UploadCore

/// Runs an ``UploadMachine`` to its end, in virtual time and without a socket, as driver and server in one.
///
/// It shows how to use the machine: `next` returns an action, and `handle` takes the resulting event. A script has the response to
/// each request, and a log records all actions.
///
///     var server = ScriptedServer([.status(503), .status(201, content: GigHive.created)])
///     let end = server.run(try UploadMachine(.upload(plan), policy))
///     #expect(end == .finished(…) && server.log == ["POST /upload", "wait", "POST /upload"])
struct ScriptedServer {
  /// The outcome of a request.
  enum Reply {
    case answer(Answer)
    case interruption(Interruption)

    /// How much of the request's content was sent.
    var sent: ContentSent {
      switch self {
      case .answer(let answer): answer.sent
      case .interruption(let interruption): interruption.sent
      }
    }

    static func status(
      _ status: Int, _ fields: KeyValuePairs<String, String> = [:], content: String = "", sent: ContentSent = .whole,
      afterMilliseconds: Int64 = 0
    ) -> Reply {
      .answer(
        Answer(
          status: status, fields: fields.map { Field($0.key, $0.value) }, content: bytes(content), sent: sent,
          afterMilliseconds: afterMilliseconds))
    }

    /// The connection is lost.
    static func lost(
      _ sent: ContentSent = .whole, arrived: Int64 = 0, staleness: Interruption.Staleness = .fresh
    ) -> Reply {
      .interruption(
        Interruption(
          .connectionLost(.awaitingConfirmation, peer: "hive", nil), sent: sent, arrived: arrived,
          staleness: staleness))
    }
  }

  /// The outcome of an upload.
  enum End: Equatable {
    case finished(Outcome)
    case failed(UploadError)

    var isFailure: Bool {
      if case .failed = self { true } else { false }
    }
  }

  /// Answers the oldest request in flight; nil if the script does not cover it.
  private let answer: (HTTPRequest) -> Reply?
  private let hasMore: () -> Bool
  /// The SHA-256 of the file, whichever it is.
  var sha256 = GigHive.sha256
  /// The result of reading the credentials again.
  var hasNewCredentials = false
  private(set) var record = UploadRecord.sample(identity(size: 1 << 40))

  /// Requests, saved changes, hashes and delays, in order.
  private(set) var log: [String] = []
  private(set) var requests: [HTTPRequest] = []
  private(set) var choices: [ConnectionChoice] = []
  private(set) var retries: [Retry] = []
  private(set) var milliseconds: Int64 = 0
  /// After this line of the log, the upload is to end where little is lost.
  var finishesAfter: String?
  /// When the clock showed 0 milliseconds, in seconds since 1970.
  var bootedAtSeconds: Int64 = 1_800_000_000

  /// A server that answers request by request. All responses must be used.
  init(_ replies: [Reply]) {
    var left = replies[...]
    answer = { _ in left.popFirst() }
    hasMore = { !left.isEmpty }
  }

  /// A server that computes its responses from the requests.
  init(answering answer: @escaping (HTTPRequest) -> Reply) {
    self.answer = { answer($0) }
    hasMore = { false }
  }

  /// A tus server that creates uploads, and answers HEAD and PATCH like this.
  static func tus(head: @escaping () -> Reply, patch: @escaping (HTTPRequest) -> Reply) -> ScriptedServer {
    ScriptedServer { request in
      switch request.method {
      case "OPTIONS": .offer
      case "POST": .created
      case "HEAD": head()
      default: patch(request)
      }
    }
  }

  /// Carries out the machine's actions until it ends.
  mutating func run(_ machine: UploadMachine, sourceLocation: SourceLocation = #_sourceLocation) -> End? {
    var machine = machine
    var inFlight: [HTTPRequest] = []
    for _ in 0..<100_000 {
      if finishesAfter != nil, log.last == finishesAfter {
        finishesAfter = nil
        machine.finish()
      }
      switch next(&machine) {
      case .send(let request, let choice):
        note(request, choice, isBehind: !inFlight.isEmpty)
        inFlight.append(request)
      case .await:
        // Everything that can be sent was sent, so the oldest request is answered.
        guard !inFlight.isEmpty, let reply = answer(inFlight[0]) else {
          Issue.record("the script has nothing for \(log.last ?? "the machine")", sourceLocation: sourceLocation)
          return nil
        }
        if let last = inFlight.last, last.announcesLastByte, reply.sent == .whole { announceLastByte(&machine) }
        machine.handle(event(reply))
        inFlight = machine.inFlightCount == 0 ? [] : Array(inFlight.dropFirst())
      case .hash(.wholeFile):
        log.append("hash")
        machine.handle(.hashed(.wholeFile(sha256: sha256)))
      case .hash(.beginning(let length)):
        log.append("hash 0..<\(length)")
        machine.handle(.hashed(.beginning(sha256: sha256)))
      case .hash(.range(let algorithm, let offset, let length)):
        log.append("\(algorithm) \(offset)..<\(offset + length)")
        machine.handle(.hashed(.range(checksum: "3q2+7w==")))
      case .hash(.wholeFileAgain):
        Issue.record("nothing has touched the file", sourceLocation: sourceLocation)
        return nil
      case .save(let change): save(change)
      case .renewCredentials:
        log.append("renew credentials")
        machine.handle(.credentials(areNew: hasNewCredentials))
      case .reportRetry(let retry): retries.append(retry)
      case .reportFallback(let other): log.append(other == .tus ? "over tus" : "as a form")
      case .reportOtherFile: log.append("another file")
      case .wait(let until):
        log.append("wait")
        milliseconds = max(milliseconds, until)
      case .finished(let outcome): return end(.finished(outcome), sourceLocation)
      case .failed(let error):
        // As the driver throws it.
        return end(.failed(error.redacted(Secrets())), sourceLocation)
      }
    }
    Issue.record("no end", sourceLocation: sourceLocation)
    return nil
  }

  private func end(_ end: End, _ sourceLocation: SourceLocation) -> End {
    if hasMore() { Issue.record("ended before the script did: \(end), \(log)", sourceLocation: sourceLocation) }
    return end
  }

  /// The last byte of the request is about to be sent.
  private mutating func announceLastByte(_ machine: inout UploadMachine) {
    machine.handle(.lastByteNext)
    while case .save(let change) = next(&machine) { save(change) }
  }

  private func next(_ machine: inout UploadMachine) -> UploadAction {
    machine.next(nowMilliseconds: milliseconds, unixSeconds: bootedAtSeconds + milliseconds / 1000)
  }

  private mutating func save(_ change: RecordChange) {
    log.append("save " + String(describing: change).prefix { $0 != "(" })
    let size = record.file.identity.size
    record.unfinished?.apply(change, size: size)
  }

  private mutating func event(_ reply: Reply) -> UploadEvent {
    switch reply {
    case .answer(let answer):
      milliseconds += answer.afterMilliseconds
      return .answered(answer)
    case .interruption(let interruption): return .interrupted(interruption)
    }
  }

  /// For example `PATCH /files/1 0..<100`, with `+` before a pipelined request.
  private mutating func note(_ request: HTTPRequest, _ choice: ConnectionChoice, isBehind: Bool) {
    requests.append(request)
    choices.append(choice)
    let origin = "https://hive"
    let target = request.target.text
    var line = (isBehind ? "+" : "") + request.method + " "
    line += target.hasPrefix(origin) ? String(target.dropFirst(origin.count)) : target
    if let body = request.body, body.fileLength > 0 {
      line += " \(body.fileOffset)..<\(body.fileOffset + body.fileLength)"
    }
    log.append(line)
  }
}

/// The responses of a tus server.
extension ScriptedServer.Reply {
  static let offer = status(204, ["Tus-Resumable": "1.0.0", "Tus-Version": "1.0.0"])
  static let created = created(afterMilliseconds: 0)
  static let gone = status(404, ["Tus-Resumable": "1.0.0"])

  static func created(afterMilliseconds milliseconds: Int64) -> ScriptedServer.Reply {
    status(201, ["Tus-Resumable": "1.0.0", "Location": "1"], afterMilliseconds: milliseconds)
  }

  /// To HEAD or PATCH: the server has this much of the upload.
  static func has(_ offset: Int64, sent: ContentSent = .whole) -> ScriptedServer.Reply {
    status(204, ["Tus-Resumable": "1.0.0", "Upload-Offset": String(offset)], sent: sent)
  }
}

/// GigHive's responses.
enum GigHive {
  static let sha256 = String(repeating: "ab", count: 32)
  static let created = created(checksum: sha256, size: 100)
  static let uploadUnknown = #"{"error":"Bad Request","message":"Upload not found"}"#
  static let tokenKnown = #"{"error":"Bad Request","message":"Missing or invalid upload_id"}"#
  static let tokenUnknown = #"{"error":"Not Found","message":"Invalid or expired upload token"}"#
  static let page = "<html><body>Who are you?</body></html>"
  static let loginPage = #"<html><form action="/login"><input type="password" name="p"></form></html>"#

  static func created(checksum: String, size: Int64) -> String {
    #"{"asset_id":9,"size_bytes":\#(size),"checksum_sha256":"\#(checksum)","delete_token":"5ec2e7"}"#
  }

  /// The receipt for ``created``.
  static func delivered(resumedFrom: Int64 = 0) -> ScriptedServer.End {
    var receipt = Receipt()
    (receipt.assetID, receipt.isChecksumVerified, receipt.deleteToken) = (9, true, "5ec2e7")
    return .finished(.delivered(receipt, SentFile(size: 100, sha256: sha256), resumedFrom: resumedFrom))
  }
}

/// A delivery to an endpoint that confirms nothing.
func deliveredPlainly(size: Int64 = 100, resumedFrom: Int64 = 0) -> ScriptedServer.End {
  .finished(.delivered(Receipt(), SentFile(size: size, sha256: nil), resumedFrom: resumedFrom))
}

extension UploadMachine {
  /// For tests in which the time of day does not matter.
  mutating func next(nowMilliseconds: Int64) -> UploadAction { next(nowMilliseconds: nowMilliseconds, unixSeconds: 0) }

  /// A machine for the file `set.wav`, with two retries.
  static func upload(
    to destination: Destination, size: Int64 = 100, previous: UploadPlan.PreviousState = UploadPlan.PreviousState(),
    superseded: TargetURI? = nil, isGuest: Bool = false, verifiesCertificate: Bool = true,
    policy configurePolicy: (inout UploadPolicy) -> Void = { _ in },
    configure: (inout UploadRequest) -> Void = { _ in }
  ) throws -> UploadMachine {
    var request = UploadRequest(file: LocalPath("/set.wav"), destination: destination)
    configure(&request)
    let plan = UploadPlan(
      request, size: size, previous: previous, superseded: superseded, isGuest: isGuest,
      verifiesCertificate: verifiesCertificate, boundary: Boundary(random: [UInt8](repeating: 7, count: 16)))
    return try UploadMachine(.upload(plan), policy(configurePolicy))
  }

  static func cancel(_ location: String = "https://hive/files/1") throws -> UploadMachine {
    try UploadMachine(.cancel(TargetURI(location), overridesMethod: false), policy())
  }

  static func delete(isRepeated: Bool = false) throws -> UploadMachine {
    try UploadMachine(
      .delete(assetID: 9, deleteToken: "5ec2e7", from: TargetURI("https://hive/"), isRepeated: isRepeated), policy())
  }

  static func policy(_ configure: (inout UploadPolicy) -> Void = { _ in }) -> UploadPolicy {
    var policy = UploadPolicy(retries: RetryPolicy(.failures(2), maximumDelayMilliseconds: 8000), seed: 7)
    configure(&policy)
    return policy
  }
}

extension Destination {
  static var plain: Destination { get throws { .multipart(try TargetURI("https://hive/upload")) } }
  static var plainWithoutTLS: Destination { get throws { .multipart(try TargetURI("http://hive/upload")) } }
  static var tusServer: Destination { get throws { .tus(try TargetURI("https://hive/files/")) } }
  static var gigHive: Destination {
    get throws {
      var form = EventForm()
      (form.label, form.eventDate) = ("Set 1", "2026-05-01")
      return .gigHive(try TargetURI("https://hive/"), form)
    }
  }
}

extension UploadPlan.PreviousState {
  /// An upload that an earlier process started.
  static func at(
    _ location: String = "https://hive/files/1", offset: Int64 = 0, isUploaded: Bool = false,
    lastByteMayBeSent: Bool = false
  ) throws -> UploadPlan.PreviousState {
    var previous = UploadPlan.PreviousState()
    previous.location = try TargetURI(location)
    (previous.offset, previous.isUploaded, previous.lastByteMayBeSent) = (offset, isUploaded, lastByteMayBeSent)
    return previous
  }
}
