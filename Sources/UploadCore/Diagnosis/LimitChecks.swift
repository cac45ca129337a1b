/// How long requests may be. A server is told a length and asked whether it wants the content (`Expect: 100-continue`), which is
/// never sent.
package struct LimitChecks: Sendable {
  package enum Kind: Sendable {
    /// A recording as one form.
    case form
    /// A part of a recording, over tus.
    case patch
  }

  private enum Opinion: Equatable {
    case wanted
    case refused
    /// The server does not say without the content.
    case silent
    /// It refuses for a reason other than the length.
    case otherwise
  }

  private let kind: Kind
  /// Requests of this length must pass, in bytes; longer ones can be avoided.
  private let needed: Int64
  /// Whether no other check has shown that the endpoint accepts requests.
  private let isOnlyCheck: Bool
  /// The greatest length that passes.
  private var passed: Int64?
  /// The check's result, once it needs no further length.
  package private(set) var finding: Finding?

  package init(_ kind: Kind, needed: Int64, isOnlyCheck: Bool) {
    self.kind = kind
    self.needed = needed
    self.isOnlyCheck = isOnlyCheck
  }

  /// Notes the server's opinion on a length. Lengths must grow.
  package mutating func add(_ result: ProbeResult, of length: Int64) {
    switch opinion(result) {
    case .wanted: passed = length
    case .silent:
      end(.notExamined("the server does not say whether it accepts " + text(length) + " before it has the content"))
    case .otherwise:
      if let error = result.error, isOnlyCheck || result.answer == nil || error.isServersFailure {
        end(.failure(error, about: text(length), answer: result.shown))
      } else {
        let status = result.answer.map { " (" + String($0.status) + ")" } ?? ""
        end(.notExamined("the server refuses for a reason other than the length" + status))
      }
    case .refused: refuse(result, length)
    }
  }

  /// No further length will be examined.
  package mutating func finish() {
    if finding == nil, let passed {
      end(.ok(text(passed) + " passes the checks that the server makes before the content"))
    }
  }

  private mutating func end(_ result: Finding.Result) {
    finding = Finding(kind == .form ? .formLimit : .requestLimit, result)
  }

  private func opinion(_ result: ProbeResult) -> Opinion {
    guard let answer = result.answer else {
      return result.isContinued ? .wanted : result.error == nil ? .silent : .otherwise
    }
    if answer.status == 413 { return .refused }
    if answer.status == 417 { return .silent }
    // The upload does not exist, which is what a tus server should say.
    if kind == .patch, answer.fields.first("Tus-Resumable") != nil || [404, 410].contains(answer.status) {
      return .wanted
    }
    if result.shown?.author == .gigHive, answer.status == 400 { return .wanted }
    // A shorter one passed.
    return passed != nil && answer.status >= 400 ? .refused : .otherwise
  }

  private mutating func refuse(_ result: ProbeResult, _ length: Int64) {
    let error = result.error ?? .refused(status: 413, message: "")
    let shorter = passed.map { " (" + SizeText.short($0) + " passes)" } ?? ""
    let about = text(length) + shorter
    if length <= needed { return end(.failure(error, about: about, answer: result.shown)) }
    let author = result.shown?.author.name ?? "the server"
    let status = result.answer.map { " (" + String($0.status) + ")" } ?? ""
    let consequence =
      switch kind {
      case .form: "; longer recordings must go over tus"
      case .patch: "; uploads halve their requests until they pass"
      }
    end(
      .warning(author + " refuses " + text(length) + status + shorter + consequence + ".", remedy: result.shown?.remedy)
    )
  }

  /// "a form of 100.0 MB"
  private func text(_ length: Int64) -> String {
    (kind == .form ? "a form of " : "a tus request of ") + SizeText.short(length)
  }
}

extension UploadError {
  /// Whether no request would succeed, whatever its length.
  fileprivate var isServersFailure: Bool {
    switch self {
    case .refused(let status, _): status >= 500
    case .redirected, .redirectionRefused: true
    default: false
    }
  }
}
