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
  /// Whether the recording goes another way, and does not fail because of what is found here.
  private let isAvoided: Bool
  /// Whether forms that are too long can go over tus instead.
  private let hasTus: Bool
  /// The greatest length that passes.
  private var passed: Int64?
  /// Whether PATCH was refused whatever its length, so that ``addOverride(_:)`` can say more.
  package private(set) var isMethodRefused = false
  /// The length that Apache has refused (413), so that ``addWithoutCredentials(_:)`` can say more; nil for none.
  package private(set) var refusedByApache: Int64?
  /// The check's result, once it needs no further length.
  package private(set) var finding: Finding?

  package init(_ kind: Kind, needed: Int64, isOnlyCheck: Bool, isAvoided: Bool = false, hasTus: Bool = false) {
    self.kind = kind
    self.needed = needed
    self.isOnlyCheck = isOnlyCheck
    self.isAvoided = isAvoided
    self.hasTus = hasTus
  }

  /// Notes the server's opinion on a length. Lengths must grow.
  package mutating func add(_ result: ProbeResult, of length: Int64) {
    switch opinion(result) {
    case .wanted: passed = length
    case .silent:
      end(.notExamined("the server does not say whether it accepts " + text(length) + " before it has the content"))
    case .otherwise:
      if let error = refusalOfPatch(result) {
        isMethodRefused = [403, 405, 501].contains(result.answer?.status)
        fail(error, result, length)
      } else if let error = result.error, isOnlyCheck || result.answer == nil || error.isServersFailure {
        fail(error, result, length)
      } else {
        let status = result.answer.map { " (" + String($0.status) + ")" } ?? ""
        end(.notExamined("the server refuses for a reason other than the length" + status))
      }
    case .refused: refuse(result, length)
    }
  }

  /// Notes the response to the same request as a POST with `X-HTTP-Method-Override`, after PATCH was refused.
  package mutating func addOverride(_ result: ProbeResult) {
    guard opinion(result) == .wanted, case .failure(_, _, let answer, _) = finding?.result else { return }
    let status = answer.map { " (" + String($0.status) + ")" } ?? ""
    end(
      .warning(
        "PATCH is refused" + status + "; uploads send it as a POST, which gets through.",
        remedy: "Let PATCH through. method-override = yes in the configuration saves the attempt."))
  }

  /// Notes the response to the same request without credentials, which the server demands of a short one.
  package mutating func addWithoutCredentials(_ result: ProbeResult) {
    guard let answer = result.answer,
      let remedy = LikelySoftware.limitOfApache(withoutCredentials: answer.status)
    else { return }
    replaceRemedy(remedy)
  }

  private mutating func replaceRemedy(_ remedy: String) {
    switch finding?.result {
    case .failure(let error, let about, let answer, _):
      end(.failure(error, about: about, answer: answer, remedy: remedy))
    case .warning(let text, _): end(.warning(text, remedy: remedy))
    case .ok, .notExamined, nil: break
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
    if kind == .patch, answer.status == 412 { return .otherwise }
    // The upload does not exist, which is what a tus server should say.
    if kind == .patch, answer.fields.first("Tus-Resumable") != nil || [404, 410].contains(answer.status) {
      return .wanted
    }
    if result.shown?.software == .gigHive, answer.status == 400 { return .wanted }
    // A shorter one passed.
    return passed != nil && answer.status >= 400 ? .refused : .otherwise
  }

  /// A refusal of any PATCH, as an upload reports it; nil if this is none.
  private func refusalOfPatch(_ result: ProbeResult) -> UploadError? {
    guard kind == .patch, let answer = result.answer else { return nil }
    return switch answer.status {
    case 401, 403: result.error
    case 405, 501: .tus(.refused(method: "PATCH", status: answer.status))
    case 412: .tus(.versionNotSupported(offered: answer.fields.offeredTusVersions))
    default: nil
    }
  }

  private mutating func fail(_ error: UploadError, _ result: ProbeResult, _ length: Int64) {
    guard isAvoided else { return end(.failure(error, about: text(length), answer: result.shown)) }
    let problem = result.answer == nil ? "no response to " + text(length) : refusal(result, length)
    end(.warning(problem + "; recordings that go over tus would fail.", remedy: result.shown?.remedy))
  }

  private mutating func refuse(_ result: ProbeResult, _ length: Int64) {
    let error = result.error ?? .refused(status: 413, message: "")
    if result.answer?.status == 413, result.shown?.software == .apache { refusedByApache = length }
    let shorter = passed.map { " (" + SizeText.short($0) + " passes)" } ?? ""
    // An upload that gets a 413 goes over tus.
    let goesOverTus = hasTus && result.answer?.status == 413
    if length <= needed, !isAvoided, !goesOverTus {
      return end(
        .failure(error, about: text(length) + shorter, answer: result.shown, remedy: result.remedyOfUnknownLimit))
    }
    let consequence =
      switch kind {
      case .form where goesOverTus && length <= needed:
        "; longer recordings must go over tus (--protocol tus, or a lower --threshold)"
      // Only GigHive has tus as well.
      case .form: isOnlyCheck ? "; longer recordings would be refused" : "; longer recordings must go over tus"
      case .patch where length <= needed: "; recordings that go over tus would fail"
      case .patch: "; uploads halve their requests until they pass"
      }
    end(
      .warning(
        refusal(result, length) + shorter + consequence + ".",
        remedy: result.shown?.remedy ?? result.remedyOfUnknownLimit))
  }

  /// "nginx refuses a form of 100.0 MB (413)"
  private func refusal(_ result: ProbeResult, _ length: Int64) -> String {
    let name = result.shown?.software.name ?? "the server"
    let status = result.answer.map { " (" + String($0.status) + ")" } ?? ""
    return name + " refuses " + text(length) + status
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

/// Whether a server accepts content that it has received.
package enum FormTestCheck {
  /// - Parameters:
  ///   - result: the response to a form that lacks its label, so that GigHive refuses it once it has read everything.
  ///   - length: the length of the file in it.
  package static func form(_ result: ProbeResult, length: Int64) -> Finding {
    let about = "a form of " + SizeText.short(length)
    guard let answer = result.answer else {
      return Finding(
        .contentLimit,
        .failure(
          result.error ?? .unconfirmed(status: 0), about: about + ", after " + SizeText.exact(result.arrivedLength)))
    }
    let isGigHives = result.shown?.software == .gigHive
    if isGigHives, answer.status == 400 || answer.status == 409 {
      let rate = SizeText.rate(bytes: length, milliseconds: result.contentMilliseconds)
      return Finding(
        .contentLimit,
        .ok("GigHive has received " + about + ", at " + rate + ", and stored nothing: the form has no label"))
    }
    if isGigHives, answer.isSuccess {
      return Finding(.contentLimit, .ok("GigHive has received " + about + ", and stored it, although it has no label"))
    }
    return Finding(
      .contentLimit,
      .failure(
        result.error ?? .unconfirmed(status: answer.status), about: about, answer: result.shown,
        remedy: result.remedyOfUnknownLimit))
  }
}
