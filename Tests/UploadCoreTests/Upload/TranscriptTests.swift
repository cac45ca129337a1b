import Foundation
import Testing
import UploadCore

/// The machine's conversations, which are files in `Tests/UploadCoreTests/Transcripts`. `make transcripts UPDATE=1` writes what the machine
/// does now into them.
struct TranscriptTests {
  @Test(arguments: Transcript.files)
  func theMachineSpeaksAsWritten(file: URL) throws {
    let transcripts = try Transcript.all(in: file)
    #expect(!transcripts.isEmpty)
    #expect(Set(transcripts.map(\.title)).count == transcripts.count, "a title is used twice")
    var bodies: [[String]] = []
    for transcript in transcripts {
      let runs = try transcript.assignments.map { try TranscriptRun.play(transcript, $0) }
      let problems = Set(runs.joined().filter { $0.hasPrefix("= UNUSED") || $0.hasPrefix("= NO ANSWER") })
      for problem in problems {
        Issue.record("\(transcript.testDescription): \(problem)\n\(runs[0].joined(separator: "\n"))")
      }
      let body = problems.isEmpty ? common(runs, of: transcript) : nil
      if let body, body != transcript.body {
        Issue.record("\(transcript.testDescription)\n\(difference(transcript.body, body))")
      }
      // What is not whole stays as it was written.
      bodies.append(body ?? transcript.body)
    }
    if ProcessInfo.processInfo.environment["UPDATE_TRANSCRIPTS"] != nil {
      try Transcript.text(of: transcripts, bodies: bodies).write(to: file, atomically: true, encoding: .utf8)
    }
  }

  /// The machine must do the same with all values. In the first one's place stands its name, wherever the others have theirs, too.
  /// - Returns: nil if it does not.
  private func common(_ runs: [[String]], of transcript: Transcript) -> [String]? {
    let assignments = transcript.assignments
    var script = transcript.script[...]
    var body: [String] = []
    for index in 0..<(runs.map(\.count).max() ?? 0) {
      let lines = runs.map { $0.indices.contains(index) ? $0[index] : "nothing" }
      // As it was written, with its variables; those of a rule were never written here.
      if let next = script.first, zip(assignments, lines).allSatisfy({ next.filled($0) == $1 }) {
        body.append(next)
        script = script.dropFirst()
        continue
      }
      let templates = [lines[0]] + assignments[0].map { lines[0].named($0.name, for: $0.value) }
      guard
        let template = templates.first(where: { template in
          zip(assignments, lines).allSatisfy { template.filled($0) == $1 }
        })
      else {
        let all = zip(assignments, lines).map { "\($0.map(\.value).joined(separator: ", ")): \($1)" }
        Issue.record("\(transcript.testDescription): the values differ after\n\(body.joined(separator: "\n"))\n\(all)")
        return nil
      }
      body.append(template)
    }
    return Transcript.folded(body)
  }

  private func difference(_ expected: [String], _ actual: [String]) -> String {
    let changes = actual.difference(from: expected)
    var lines = expected.map { "  " + $0 }
    for case .remove(let offset, _, _) in changes { lines[offset] = "- " + expected[offset] }
    var result: [String] = []
    var old = lines[...]
    for (index, line) in actual.enumerated() {
      while let first = old.first, first.hasPrefix("- ") {
        result.append(first)
        old = old.dropFirst()
      }
      let isNew = changes.insertions.contains { if case .insert(index, _, _) = $0 { true } else { false } }
      if isNew {
        result.append("+ " + line)
      } else if let first = old.popFirst() {
        result.append(first)
      }
    }
    return (result + old).joined(separator: "\n")
  }
}

extension String {
  /// With a name in place of a value where that stands by itself.
  fileprivate func named(_ name: String, for value: String) -> String {
    let pattern = "(?<![\\w/.])" + NSRegularExpression.escapedPattern(for: value) + "(?!\\w)"
    return replacingOccurrences(of: pattern, with: "{\(name)}", options: .regularExpression)
  }
}
