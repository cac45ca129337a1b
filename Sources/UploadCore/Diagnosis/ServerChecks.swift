/// What a server's responses mean for uploads.
package enum ServerChecks {
  // MARK: TLS

  package static func certificate(_ facts: TLSFacts, host: String, now: Int64) -> Finding {
    let issuer = facts.issuer.isEmpty ? "" : ", issued by " + facts.issuer + ","
    guard facts.validUntilSeconds > 0 else {
      return Finding(.certificate, .ok("the certificate of " + host + issuer + " is trusted"))
    }
    let date = String(Timestamp.text(seconds: facts.validUntilSeconds).prefix(10))
    let text = "the certificate of " + host + issuer + " is valid until " + date
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
        "this machine's clock says " + MachineChecks.minute(answer.receivedAtSeconds) + ", the server's "
          + MachineChecks.minute(date) + ".", remedy: "Set the one that is wrong, or start its time service (NTP)."))
  }

  /// A certificate that was not trusted, in words: whose it is, who issued it, and when it is valid.
  package static func description(_ facts: TLSFacts) -> String {
    func day(_ seconds: Int64) -> String { String(Timestamp.text(seconds: seconds).prefix(10)) }
    let issuer = facts.issuer.isEmpty ? "" : ", issued by " + facts.issuer
    let name = facts.subject.isEmpty ? "It has no name" : "It is for " + facts.subject
    guard facts.validUntilSeconds > 0 else { return name + issuer + "." }
    return name + issuer + ", valid from " + day(facts.validFromSeconds) + " to " + day(facts.validUntilSeconds) + "."
  }

  // MARK: Endpoints

  /// - Parameters:
  ///   - result: the response to OPTIONS.
  ///   - isRequired: whether recordings can be sent in no other way.
  package static func tus(_ result: ProbeResult, at target: TargetURI, isRequired: Bool) -> Finding {
    guard let answer = result.answer else {
      return Finding(.tus, .failure(result.error ?? .tus(.notSupported(status: 0))))
    }
    do throws(TusError) {
      if answer.isSuccess, let offer = try TusCapabilities(answer.fields) {
        var extensions: [String] = []
        if offer.createsWithUpload { extensions.append("creation-with-upload") }
        if offer.defersLength { extensions.append("creation-defer-length") }
        if offer.terminates { extensions.append("termination") }
        if offer.checksum != nil { extensions.append("checksum") }
        let list = extensions.isEmpty ? "" : " with " + extensions.joined(separator: ", ")
        return Finding(.tus, .ok("tus 1.0.0 at " + path(target) + list))
      }
    } catch { return Finding(.tus, .failure(.tus(error))) }
    let isAbsent = (200..<300).contains(answer.status) || [404, 405].contains(answer.status)
    if result.shown?.author == .loginPage || !isAbsent && ![403, 501].contains(answer.status) {
      let error = result.error ?? .tus(.notSupported(status: answer.status))
      return Finding(.tus, .failure(error, answer: result.shown))
    }
    let about = "no tus at " + path(target) + " (" + String(answer.status) + ")"
    if isRequired {
      return Finding(.tus, .failure(.tus(.notSupported(status: answer.status)), about: about, answer: result.shown))
    }
    return Finding(
      .tus,
      .warning(
        about + ": large recordings are sent as forms, which cannot be resumed.",
        remedy: "On a GigHive server, tusd must run behind " + path(target) + "."))
  }

  /// - Parameter result: the response to a form with an empty file and no label, which creates nothing.
  package static func form(_ result: ProbeResult, at target: TargetURI, hasCredentials: Bool) -> Finding {
    guard let answer = result.answer else {
      return Finding(.credentials, .failure(result.error ?? .unconfirmed(status: 0)))
    }
    let author = result.shown?.author ?? .unknown
    if [.gigHive, .php].contains(author), ![401, 403].contains(answer.status), answer.status < 500 {
      return Finding(
        .credentials, .ok(hasCredentials ? "GigHive accepts the credentials" : "GigHive answers without credentials"))
    }
    let about = path(target)
    let remedy: String? =
      switch answer.status {
      case 401 where !hasCredentials: "Give a user name and a password."
      case 200..<300 where result.shown?.remedy == nil:
        "Open the server's address in a browser: another web server answers, or a page of this network's."
      case 404 where result.shown?.remedy == nil: "Check the server's address: GigHive has this path below it."
      default: nil
      }
    let error = result.error ?? .unconfirmed(status: answer.status)
    return Finding(.credentials, .failure(error, about: about, answer: result.shown, remedy: remedy))
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
      let error = result.error ?? .unconfirmed(status: answer.status)
      return Finding(.guestToken, .failure(error, answer: result.shown))
    }
  }

  /// - Parameters:
  ///   - result: the response to OPTIONS.
  ///   - size: the file's, in bytes; nil without a file.
  /// - Returns: nil if the server names no limit.
  package static func largestFile(_ result: ProbeResult, size: Int64?) -> Finding? {
    guard let limit = result.answer?.fields.tusNumber("Tus-Max-Size"), limit > 0 else { return nil }
    let text = "the tus server accepts files of up to " + SizeText.short(limit)
    if let size, size > limit {
      return Finding(
        .largestFile,
        .failure(.tus(.tooLarge(size: size, limit: limit)), remedy: "Raise the server's limit (tusd: -max-size)."))
    }
    if limit >= Limits.gigHiveFileSize || size != nil { return Finding(.largestFile, .ok(text)) }
    return Finding(
      .largestFile,
      .warning(
        text + ", less than GigHive's " + SizeText.short(Limits.gigHiveFileSize) + ".",
        remedy: "Raise it if recordings are longer (tusd: -max-size)."))
  }

  private static func path(_ target: TargetURI) -> String {
    String(target.requestTarget.prefix { $0 != "?" })
  }
}
