/// What a server's responses mean for uploads.
package enum ServerChecks {
  // MARK: TLS

  package static func certificate(_ facts: TLSFacts, host: String, now: Int64) -> Finding {
    let issuer = facts.issuer.isEmpty ? "" : ", issued by " + facts.issuer + ","
    guard facts.validUntilSeconds > 0 else {
      return Finding(.certificate, .ok("the certificate of " + host + issuer + " is trusted"))
    }
    let text = "the certificate of " + host + issuer + " is valid until " + day(facts.validUntilSeconds)
    let days = (facts.validUntilSeconds - now) / 86_400
    if days >= Limits.certificateWarningDays { return Finding(.certificate, .ok(text)) }
    let rest = days == 1 ? "1 day" : String(max(0, days)) + " days"
    return Finding(.certificate, .warning(text + ": " + rest + " left.", remedy: "Renew it on the server."))
  }

  /// Compares the clocks.
  /// - Returns: nil if the server does not say its time.
  package static func clock(_ answer: Answer) -> Finding? {
    guard let date = answer.fields.first("Date").flatMap({ HTTPDate.seconds($0) }) else { return nil }
    let difference = answer.receivedAtSeconds - date
    guard abs(difference) > Limits.clockDifferenceSeconds else {
      return Finding(.serverClock, .ok("this machine's clock agrees with the server's"))
    }
    return Finding(
      .serverClock,
      .warning(
        "this machine's clock says " + Timestamp.minuteText(seconds: answer.receivedAtSeconds) + ", the server's "
          + Timestamp.minuteText(seconds: date) + ": " + hours(abs(difference)) + " apart.",
        remedy: "Set the one that is wrong, or start its time service (NTP)."))
  }

  /// "6 h", "1 h 30 min", "7 min": whole hours suggest a wrong time zone.
  private static func hours(_ seconds: Int64) -> String {
    let (hours, minutes) = (seconds / 3600, seconds / 60 % 60)
    return [hours > 0 ? String(hours) + " h" : "", minutes > 0 ? String(minutes) + " min" : ""]
      .filter { !$0.isEmpty }.joined(separator: " ")
  }

  /// A certificate that was not trusted, in words: whose it is, who issued it, and when it is valid.
  /// - Parameter isForAnother: whether the host is none of those that it is for.
  package static func description(_ facts: TLSFacts, isForAnother: Bool) -> String {
    let issuer = facts.issuer.isEmpty ? "" : ", issued by " + facts.issuer
    let subject = isForAnother && !facts.hosts.isEmpty ? facts.hosts : facts.subject
    var text = (subject.isEmpty ? "It has no name" : "It is for " + subject) + issuer
    if facts.validUntilSeconds > 0 {
      text += ", valid from " + day(facts.validFromSeconds) + " to " + day(facts.validUntilSeconds)
    }
    text += "."
    if intercepts(facts.issuer) {
      return text + " It is not the server's own: a firewall, or a program on this machine, decrypts TLS here. Have the"
        + " server exempted there."
    }
    if isForAnother {
      text += " If you do not know that name, a login page of this network answers: open any page in a browser."
    }
    return text
  }

  /// Whether the issuer is known to make certificates for the hosts of others.
  private static func intercepts(_ issuer: String) -> Bool {
    let issuer = Array(ASCII.lowercased(issuer).utf8)
    return interceptors.contains { ASCII.contains(issuer, $0) }
  }

  private static let interceptors = [
    "fortinet", "fortigate", "zscaler", "palo alto", "sophos", "netskope", "check point", "blue coat", "umbrella",
    "sonicwall", "watchguard", "barracuda", "forcepoint", "untangle", "kaspersky", "avast", "bitdefender", "eset ssl",
    "mitmproxy", "charles proxy",
  ]

  private static func day(_ seconds: Int64) -> String { String(Timestamp.text(seconds: seconds).prefix(10)) }

  // MARK: Endpoints

  /// - Returns: nil if GigHive takes files of this name.
  package static func fileType(of file: LocalPath) -> Finding? {
    guard !MediaType.isRecording(fileName: Array(file.lastComponentBytes)) else { return nil }
    return Finding(
      .file,
      .failure(
        .refused(status: 400, message: "Unsupported media type"),
        about: "GigHive would not take " + PrintableText.line(file.text),
        remedy: GigHiveFailure.recordingsOnly))
  }

  /// - Parameter result: the response to a form with an empty file and no label, which creates nothing.
  package static func form(_ result: ProbeResult, at target: TargetURI, hasCredentials: Bool) -> Finding {
    guard let answer = result.answer else {
      let error = result.error ?? .unconfirmed(status: 0)
      return Finding(.credentials, .failure(error, remedy: remedy(ofSilence: error)))
    }
    if isGigHives(answer, result.shown?.software) {
      let text = hasCredentials ? "GigHive accepts the credentials" : "GigHive answers without credentials"
      guard let location = result.redirectedTo else { return Finding(.credentials, .ok(text)) }
      return Finding(
        .credentials,
        .warning(
          text + ", but the server redirects to " + location + ".",
          remedy: remedy(ofRedirect: location, from: target) ?? "Use the address that it redirects to."))
    }
    let about = path(target)
    let remedy: String? =
      switch answer.status {
      case _ where LikelySoftware.isPHPSource(answer): unrunPHP
      case 200..<300 where result.shown?.remedy == nil:
        "Open the server's address in a browser: another web server answers, or a page of this network's."
      case 300..<400 where result.shown?.remedy == nil: remedy(ofRedirect: result.shown?.location, from: target)
      case 404 where result.shown?.remedy == nil: "Check the server's address: GigHive has this path below it."
      default: nil
      }
    let error = result.error ?? instead(answer)
    return Finding(.credentials, .failure(error, about: about, answer: result.shown, remedy: remedy))
  }

  /// - Returns: nil if the error says enough.
  private static func remedy(ofSilence error: UploadError) -> String? {
    guard case .connectionLost(.awaitingAnswer, _, _) = error else { return nil }
    return
      "A program accepts connections there, and ends them without a response. Check the port, and the program's log."
  }

  /// What an upload says of a success that is not GigHive's.
  private static func instead(_ answer: Answer) -> UploadError {
    LikelySoftware.isLoginInstead(answer)
      ? .notFromServer(status: answer.status) : .unconfirmed(status: answer.status)
  }

  /// Whether GigHive refuses the form for what it is, as it should, or for PHP's limits, or has stored it.
  private static func isGigHives(_ answer: Answer, _ software: LikelySoftware?) -> Bool {
    switch software {
    case .gigHive: answer.isSuccess || [400, 409].contains(answer.status)
    case .php: ![401, 403].contains(answer.status) && answer.status < 500
    default: false
    }
  }

  private static let unrunPHP =
    "The server sends the PHP program itself: it does not run PHP. Set up PHP there (Apache: proxy_fcgi or mod_php;"
    + " nginx: fastcgi_pass)."

  /// - Parameter location: where to, without its query.
  /// - Returns: nil if GigHive's path is not at the end of it.
  private static func remedy(ofRedirect location: String?, from target: TargetURI) -> String? {
    let path = String(GigHiveAPI.uploads.prefix { $0 != "?" })
    let start = location.map { String($0.prefix { $0 != "?" }) }
    guard let start, let text = try? target.resolving(start).text, text.hasSuffix(path) else { return nil }
    return "The server's address is then --server " + text.dropLast(path.utf8.count) + "."
  }

  /// - Parameter result: the response to a finalize call that names no upload.
  package static func guestToken(_ result: ProbeResult) -> Finding {
    guard let answer = result.answer else {
      return Finding(.guestToken, .failure(result.error ?? .unconfirmed(status: 0)))
    }
    switch Verdict.ofFinalize(answer) {
    case .gigHive(.guestTokenKnown): return Finding(.guestToken, .ok("GigHive knows the guest token"))
    case .gigHive(.guestTokenUnknown): return Finding(.guestToken, .failure(.guestTokenRefused))
    case .gigHive, .tus, .somebodyElse:
      let error = result.error ?? instead(answer)
      let remedy = LikelySoftware.isPHPSource(answer) ? unrunPHP : nil
      return Finding(.guestToken, .failure(error, answer: result.shown, remedy: remedy))
    }
  }

  /// Without the query.
  static func path(_ target: TargetURI) -> String { String(target.requestTarget.prefix { $0 != "?" }) }
}

extension Limits {
  /// Certificates that expire earlier are reported, in days: renewal usually starts after two thirds of 90 days.
  static let certificateWarningDays: Int64 = 14
  /// Clocks that differ more are reported, in seconds.
  static let clockDifferenceSeconds: Int64 = 300
}
