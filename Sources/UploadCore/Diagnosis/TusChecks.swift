/// What a server's responses mean for uploads over tus.
package enum TusChecks {
  /// Which recordings go over tus.
  package enum Need: Sendable {
    /// All: the address is that of a tus server.
    case tusServer
    /// All, because the user says so.
    case chosen
    /// All: GigHive takes no forms from guests.
    case guests
    /// The large ones, or the one that is to be sent. Without tus, they go as forms.
    case preferred
    /// Others than the one that is to be sent.
    case avoided

    var isRequired: Bool {
      switch self {
      case .tusServer, .chosen, .guests: true
      case .preferred, .avoided: false
      }
    }
  }

  /// Whether only a creation shows if tus can be used. An upload tries one in the same cases.
  /// - Parameter options: the response to OPTIONS.
  package static func leavesOpen(_ options: ProbeResult, _ need: Need) -> Bool {
    guard let answer = options.answer, options.shown?.software.isLogin != true else { return false }
    do throws(TusError) {
      if try offer(of: answer) != nil { return !namesCreation(answer) }
    } catch { return false }
    if [403, 501].contains(answer.status) { return true }
    return [.tusServer, .chosen].contains(need) && answer.status < 500 && ![401, 407].contains(answer.status)
      && !RetryPolicy.isTransient(status: answer.status)
  }

  /// Whether the server can remove what a test creates.
  package static func terminates(_ options: ProbeResult) -> Bool {
    options.answer?.fields.listMembers(of: "Tus-Extension").contains("termination") ?? false
  }

  private static func offer(of answer: Answer) throws(TusError) -> TusCapabilities? {
    answer.isSuccess ? try TusCapabilities(answer.fields) : nil
  }

  private static func namesCreation(_ answer: Answer) -> Bool {
    answer.fields.listMembers(of: "Tus-Extension").contains {
      ["creation", "creation-with-upload", "creation-defer-length"].contains($0)
    }
  }

  /// - Parameters:
  ///   - options: the response to OPTIONS.
  ///   - creation: that to a creation without a length; nil if there was no need for one.
  package static func tus(
    _ options: ProbeResult, _ creation: ProbeResult?, at target: TargetURI, _ need: Need
  ) -> Finding {
    guard let answer = options.answer else {
      return failure(options.error ?? .tus(.notSupported(status: 0)), options, at: target, need)
    }
    let offer: TusCapabilities?
    do throws(TusError) { offer = try self.offer(of: answer) } catch {
      return failure(.tus(error), options, at: target, need)
    }
    let path = ServerChecks.path(target)
    if let creation {
      if canCreate(creation) {
        let remark = offer == nil ? ", which refuses OPTIONS (" + String(answer.status) + ")" : ""
        return Finding(.tus, .ok("tus 1.0.0 at " + path + remark))
      }
      if let finding = refusedCreation(creation, offer, at: target, need) { return finding }
    } else if let offer {
      return Finding(.tus, .ok("tus 1.0.0 at " + path + list(of: offer)))
    } else if options.shown?.software.isLogin == true || !answer.isSuccess && ![404, 405].contains(answer.status) {
      let error =
        LikelySoftware.isLoginInstead(answer)
        ? UploadError.notFromServer(status: answer.status) : .tus(.notSupported(status: answer.status))
      return failure(options.error ?? error, options, at: target, need)
    }
    if need.isRequired { return failure(.tus(.notSupported(status: answer.status)), options, at: target, need) }
    return Finding(
      .tus,
      .warning(
        "no tus at " + path + " (" + String(answer.status) + "): large recordings are sent as forms, which cannot be"
          + " resumed.", remedy: behind(target)))
  }

  /// A tus server refuses it for the missing length.
  private static func canCreate(_ creation: ProbeResult) -> Bool {
    guard let answer = creation.answer, creation.shown?.software == .tus else { return false }
    return answer.isSuccess || answer.status == 400
  }

  /// - Returns: nil if large recordings are sent as forms after this.
  private static func refusedCreation(
    _ creation: ProbeResult, _ offer: TusCapabilities?, at target: TargetURI, _ need: Need
  ) -> Finding? {
    let status = creation.answer?.status ?? 0
    if let answer = creation.answer,
      case .tus(.unsupportedVersion(let offered)) = Verdict.ofTus(status: status, fields: answer.fields)
    {
      return failure(.tus(.versionNotSupported(offered: offered)), creation, at: target, need)
    }
    guard [404, 405, 501].contains(status) else {
      return failure(creation.error ?? .tus(.notSupported(status: status)), creation, at: target, need)
    }
    guard let offer, need.isRequired || offer != TusCapabilities() else { return nil }
    return failure(
      .tus(.refused(method: "POST", status: status)), creation, at: target, need,
      remedy: "It does not offer the extension creation, without which no upload can start. Enable it there.")
  }

  private static func list(of offer: TusCapabilities) -> String {
    var extensions: [String] = []
    if offer.createsWithUpload { extensions.append("creation-with-upload") }
    if offer.defersLength { extensions.append("creation-defer-length") }
    if offer.terminates { extensions.append("termination") }
    if offer.checksum != nil { extensions.append("checksum") }
    return extensions.isEmpty ? "" : " with " + extensions.joined(separator: ", ")
  }

  private static func failure(
    _ error: UploadError, _ result: ProbeResult, at target: TargetURI, _ need: Need, remedy: String? = nil
  ) -> Finding {
    let path = ServerChecks.path(target)
    if need == .avoided {
      let status = result.answer.map { String($0.status) } ?? "no response"
      return Finding(
        .tus,
        .warning(
          "tus does not work at " + path + " (" + status + "): this file is sent as a form, but large ones would fail.",
          remedy: remedy ?? result.shown?.remedy))
    }
    return Finding(
      .tus,
      .failure(
        error, about: path, answer: result.shown,
        remedy: remedy ?? result.shown?.remedy ?? self.remedy(of: error, at: target, need)))
  }

  /// - Returns: nil if the error's own says enough.
  private static func remedy(of error: UploadError, at target: TargetURI, _ need: Need) -> String? {
    guard case .tus(.notSupported) = error else { return nil }
    return switch need {
    case .tusServer: "It must be the one that creates uploads, such as http://HOST:1080/files/."
    case .guests: "GigHive takes guests' recordings only over tus. " + behind(target)
    case .chosen, .preferred, .avoided: nil
    }
  }

  /// - Parameter address: where a server says that its uploads are, and nobody answers.
  package static func remedy(ofLocation address: String) -> String {
    "The server says that its uploads are at " + address + ". " + behindProxy
  }

  static let behindProxy =
    "Behind a proxy, tusd needs -behind-proxy, and the proxy must pass on X-Forwarded-Host and X-Forwarded-Proto."

  private static func behind(_ target: TargetURI) -> String {
    "On a GigHive server, tusd must run behind " + ServerChecks.path(target) + "."
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

}
