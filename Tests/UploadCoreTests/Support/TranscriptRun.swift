import Foundation
import UploadCore

/// Plays a ``Transcript``: driver, server and clock in one. It knows the machine by its events and actions only, and shows how to drive it.
struct TranscriptRun {
  struct Failure: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
  }

  let setup: TranscriptSetup
  private let rules: [Transcript.Rule]
  private var script: ArraySlice<String>
  private var lines: [String] = []
  /// What was last read of the file to be sent.
  private var run: SentRun?
  private var inFlight: [HTTPRequest] = []
  private var milliseconds: Int64 = 0
  private var record: UploadRecord
  private var rereading = "same"
  /// Whether the file's status has changed.
  private var hasNewStatus = false
  /// What has been rewritten, by its offset.
  private var rewritten: Int64?
  private var lent: [LentPart] = []
  /// What the driver knows when a signal ends the upload.
  private var signal: LocalFacts?

  /// What was played, with what the machine did.
  static func play(_ transcript: Transcript, _ assignment: [(name: String, value: String)]) throws -> [String] {
    var run = try TranscriptRun(
      setup: TranscriptSetup(transcript.setup.filled(assignment)),
      rules: transcript.rules.map { $0.filled(assignment) },
      script: transcript.script.map { $0.filled(assignment) })
    try run.play()
    return run.lines
  }

  private init(setup: TranscriptSetup, rules: [Transcript.Rule], script: [String]) {
    (self.setup, self.rules, self.script) = (setup, rules, script[...])
    record = setup.record
  }

  private mutating func play() throws {
    var machine: UploadMachine
    do throws(UploadError) { machine = try setup.machine() } catch {
      lines.append("= refused: " + text(error))
      return
    }
    for _ in 0..<10_000 {
      switch machine.next(nowMilliseconds: milliseconds, unixSeconds: setup.bootedAtSeconds + milliseconds / 1000) {
      case .send(let request, let choice):
        lines.append((inFlight.isEmpty ? "> " : ">+ ") + text(request) + (choice == .fresh ? ", new connection" : ""))
        inFlight.append(request)
      case .await:
        if try takeEvent(&machine) { break }
        guard let request = inFlight.first else {
          throw Failure("the machine awaits an answer, and nothing is in flight")
        }
        guard let (sign, answer) = try nextAnswer(to: request) else {
          lines.append("= NO ANSWER")
          return
        }
        if let last = inFlight.last, last.announcesLastByte, answer.sent == .whole { announceLastByte(&machine) }
        lines.append(sign + " " + answer.text)
        milliseconds += answer.milliseconds
        machine.handle(answer.event)
        inFlight = machine.inFlightCount == 0 ? [] : Array(inFlight.dropFirst())
      case .hash(let range): try hash(range, &machine)
      case .awaitGrowth(let length): lines.append("= await growth" + (length < .max ? " to \(length)" : ""))
      case .awaitLent: lines.append("= await parts")
      case .save(let change): save(change)
      case .renewCredentials:
        lines.append("= renew credentials")
        machine.handle(.credentials(areNew: setup.findsNewCredentials))
      case .reportRetry(let retry):
        let pause = retry.delayMilliseconds / 1000
        lines.append("= retry \(retry.failures)\(pause < 8 ? "" : " after \(pause) s"): " + text(retry.error))
      case .reportWay(.tus): lines.append("= over tus")
      case .reportWay(.form): lines.append("= as a form")
      case .reportWay(.parts):
        lines.append("= in parts" + (machine.task.gainsByConnections ? ", over all connections" : ""))
      case .warn(.otherFile): lines.append("= another file")
      case .warn(.partsLeft(let targets, let fate)):
        let texts = targets.map { $0.text }.joined(separator: " ")
        lines.append(
          "= warn: parts left at \(texts)" + (fate == .recorded ? ", in the record" : fate == .kept ? ", for good" : "")
        )
      case .warn(.notJoined(let error)): lines.append("= warn: not joined: " + text(error))
      case .wait(let until):
        if try takeEvent(&machine) { break }
        milliseconds = max(milliseconds, until)
      case .finished(let outcome): return end(text(outcome))
      case .failed(let error):
        // As the driver does it.
        return end(machine.end(with: error, LocalFacts()))
      }
      if let facts = signal { return end(machine.end(with: .cancelled(hasSentAll: false), facts)) }
    }
    throw Failure("there is no end")
  }

  private mutating func end(_ end: UploadEnd) {
    record.unfinished?.apply(end) { _ in nil }
    self.end("failed: " + text(end.error.redacted(Secrets())), showsRecord: setup.keepsRecord)
  }

  private mutating func end(_ words: String, showsRecord: Bool = false) {
    lines.append("= " + words)
    if showsRecord { lines.append("= record: " + text(record)) }
    if !script.isEmpty { lines.append("= UNUSED: " + script.joined(separator: " | ")) }
  }

  // MARK: From outside

  private func isNext(_ sign: Character) -> Bool { script.first?.first == sign }

  /// Takes an event that is no answer, if one is next.
  private mutating func takeEvent(_ machine: inout UploadMachine) throws -> Bool {
    guard isNext("!"), let line = script.popFirst() else { return false }
    lines.append(line)
    let words = line.dropFirst(2)
    if words.hasPrefix("the status") { hasNewStatus = true }
    switch words {
    case "finish": machine.finish()
    case "it has grown": machine.handle(.grown(.enough))
    case "it has ended": machine.handle(.grown(.ended))
    case "it is removed": machine.handle(.grown(.removed))
    case "the status changes": machine.handle(.statusChanged(.whileReading))
    case _ where words.hasPrefix("the status changes, rewritten at "):
      rewritten = words.split(separator: " ").last.flatMap { Int64($0) }
      machine.handle(.statusChanged(.whileReading))
    case "the status has changed": machine.handle(.statusChanged(.beforeEnd(isDigested: true)))
    case "the status has changed, undigested": machine.handle(.statusChanged(.beforeEnd(isDigested: false)))
    case "the status changes after the end": machine.handle(.statusChanged(.afterEnd))
    case "the last byte is next": announceLastByte(&machine)
    case "out of memory": machine.handle(.failed(.outOfResources("memory")))
    case "the connection is lost":
      machine.handle(.interrupted(Interruption(.connectionLost(.sending, peer: "hive", nil), sent: .partial)))
      inFlight = []
    case "cancel": machine.handle(.failed(.cancelled(hasSentAll: false)))
    case "a signal": signal = LocalFacts()
    case "a signal after the last byte": signal = LocalFacts(hasSentAll: true)
    case "a signal, the status has changed": signal = LocalFacts(hasNewStatus: true)
    case "a signal after the last byte, the status has changed":
      signal = LocalFacts(hasSentAll: true, hasNewStatus: true)
    case "lend a part":
      guard let part = machine.lendPart() else {
        lines.append("= lends none")
        break
      }
      lent.append(part)
      lines.append("= lends part \(part.id.number), \(part.offset)-\(part.offset + part.length)")
    case _ where words.hasPrefix("part "):
      // `! part 3 is taken as c`, `! part 3 is begun as /files/3`, `! part 3 is not taken`.
      let parts = words.split(separator: " ")
      guard let part = lent.last(where: { String($0.id.number) == parts[1] }) else {
        throw Failure("not lent: \(line)")
      }
      if !machine.awaits(part.id) { lines.append("= is of no use") }
      let (tag, sha256) = (String(parts.last ?? ""), TranscriptSetup.sentChecksum)
      let progress: LentPart.Progress =
        switch parts[3] {
        case "not": .failed
        case "begun": .begun(tag: tag, sha256: sha256)
        default: .taken(tag: tag, sha256: sha256)
        }
      machine.handle(.lent(part.id, progress))
      if let change = machine.takeUnsaved() { save(change) }
    default:
      guard words.hasPrefix("reading finds ") else { throw Failure("unknown event: \(line)") }
      rereading = String(words.dropFirst("reading finds ".count))
    }
    return true
  }

  /// - Returns: also its sign: `<<` if a rule gives it.
  private mutating func nextAnswer(to request: HTTPRequest) throws -> (String, TranscriptAnswer)? {
    let rules = rules.filter { [request.method, "*"].contains($0.method) }
    if let rule = rules.first(where: \.isAlways) ?? (isNext("<") ? nil : rules.first) {
      return ("<<", try TranscriptAnswer(rule.answer, to: request, &run))
    }
    guard isNext("<"), let line = script.popFirst() else { return nil }
    return ("<", try TranscriptAnswer(String(line.dropFirst(2)), to: request, &run))
  }

  private mutating func announceLastByte(_ machine: inout UploadMachine) {
    machine.handle(.lastByteNext)
    while case .save(let change) = machine.next(
      nowMilliseconds: milliseconds, unixSeconds: setup.bootedAtSeconds + milliseconds / 1000)
    { save(change) }
  }

  private mutating func hash(_ range: HashRange, _ machine: inout UploadMachine) throws {
    defer { rereading = "same" }
    switch range {
    case .wholeFile:
      lines.append("= hash")
      if try takeEvent(&machine), lines.last?.hasPrefix("! reading") == false { return }
      machine.handle(
        .hashed(.wholeFile(sha256: setup.sha256, isStable: rereading != "changes", md5: TranscriptSetup.md5)))
    case .beginning(let length):
      lines.append("= hash 0-\(length)")
      _ = try takeEvent(&machine)
      let found = rereading == "other content" ? "cd" : setup.sha256
      machine.handle(.hashed(.beginning(sha256: found, isStable: rereading != "changes")))
    case .range(let algorithm, let offset, let length):
      lines.append("= \(algorithm) of \(offset)-\(offset + length)")
      if script.first == "! reading finds other content" { _ = try takeEvent(&machine) }
      let digest = rereading == "same" && offset != rewritten ? TranscriptSetup.digest : [0xBE, 0xEF, 0xCA, 0xFE]
      machine.handle(
        .hashed(.range(digest: digest, changed: hasNewStatus ? StatusTime(seconds: 1, nanoseconds: 0) : nil)))
    case .rangeAsSent(let offset, let length, let run):
      lines.append("= sha256 of \(offset)-\(offset + length), \(run.offset)-\(run.end) as sent")
      if script.first == "! reading finds other content" { _ = try takeEvent(&machine) }
      let isAsSent = run.sha256 == TranscriptSetup.sentChecksum && rereading == "same"
      let digest = isAsSent ? TranscriptSetup.digest : [0xBE, 0xEF, 0xCA, 0xFE]
      machine.handle(.hashed(.rangeAsSent(digest: digest, isAsSent: isAsSent)))
    case .wholeFileAgain:
      lines.append("= read again")
      if try takeEvent(&machine), lines.last == "! the connection is lost" { return }
      let now = rereading == "other content" ? "cd" : "ab"
      machine.handle(.hashed(.wholeFileAgain(sent: "ab", now: now, isStable: rereading != "changes")))
    }
  }

  private mutating func save(_ change: RecordChange) {
    let words = String(describing: change).prefix { $0 != "(" }
    lines.append("= save " + words)
    record.unfinished?.apply(change, size: setup.size)
  }
}
