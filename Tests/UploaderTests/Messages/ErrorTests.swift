import Foundation
import Testing

@testable import Uploader

/// What every error means and says, which is the text in `errors.txt`: those that mean the same stand together. `make transcripts UPDATE=1`
/// writes what it is now.
struct ErrorTests {
  private static let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "errors.txt")

  @Test func everyErrorHasTheTraitsAndTextsOfTheSnapshot() throws {
    var groups: [(meaning: String, blocks: [(names: [String], texts: String)])] = []
    for error in EveryError.samples {
      let (name, meaning) = (ErrorTests.name(of: error), ErrorTests.meaning(of: error))
      let texts = ErrorTests.texts(of: error)
      if !groups.contains(where: { $0.meaning == meaning }) { groups.append((meaning, [])) }
      let group = groups.firstIndex { $0.meaning == meaning }!
      if groups[group].blocks.last?.texts == texts {
        groups[group].blocks[groups[group].blocks.count - 1].names.append(name)
      } else {
        groups[group].blocks.append(([name], texts))
      }
    }
    let text = groups.map { meaning, blocks in
      "# " + meaning + "\n"
        + blocks.map { names, texts in
          // Codes of certificates and alerts come in rows.
          (names.count > 3 ? names[0] + "\n… " + names[names.count - 1] : names.joined(separator: "\n")) + "\n" + texts
        }.joined()
    }.joined(separator: "\n")
    let known = try String(contentsOf: ErrorTests.file, encoding: .utf8)
    guard text != known else { return }
    if ProcessInfo.processInfo.environment["UPDATE_TRANSCRIPTS"] != nil {
      return try text.write(to: ErrorTests.file, atomically: true, encoding: .utf8)
    }
    let lines = Set(known.split(separator: "\n"))
    let new = text.split(separator: "\n").filter { !lines.contains($0) }
    Issue.record("make transcripts UPDATE=1 shows what is different; new:\n\(new.joined(separator: "\n"))")
  }

  /// Without the names of types.
  private static func name(of error: UploadError) -> String {
    "\(error)".replacing(/UploadCore\.LocalPath\(bytes: [^)]*\)/, with: "path")
      .replacing(/(UploadCore|[A-Z][A-Za-z]*)\./, with: "")
  }

  private static func meaning(of error: UploadError) -> String {
    let traits = error.traits
    let meaning = [
      "exit \(error.exitCode(signal: 15))", "concerns the \(traits.concern)", "again: \(traits.reattempt)",
    ]
    let properties = [
      (traits.isTransient, "may pass"),
      (!traits.isTransient && error.mayPass(host: "hive", unixSeconds: 0), "often passes"),
      (error.isStrangers(host: "hive"), "may be another's response"), (traits.leavesPending, "can be resumed"),
      (traits.leavesOutcomeOpen, "may be done"), (traits.isUnreachable, "unreachable"), (traits.isSilence, "silence"),
    ]
    return (meaning + properties.filter { $0.0 }.map { $0.1 }).joined(separator: ", ")
  }

  /// Its problem, and its advice for both readers.
  private static func texts(of error: UploadError) -> String {
    var lines = [error.problem]
    let advice = (error.advice(for: .caller), error.advice(for: .commandLine))
    if advice.0 == advice.1 {
      lines += [advice.0].compactMap { $0 }
    } else {
      lines += [advice.0.map { "caller: " + $0 }, advice.1.map { "command line: " + $0 }].compactMap { $0 }
    }
    return lines.map { "  " + $0 + "\n" }.joined()
      .replacing(EventForm.today(), with: "TODAY").replacing(DurationText.moment(1_800_000_000), with: "THEN")
  }

  @Test func everyErrorHasWholeSentencesAndNoOptionForCallers() {
    for error in EveryError.samples {
      let message = error.message
      #expect(message.hasSuffix(".") || message.hasSuffix("?") || message.hasSuffix("!"), "\(error): \(message)")
      #expect(!message.contains("..") && !message.contains("  ") && message.count > 5, "\(error): \(message)")
      #expect(!message.contains("--") && !message.contains("gighive-upload"), "\(error): \(message)")
    }
  }

  @Test func theSamplesHaveEveryCase() {
    #expect(Set(EveryError.samples.map(EveryError.name)).count == EveryError.caseCount)
  }

  @Test func textsFromOutsideArePrintable() {
    let hostile = "a\u{1B}[2J\r\nb\u{202E}"
    let errors: [UploadError] = [
      .file(LocalPath(hostile), .missing), .form(.invalidEventDate(hostile)), .form(.unknownEventType(hostile)),
      .formData(.invalidMediaType(hostile)), .redirected(status: 302, location: hostile),
      .tls(.unusableFile(path: hostile, reason: "x"), host: "hive"), .tls(.unusablePin(hostile), host: "hive"),
    ]
    for error in errors {
      #expect(error.message.contains("a\u{FFFD}[2J b\u{FFFD}"), "\(error)")
      #expect(error.message.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x202E })
    }
  }

  @Test func anErrorOfPHPInPlaceOfTheProgramsAnswerIsQuoted() {
    let page = Array("<br />\n<b>Fatal error</b>:  Uncaught Error: no in <b>/a.php</b><br />\n".utf8)
    for (error, status) in [
      (UploadError.unconfirmed(status: 200), 200), (.refused(status: 500, message: "x"), 500),
      (.notFromServer(status: 200), 200),
    ] {
      let message = error.message(after: RedactedAnswer(Answer(status: status, content: page), Secrets()))
      #expect(message.hasPrefix("PHP failed (\(status)): Fatal error: Uncaught Error: no in /a.php."), "\(message)")
      #expect(message.contains("The upload is kept.") == (error == .notFromServer(status: 200)), "\(message)")
      #expect(message.hasSuffix("PHP's error log there says more."))
    }
    let other = UploadError.uploadLost.message(after: RedactedAnswer(Answer(status: 200, content: page), Secrets()))
    #expect(!other.contains("Fatal"))
  }
}
