import CShims
import Uploader

/// The results of a diagnosis, each of which is written at once.
final class Findings {
  private let report: Report
  private var counts: (ok: Int64, warnings: Int64, failures: Int64, notExamined: Int64) = (0, 0, 0, 0)
  /// That of the first failure, or 0.
  private(set) var exitCode = ExitCode.delivered

  init(_ report: Report) { self.report = report }

  func add(_ finding: Finding) {
    switch finding.result {
    case .ok(let meaning):
      counts.ok += 1
      write(finding, "ok", meaning, remedy: nil, code: ExitCode.delivered)
    case .warning(let meaning, let remedy):
      counts.warnings += 1
      write(finding, "warning", meaning, remedy: remedy, code: ExitCode.delivered)
    case .notExamined(let reason):
      counts.notExamined += 1
      write(finding, "not_examined", "not examined: " + reason, remedy: nil, code: ExitCode.delivered)
    case .failure(let error, let about, let answer, let remedy):
      // An interruption is no finding.
      if case .cancelled = error { return }
      counts.failures += 1
      let code = error.exitCode()
      if exitCode == ExitCode.delivered { exitCode = code }
      let problem = Findings.problem(of: error, answer, remedy)
      write(
        finding, "failure", (about.isEmpty ? "" : about + ": ") + problem,
        remedy: remedy ?? answer?.commandRemedy ?? Findings.remedy(of: error), code: code, answer: answer)
    }
  }

  /// A diagnosis sends no file field of another name.
  private static func remedy(of error: UploadError) -> String? {
    if case .refused = error { return nil }
    return error.commandRemedy
  }

  private static let quoted: [LikelySoftware] = [.gigHive, .php, .phpError, .tus, .unknown]

  /// What failed. The text of a known program's page is left out: its remedy says more.
  private static func problem(of error: UploadError, _ answer: RedactedAnswer?, _ remedy: String?) -> String {
    guard let answer, let known = remedy ?? answer.remedy else { return error.problem(after: answer) }
    var error = error
    if case .refused(let status, _) = error, known == answer.remedy, !quoted.contains(answer.software) {
      error = .refused(status: status, message: "")
    }
    // The remedy says what to do, except about limits.
    return error.problem(by: answer) ?? (answer.status == 413 ? error.problem : error.problemWithoutAdvice)
  }

  private func write(
    _ finding: Finding, _ result: String, _ meaning: String, remedy: String?, code: Int32, answer: RedactedAnswer? = nil
  ) {
    if report.isJSON {
      var line = report.event("check", recordID: nil, file: nil)
      line.add("check", finding.check.rawValue)
      line.add("result", result)
      line.add("message", meaning)
      if let remedy { line.add("remedy", remedy) }
      if let answer { line.add(answer: answer) }
      line.add("exit_code", Int64(code))
      return Console.out(line.finished())
    }
    if report.isQuiet, result == "ok" || result == "not_examined" { return }
    let word = result == "failure" ? "FAIL " : result == "warning" ? "warn " : result == "ok" ? "ok   " : "-    "
    Console.out(word + meaning + (remedy.map { "\n     " + $0 } ?? ""))
  }

  func summarize() {
    if report.isJSON {
      var line = report.event("diagnosis", recordID: nil, file: nil)
      line.add("ok_count", counts.ok)
      line.add("warning_count", counts.warnings)
      line.add("failure_count", counts.failures)
      line.add("not_examined_count", counts.notExamined)
      line.add("exit_code", Int64(exitCode))
      return Console.out(line.finished())
    }
    func number(_ count: Int64, _ word: String) -> String { String(count) + " " + word + (count == 1 ? "" : "s") }
    let outcome =
      counts.failures == 0
      ? "no problem found"
      : number(counts.failures, "failure") + ": uploads would end with exit code " + String(exitCode)
    report.say("\n" + outcome + (counts.warnings == 0 ? "." : "; " + number(counts.warnings, "warning") + "."))
  }
}
