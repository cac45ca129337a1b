import UploadCore

/// Errors in words: what failed, with which value, and what to do about it.
extension UploadError {
  /// One or more sentences for a person. Texts from outside are printable in it, and secrets are not in it.
  public var message: String { advice.map { problem + " " + $0 } ?? problem }

  /// The sentences that do not depend on who calls the library. A program appends its own advice, or ``advice``.
  package var problem: String {
    switch self {
    case .invalidConfiguration(let field, let value, let allowed):
      field + " is " + String(value) + "; it can be from " + String(allowed.lowerBound) + " to "
        + String(allowed.upperBound) + "."
    case .form(let error): error.message
    case .formData(let error): error.message
    case .requestHead(let error): error.message
    case .file(let path, let error): PrintableText.line(path.text) + ": " + error.message
    case .changed(let path, let change, _):
      PrintableText.line(path.text) + " is not what it was when its upload began: " + change.text + "."
    case .state(let error): error.problem
    case .conflict(let id):
      "the upload " + id + " is under way in another process. Wait until it has ended, or stop it."
    case .delivered(let id): "the upload " + id + " is delivered already."
    case .noSuchName(let host):
      "no such host: " + host
        + (host.utf8.contains(ASCII.percent)
          ? ". What follows the percent sign must be a network interface of this machine."
          : ". Check the server's name.")
    case .noResolver(let host):
      "the name " + host + " could not be looked up: no name server answered. Check the network."
    case .notConnected(let host, let address, let error):
      "no connection to " + host + " (" + address + "): " + error.text + "."
    case .timedOut(.delivering, _, let limit):
      "the upload has not ended within " + DurationText.seconds(limit) + "."
    case .timedOut(let phase, let peer, let limit):
      "timed out " + phase.text + ": " + peer + " did nothing for " + DurationText.seconds(limit) + "."
        + UploadError.remark(on: phase)
    case .connectionLost(let phase, let peer, let error):
      "the connection to " + peer + " was lost " + phase.text + ": " + (error?.text ?? "the server closed it") + "."
        + UploadError.remark(on: phase)
    case .tls(let error, let host): error.problem(host: host)
    case .invalidResponse(let error, let peer): "the answer of " + peer + " is not valid: " + error.message + "."
    case .refused(let status, let message): UploadError.refusal(status, message)
    case .redirected(let status, let location):
      "the server redirects (" + String(status) + ") to " + PrintableText.line(PrintableText.withoutQuery(location))
        + ". If that is right, give the new address as the destination."
    case .redirectionRefused(let location, let problem):
      "the server redirects to " + PrintableText.line(PrintableText.withoutQuery(location)) + ", " + problem.text
    case .proxyUnusable(let source):
      source + " is not the URL of an HTTP proxy, such as http://proxy:3128."
    case .proxyRefused(let status, let proxy):
      "the proxy " + proxy + " refused to connect (" + String(status) + ")."
        + (status == 407 ? " It wants a user name and password." : "")
    case .checksumDiffers(let sent, let stored):
      "the server stored something else: its SHA-256 is " + stored + ", the file's is " + sent + ". Send it again."
    case .sizeDiffers(let sent, let stored):
      "the server stored " + String(stored) + " bytes of " + String(sent) + ". Send it again."
    case .unconfirmed(let status):
      "the server answered " + String(status)
        + " without GigHive's confirmation (checksum and size). Is this address a GigHive server?"
    case .prematureSuccess(let status):
      "the server answered " + String(status) + " before it had the whole file, so it cannot have stored it."
    case .tus(let error): error.problem
    case .stillProcessing: "the server has the recording and is still working on it."
    case .uploadLost: "the server does not know the upload any more."
    case .mayBeStored(let cause):
      cause.problem.hasSuffix(UploadError.mayBeStored) ? cause.problem : cause.problem + " " + UploadError.mayBeStored
    case .uncertain(let id):
      "the server may have stored this recording with an earlier try (upload " + id
        + "); it is not sent again by itself."
    case .notFromServer(let status):
      "the answer (" + String(status) + ") does not come from the server, but from something before it: a proxy, a"
        + " firewall or a login page. The upload is kept."
    case .guestTokenRefused: "GigHive knows no such upload token, or it has expired. Ask the host for a new one."
    case .termsNotAccepted: "guests have to accept the event's terms (tos_accepted)."
    case .cancelled(let hasSentAll): "cancelled." + (hasSentAll ? " " + UploadError.mayBeStored : "")
    case .outOfResources(let what): "the system has no " + what + " left."
    }
  }

  /// For an upload that ended without an answer after all of it was sent.
  package static let mayBeStored =
    "The server had the whole file and may have stored it. GigHive knows the duplicate if it is sent again; "
    + "on any other server, look first."

  private static func remark(on phase: UploadPhase) -> String { phase == .awaitingResponse ? " " + mayBeStored : "" }

  private static func refusal(_ status: Int, _ message: String) -> String {
    let end: String
    switch message.utf8.last {
    case nil, UInt8(ascii: "."), UInt8(ascii: "!"), UInt8(ascii: "?"): end = ""
    default: end = "."
    }
    let words = message.isEmpty ? "." : ": " + message + end
    return "the server refused (" + String(status) + ")" + words + advice(status)
  }

  private static func advice(_ status: Int) -> String {
    switch status {
    case 401: " Check the user name and the password."
    case 403: " This user may not do that here."
    case 404: " Check the server's address."
    case 413:
      " A limit of the server, or of a proxy before it, is below the file's size;"
        + " docs/server-setup.md lists them."
    case 429, 503: " The server is busy; try again later."
    default: ""
    }
  }
}
