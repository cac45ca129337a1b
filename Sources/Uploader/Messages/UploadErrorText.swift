import CShims
import UploadCore

/// The text of each error: what failed, with which value, and what to do about it.
extension UploadError {
  /// One or more sentences for a person. Text from outside is made printable, and secrets are redacted.
  public var message: String { message(after: nil) }

  /// The same, with the software that wrote the response that led to the error and what to do there.
  /// - Parameter answer: that response; nil if there was none.
  public func message(after answer: RedactedAnswer?) -> String {
    let problem = problem(after: answer)
    guard let advice = advice(for: .caller), !isExplained(by: answer) else { return problem }
    return problem + " " + advice
  }

  /// Whether general advice, which is about forms, would only be misleading: the response names the responsible setting, or answers
  /// something else.
  package func isExplained(by answer: RedactedAnswer?) -> Bool {
    switch self {
    case .refused, .formDropped: break
    default: return false
    }
    guard let answer else { return false }
    if answer.request == .other { return true }
    guard answer.remedy != nil else { return false }
    // With a wrong name of the file's field, PHP's answer is the same.
    return answer.software != .php
  }

  /// ``problem`` with the software that wrote the response that led to it, and what to do there.
  package func problem(after answer: RedactedAnswer?) -> String {
    if case .mayBeStored(let cause) = self {
      let unclear = answer.flatMap { cause.failureOfPHP($0) } ?? cause.unclearPage
      return (unclear ?? cause.statement(after: answer)) + " " + UploadError.mayBeStoredElsewhereText
    }
    return statement(after: answer) + remark
  }

  private func statement(after answer: RedactedAnswer?) -> String {
    if let answer, let scheme = answer.otherScheme, case .refused(401, let message) = self {
      return UploadError.refusal(401, message, by: answer.software.name ?? "the server") + " It wants "
        + scheme + " authentication, and this program has only Basic and Bearer."
    }
    if let answer, answer.lacksCredentials, case .refused(401, let message) = self {
      return UploadError.refusal(401, message, by: answer.software.name ?? "the server") + " No credentials were given."
    }
    guard let answer, let remedy = answer.remedy, let problem = problem(by: answer) else { return statement }
    return problem + " " + remedy
  }

  /// ``problem`` with the software that wrote the response; nil if the response says nothing about the error.
  package func problem(by answer: RedactedAnswer) -> String? {
    guard let name = answer.software.name else {
      guard case .refused(answer.status, let message) = self else { return nil }
      return UploadError.refusal(answer.status, message, by: "the server")
    }
    if let failure = failureOfPHP(answer) { return failure }
    switch self {
    case .refused(let status, _) where status == answer.status && answer.software == .loginPage:
      return name + " answered instead of the server (" + String(status) + ")."
    case .refused(let status, let message) where status == answer.status, .formDropped(let status, let message, _):
      return UploadError.refusal(status, message, by: name)
    case .redirected(let status, let location) where answer.software.isLogin:
      return "the request was redirected (" + String(status) + ") to "
        + PrintableText.line(PrintableText.withoutSecrets(location)) + ", a login page."
        + (answer.software == .loginPage ? "" : " It is that of " + name + ".")
    case .redirectionRefused(_, .loginPage): return problem
    case .notFromServer, .unconfirmed, .prematureSuccess, .redirected, .redirectionRefused, .tus:
      return problem + " The response is " + (answer.software == .loginPage ? "" : "from ") + name + "."
    default: return nil
    }
  }

  /// What PHP says in place of the program that it ended; nil if the error is about something else.
  private func failureOfPHP(_ answer: RedactedAnswer) -> String? {
    guard let text = answer.phpError else { return nil }
    let failure = "PHP failed (" + String(answer.status) + "): " + UploadError.sentence(text)
    switch self {
    case .refused(answer.status, _), .unconfirmed(answer.status): return failure
    case .notFromServer(answer.status): return failure + " The upload is kept."
    default: return nil
    }
  }

  /// ``problem`` without what to do about a refusal, for callers that say it better.
  package var problemWithoutAdvice: String {
    if case .refused(let status, let message) = self { return UploadError.refusal(status, message, by: "the server") }
    return problem
  }

  /// The sentences that do not depend on the caller. ``advice(for:)`` follows.
  package var problem: String { statement + remark }

  private var statement: String {
    switch self {
    case .invalidConfiguration(let field, let value, let allowed):
      field + " is " + String(value) + ", but must be from " + String(allowed.lowerBound) + " to "
        + String(allowed.upperBound) + "."
    case .form(let error): error.message
    case .formData(let error): error.message
    case .requestHead(let error): error.message
    case .file(let path, let error): error.message(of: PrintableText.line(path.text))
    case .changed(let path, let change, _):
      PrintableText.line(path.text) + " has changed since its upload started: " + change.text + "."
    case .state(let error): error.problem
    case .conflict(let id):
      "another process is working on upload " + id + ". Wait for it to finish, or stop it."
    case .noSuchName(let host):
      "no such host: " + host
        + (host.utf8.contains(ASCII.percent)
          ? ". The part after the percent sign must be a network interface of this machine."
          : ". Check the server's name.")
    case .noLocalName(let host, let interfaces):
      "no such host: " + host + ": "
        + (interfaces.isEmpty
          ? "no network interface is up for multicast DNS"
          : "no answer to multicast DNS on " + interfaces.joined(separator: ", "))
        + "; the system resolver does not know it either."
    case .noResolver(let host):
      "could not resolve " + host + ": no name server answered. Check the network."
    case .congestionControlRefused(let name, let available, let allowed, let error):
      UploadError.congestionProblem(PrintableText.line(name), available, allowed, error)
    case .notConnected(let host, let address, let error):
      "could not connect to " + host + " (" + address + "): " + error.text + "."
    case .timedOut(.delivering, _, let limit):
      "the upload did not finish within " + DurationText.seconds(limit) + "."
    case .timedOut(let phase, let peer, let limit):
      "timed out " + phase.text + ": " + UploadError.lack(in: phase, peer) + DurationText.seconds(limit) + "."
    case .connectionLost(let phase, let peer, let error):
      "the connection to " + peer + " was lost " + phase.text + ": " + (error?.text ?? "the server closed it") + "."
    case .tls(let error, let host): error.problem(host: host)
    case .invalidResponse(let error, let peer): "the response from " + peer + " is invalid: " + error.message + "."
    case .refused(let status, let message):
      UploadError.refusal(status, message, by: "the server") + UploadError.advice(status)
    case .formDropped(let status, let message, _): UploadError.refusal(status, message, by: "the server")
    case .redirected(let status, ""):
      "the server redirects (" + String(status) + "), but names no address. Check the destination's URL."
    case .redirected(let status, let location):
      "the server redirects (" + String(status) + ") to " + PrintableText.line(PrintableText.withoutSecrets(location))
        + ". If that is correct, use the new address as the destination."
    case .redirectionRefused(let location, let problem):
      "the server redirects to " + PrintableText.line(PrintableText.withoutSecrets(location)) + ", " + problem.text
    case .proxyUnusable(let source):
      source + " is not the URL of an HTTP proxy, such as http://proxy:3128."
    case .addressExcluded(let host, let isIPv6):
      host
        + (isIPv6
          ? " is an IPv6 address, but only IPv4 may be used." : " is an IPv4 address, but only IPv6 may be used.")
    case .proxyRefused(status: 407, let proxy, let hadCredentials):
      "the proxy " + proxy
        + (hadCredentials ? " refuses this user's password (407)." : " requires a user name and a password (407).")
    case .proxyRefused(let status, let proxy, _):
      "the proxy " + proxy + " refused to connect (" + String(status) + ")."
    case .objectExists:
      "something has this URL on the server, which is not replaced, and nothing shows that it is this recording."
    case .objectRecorded(let upload):
      "the upload " + upload + " went to this URL, or will, and nothing shows that it is this recording. It would be"
        + " replaced."
    case .objectReplaced: "what has this URL now is not what was delivered, so nothing was deleted."
    case .serverDirectoryMissing(let status):
      "the server refused (" + String(status) + "): it has no directory for this URL."
    case .signatureRefused(let status, let message):
      UploadError.refusal(status, message, by: "the server") + " The signature is invalid or has expired."
    case .checksumDiffers(let sent, let stored):
      "the server stored different content: its SHA-256 is " + stored + ", the file's is " + sent + ". Send it again."
    case .sizeDiffers(let sent, let stored):
      "the server stored " + String(stored) + " bytes instead of " + String(sent) + ". Send it again."
    case .unconfirmed(let status):
      "the server answered " + String(status)
        + ", and nothing in that confirms the recording. Check that the address is the right one, and read the server's log."
    case .prematureSuccess(let status):
      "the server answered " + String(status) + " before it received the whole file, so it cannot have stored it."
    case .tus(let error): error.problem
    case .stillProcessing: "the server has the recording and is still processing it."
    case .uploadLost: "the server no longer knows the upload."
    case .postponed(let cause, _, _): cause.message + " " + (postponement ?? "")
    case .mayBeStored(let cause): (cause.unclearPage ?? cause.statement) + " " + UploadError.mayBeStoredElsewhereText
    case .uncertain(let id):
      "the server may already have stored this recording (upload " + id
        + "); it is not sent again automatically."
    case .notFromServer(let status):
      "the response (" + String(status) + ") did not come from the server, but from something in front of it: a proxy,"
        + " a firewall or a login page. The upload is kept."
    case .guestTokenRefused:
      "GigHive does not know this upload token, or it has expired. Ask the event's host for a new one."
    case .termsNotAccepted: "guests must accept the event's terms (tos_accepted)."
    case .cancelled(let hasSentAll): "interrupted." + (hasSentAll ? " " + UploadError.mayBeStoredText : "")
    case .outOfResources(let what): "the system has run out of " + what + "."
    case .internalError(let what): "internal error: " + what + ". Please report this."
    }
  }

  /// As the cause of ``mayBeStored(_:)``.
  private var unclearPage: String? {
    guard case .unconfirmed(let status) = self else { return nil }
    return "the server answered " + String(status) + " with a page for a login, or of an error."
  }

  /// For an upload that ended without a response after everything was sent, to any server.
  package static let mayBeStoredText =
    "The server received the whole file and may have stored it. GigHive detects a duplicate if you send it again; "
    + "on any other server, check first."

  /// The same for a server that is not GigHive.
  private static let mayBeStoredElsewhereText =
    "The server received the whole file and may have stored it. Check there before you send it again."

  /// For a record whose process was killed after it had sent everything to a server that is not GigHive.
  static let killedBeforeResponseText = "interrupted before the response arrived. " + mayBeStoredElsewhereText

  private static func lack(in phase: UploadPhase, _ peer: String) -> String {
    switch phase {
    // A part of it may have arrived.
    case .awaitingConfirmation, .awaitingAnswer: "no complete response from " + peer + " within "
    case .resolving, .connecting, .tunnelling, .handshaking, .sending, .delivering: "nothing from " + peer + " for "
    }
  }

  /// What the server may have done by then. The text of ``mayBeStored(_:)`` says so itself.
  private var remark: String {
    switch self {
    case .timedOut(.awaitingConfirmation, _, _), .connectionLost(.awaitingConfirmation, _, _):
      " " + UploadError.mayBeStoredText
    default: ""
    }
  }

  private static func refusal(_ status: Int, _ message: String, by name: String) -> String {
    let words = message.isEmpty ? "." : ": " + sentence(message)
    // 5xx is the server's failure, not its decision.
    let verb = status >= 500 ? "failed" : "refused"
    return name + " " + verb + " (" + String(status) + ")" + words
  }

  private static func sentence(_ text: String) -> String {
    switch text.utf8.last {
    case nil, UInt8(ascii: "."), UInt8(ascii: "!"), UInt8(ascii: "?"): text
    default: text + "."
    }
  }

  /// Why it is not tried again at once, and when it is; nil for other errors.
  package var postponement: String? {
    guard case .postponed(_, let until, let reason) = self else { return nil }
    let time = DurationText.moment(until)
    return switch reason {
    case .sentRepeatedly(let count):
      (count == 1 ? "It" : "It was sent " + String(count) + " times within a day; it")
        + " will be sent again after " + time + "."
    case .serverAsked: "The server asked to wait until " + time + "."
    }
  }

  private static func congestionProblem(
    _ name: String, _ available: String, _ allowed: String, _ error: SystemError
  ) -> String {
    let control = "congestion control " + name
    switch error.code {
    case SHIM_ENOENT:
      return "the kernel has no " + control + (available.isEmpty ? "." : "; it has " + available + ".")
        + " If there is a module for it, load it as root: modprobe tcp_" + name + "."
    case SHIM_EPERM:
      let problem = "this process may not use " + control
      if allowed.isEmpty { return problem + "." }
      return problem + ", only " + allowed
        + ". To allow it, run as root: sysctl net.ipv4.tcp_allowed_congestion_control=\"" + allowed + " " + name + "\"."
    default: return control + " cannot be set: " + error.text + "."
    }
  }

  private static func advice(_ status: Int) -> String {
    switch status {
    case 401: " Check the user name, password or token."
    case 403: " This user is not allowed to do that."
    case 404: " Check the server's address."
    case 413:
      " The file exceeds a limit of the server, or of a proxy in front of it;"
        + " docs/troubleshooting.md lists these limits."
    case 507: " The server has no space left for it: free some there."
    case 429, 503: " The server is busy; try again later."
    default: ""
    }
  }
}
