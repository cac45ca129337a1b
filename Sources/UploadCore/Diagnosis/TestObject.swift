/// A small object, as a test: it is written beside where recordings go, looked at, and removed again. Its name is random, so that it
/// replaces nothing.
///
///     (PUT) asking ──▶ putting ──▶ looking ────────────────────────────────────────────────────▶ removing ──▶ ended
///                        │  ▲        ▲  ├─▶ (S3) replacing ──▶ opening ──▶ listing ──▶ closing ─────▲
///               (WebDAV) ▼  │        │  └─▶ (Nextcloud) ─────▶ opening ──────────────▶ closing ─────┘
///     a directory is missing      moving
///
/// Public links of a Nextcloud are asked first, too.
package final class TestObject {
  package enum Step: Sendable {
    case ask(HTTPRequest)
    case finished
  }

  private enum Activity {
    /// Whether the server removes objects, or shows that a name is free. One that takes PUT may do nothing else, nor does a file drop.
    case asking
    case putting
    /// From the hidden name of an upload in progress to its own.
    case moving
    case looking
    /// Whether it is replaced although the server is asked not to.
    case replacing
    /// Whether an upload in parts, or chunks, can be begun; whether the server lists its parts; and its end.
    case opening
    case listing(TargetURI)
    case closing(TargetURI)
    case removing
    case ended
  }

  private let secrets: Secrets
  private let id: String
  private let givenRegion: String
  private let isForWebDAV: Bool
  /// Those in which it can be, from the innermost. The first is where recordings go.
  private let directories: [TargetURI]
  private var directory = 0
  private var target: TargetURI
  /// The name under which it is sent, and where it is afterwards.
  private var place: TargetURI
  /// Where it may be, too, after a MOVE whose outcome is not known.
  private var otherPlace: TargetURI?
  private var s3: S3Dialog?
  /// How a WebDAV server is asked about it.
  private var question: DAVQuestion
  private var activity = Activity.putting
  private var latest = ProbeResult()
  private var hasComparedClocks = false
  private var listsParts = false
  private var takesChunks = false
  /// Whether the server may have it.
  private var mayBeThere = false
  /// How the server said that a directory is missing; 0 if it has not.
  private var missing = 0
  private var findings: [Finding] = []

  private static let content: StaticString = "A test of gighive-upload doctor.\n"

  /// - Parameters:
  ///   - target: the object's URL.
  ///   - region: that of an S3 server's bucket; nil for other servers.
  ///   - id: eight random hexadecimal digits.
  ///   - secrets: to redact in what the server says.
  package init(at target: TargetURI, region: String?, isForWebDAV: Bool, id: String, _ secrets: Secrets) {
    (self.target, self.isForWebDAV, self.id, self.secrets) = (target, isForWebDAV, id, secrets)
    // A share can be at the root.
    let root = try? target.resolving("/")
    directories = isForWebDAV ? target.directories + [root ?? target] : []
    place = isForWebDAV ? target.hiddenSibling(for: id) : target
    givenRegion = region ?? ""
    question = DAVQuestion(isForNextcloud: target.inNextcloud != nil)
    if let region {
      s3 = S3Dialog(region: region)
    } else if !isForWebDAV || target.inNextcloud?.isPublic ?? false {
      activity = .asking
    }
  }

  /// What was found since the last call.
  package func takeFindings() -> [Finding] {
    defer { findings = [] }
    return findings
  }

  private func add(_ check: Finding.Check, _ result: Finding.Result) { findings.append(Finding(check, result)) }

  /// ", https://…", for messages.
  private var location: String { ", " + secrets.line(ofURI: place.text) }

  private func warn(_ check: Finding.Check, _ text: String, remedy: String?) {
    add(check, .warning(text, remedy: remedy))
  }

  // MARK: Steps

  package func next() -> Step {
    var request = HTTPRequest(method: "DELETE", target: place)
    switch activity {
    case .asking where isForWebDAV, .looking where isForWebDAV: request = question.request(about: place)
    case .asking, .removing: break
    case .putting, .replacing:
      mayBeThere = true
      request.method = "PUT"
      request.fields.append(Field("Content-Type", "text/plain"))
      if isForWebDAV { request.fields.append(Field("If-None-Match", "*")) }
      if let s3 { request.fields += s3.condition }
      request.body = RequestBody(header: TestObject.content.withUTF8Buffer { Array($0) })
    case .moving:
      otherPlace = target
      request.method = "MOVE"
      request.fields = [Field("Destination", target.absoluteForm), Field("Overwrite", "F")]
    case .looking: request.method = "HEAD"
    case .opening:
      if let parts { return .ask(parts.creation(token: id)) }
      (request.method, request.target) = ("MKCOL", chunks ?? place)
      request.fields = [Field("Destination", target.absoluteForm)]
    case .listing(let upload): if let parts { return .ask(parts.list(of: upload, after: 0)) }
    case .closing(let upload): request.target = upload
    case .ended: return .finished
    }
    s3?.sign(&request)
    return .ask(request)
  }

  /// The diagnosis was interrupted. What may be there is still removed.
  package func interrupt() {
    switch activity {
    case .closing, .removing: break
    case .listing(let upload): activity = .closing(upload)
    case .opening:
      if let chunks { activity = .closing(chunks) } else { end() }
    default: end()
    }
  }

  /// How an S3 server takes a large recording.
  private var parts: S3Parts? { s3.map { S3Parts(place, $0, mediaType: "text/plain") } }

  /// Where an upload in chunks would be; nil if the server is no Nextcloud.
  private var chunks: TargetURI? { target.inNextcloud?.uploads.appending("gighive-upload-doctor-" + id) }

  private func end() { activity = mayBeThere ? .removing : .ended }

  package func receive(_ result: ProbeResult) {
    latest = result
    switch activity {
    case .removing: return receiveRemoval(result.answer?.status ?? 0)
    case .closing: return receiveClosing(result.answer?.status ?? 0)
    default: break
    }
    guard let answer = result.answer else { return receiveNothing(result.error ?? .unconfirmed(status: 0)) }
    if !hasComparedClocks, let clock = ServerChecks.clock(answer) { findings.append(clock) }
    hasComparedClocks = true
    if s3?.learn(from: answer) ?? false { return }
    switch activity {
    case .asking: receiveQuestion(answer)
    case .putting: receivePut(answer)
    case .moving: receiveMove(answer)
    case .looking where isForWebDAV:
      do throws(UploadError) {
        if let object = try question.object(in: answer) { receiveObject(object) }
      } catch { fail(error) }
    case .looking: receiveObject(answer)
    case .replacing: receiveReplacement(answer.status)
    case .opening: if parts == nil { receiveOpening(answer) } else { receiveCreation(answer) }
    case .listing(let upload): receiveList(answer, of: upload)
    case .closing, .removing, .ended: break
    }
  }

  private func receiveNothing(_ error: UploadError) {
    switch activity {
    case .listing(let upload):
      failParts(error)
      activity = .closing(upload)
    case .opening where parts != nil:
      failParts(error, remedy: TestObject.remedyOfUnclearCreation)
      end()
    case .opening:
      fail(error)
      if let chunks { activity = .closing(chunks) }
    default: fail(error)
    }
  }

  /// Nothing has this name, and a server that removes objects says so.
  private func receiveQuestion(_ answer: Answer) {
    switch answer.status {
    case 200..<300, 404, 410: activity = .putting
    case 300..<400: fail(.redirected(status: answer.status, location: answer.fields.first("Location") ?? ""))
    case 401, 407, 429, 500, 502...599: fail(answer.refusal)
    default:
      activity = .ended
      let reason =
        "the server deletes no objects (" + String(answer.status) + "), so a test object would stay there"
      add(.testObject, .notExamined(reason))
    }
  }

  private func receivePut(_ answer: Answer) {
    let status = answer.status
    switch status {
    case 200, 201, 204:
      if LikelySoftware.asksForPassword(answer) { return fail(.notFromServer(status: status)) }
      // Uploads make it.
      if missing != 0 {
        let name = secrets.line(ofURI: directories[0].text)
        warn(
          .testObject, "the server has no directory " + name + " yet; uploads create it.",
          remedy: "If it should be there, correct the address.")
      }
      activity = isForWebDAV ? .moving : .looking
      return
    case 501 where s3?.preventsReplacing ?? false:
      s3?.forgetCondition()
      return
    case 404 where isForWebDAV, 409 where isForWebDAV:
      if missing == 0 { missing = status }
      directory += 1
      if directory < directories.count {
        target = directories[directory].appending(target.lastPathSegment)
        place = target.hiddenSibling(for: id)
        return
      }
    default: break
    }
    // It is not stored.
    if (400..<500).contains(status) || status == 507 { mayBeThere = false }
    // What is above the server's own directories refuses in other ways.
    if missing != 0, status < 500, status != 401 {
      place = directories[0]
      return fail(.serverDirectoryMissing(status: missing))
    }
    fail(isForWebDAV ? answer.davRefusal : answer.objectRefusal, remedy: remedy(ofRefusal: answer))
  }

  private func receiveMove(_ answer: Answer) {
    switch answer.status {
    case 201, 204:
      (place, otherPlace) = (target, nil)
      activity = .looking
    case 400, 502:
      fail(
        answer.refusal,
        remedy: "It refuses to move it to another name. Behind a proxy that ends TLS, it may take the field Destination"
          + " for another server's. Apache: RequestHeader edit Destination ^https http early.")
    case 401..<500, 501:
      otherPlace = nil
      fail(
        answer.refusal,
        remedy: "It refuses to move it to another name. Uploads need MOVE (RFC 4918): allow it there, or use --put-url."
      )
    default: fail(answer.refusal)
    }
  }

  private func receiveObject(_ answer: Answer) {
    let length = Int64(TestObject.content.utf8CodeUnitCount)
    switch answer.status {
    case 200:
      let stored = answer.fields.contentLength ?? length
      guard stored == length else { return fail(.sizeDiffers(sent: length, stored: stored)) }
      add(.testObject, .ok("the server has taken a test object" + location))
    // A success of somebody else.
    case 404, 410: return fail(.notFromServer(status: 200))
    case 403, 405, 501:
      warn(
        .testObject,
        "if a response is lost, an upload cannot find out whether its object has arrived: the server does not show a"
          + " test object that it has taken" + location + ".",
        remedy: s3 == nil ? nil : "Let the policy of these keys allow s3:GetObject there.")
    default: return fail(answer.refusal)
    }
    guard let s3 else {
      if chunks != nil { activity = .opening } else { end() }
      return
    }
    if s3.region != givenRegion {
      let region = secrets.line(s3.region)
      warn(
        .region,
        "the bucket is in the region " + region + ", not in " + givenRegion
          + ": each upload's first request is refused.", remedy: "Use --set s3-region=" + region + ".")
    }
    if s3.preventsReplacing { activity = .replacing } else { receiveReplacement(501) }
  }

  private func receiveOpening(_ answer: Answer) {
    switch answer.status {
    case 201: takesChunks = true
    case 400..<500, 501:
      warn(
        .chunks,
        "the server takes no chunks (" + String(answer.status)
          + "): each recording is one request, which starts over after an interruption.", remedy: nil)
      return end()
    default: fail(answer.davRefusal)
    }
    activity = .closing(chunks ?? place)
  }

  private static let remedyOfUnclearCreation =
    "If it was begun nevertheless, it stays there, empty: end it, or let the bucket drop such uploads."

  private func receiveCreation(_ answer: Answer) {
    do throws(UploadError) { activity = .listing(try parts?.created(answer) ?? place) } catch {
      let isRefused = (400..<500).contains(answer.status)
      failParts(error, remedy: remedy(ofRefusal: answer) ?? (isRefused ? nil : TestObject.remedyOfUnclearCreation))
      end()
    }
  }

  private func receiveList(_ answer: Answer, of upload: TargetURI) {
    activity = .closing(upload)
    if case .parts = try? parts?.listed(answer) {
      listsParts = true
    } else {
      warn(
        .parts,
        "the server does not list the parts of an upload (" + String(answer.status)
          + "): after an interruption, those are sent again whose response was lost.",
        remedy: answer.status == 403 ? "Let the policy of these keys allow s3:ListMultipartUploadParts there." : nil)
    }
  }

  /// - Parameter status: 0 without a response.
  private func receiveClosing(_ status: Int) {
    let hasEnded = (200..<300).contains(status) || status == 404
    let response = status > 0 ? String(status) : "no response"
    if chunks != nil, hasEnded {
      if takesChunks { add(.chunks, .ok("the server takes large recordings in chunks, as Nextcloud does")) }
    } else if let chunks {
      warn(
        .chunks,
        "the server does not delete the chunks of an upload (" + response
          + "). The directory of the test is still there: " + secrets.line(ofURI: chunks.text) + ".", remedy: nil)
    } else if !hasEnded {
      warn(
        .parts,
        "the server does not end an upload in parts (" + response
          + "): that of the test, and what cancelled uploads have sent, stays there" + location + ".",
        remedy: status == 403
          ? "Let the policy of these keys allow s3:AbortMultipartUpload there, or the bucket drop such uploads." : nil)
    } else if listsParts {
      add(.parts, .ok("the server takes large recordings in parts"))
    }
    end()
  }

  /// - Parameter status: of a PUT that should not replace it.
  private func receiveReplacement(_ status: Int) {
    switch status {
    case 409, 412: add(.overwriting, .ok("the server replaces no object if an upload asks it not to (If-None-Match)"))
    case 200, 501:
      warn(
        .overwriting,
        "the server cannot prevent overwriting (If-None-Match): of two uploads with the same name at the same time, the"
          + " later one stays.",
        remedy: "Give each recording a name of its own, such as {date}-{time}-{name}.")
    default: add(.overwriting, .notExamined("a second PUT was refused for another reason (" + String(status) + ")"))
    }
    activity = .opening
  }

  /// - Parameter status: 0 without a response.
  private func receiveRemoval(_ status: Int) {
    activity = .ended
    defer {
      if let otherPlace { (place, self.otherPlace, activity) = (otherPlace, nil, .removing) }
    }
    switch status {
    case 404, 410: break
    case 200..<300: add(.removal, .ok("the test object is deleted"))
    default:
      let reason =
        status > 0 ? "the deletion was refused (" + String(status) + ")" : "the server did not answer the deletion"
      let consequence = isForWebDAV ? " What interrupted uploads leave is deleted like that, too: allow DELETE." : ""
      warn(
        .removal, reason + ": there may still be a test object" + location + ".", remedy: "Delete it." + consequence)
    }
  }

  // MARK: Failures

  private func fail(_ error: UploadError, remedy: String? = nil) {
    add(
      .testObject,
      .failure(error.redacted(secrets), about: "a test object" + location, answer: latest.shown, remedy: remedy))
    end()
  }

  private func failParts(_ error: UploadError, remedy: String? = nil) {
    add(
      .parts,
      .failure(error.redacted(secrets), about: "an upload in parts" + location, answer: latest.shown, remedy: remedy))
  }

  /// - Returns: nil if the error's own says enough.
  private func remedy(ofRefusal answer: Answer) -> String? {
    guard let s3 else {
      return [403, 405, 501].contains(answer.status) && isForWebDAV
        ? "This user may only read there, or the address is not one of WebDAV." : nil
    }
    switch S3Content.text(of: "Code", in: answer.content) ?? "" {
    case "NoSuchBucket": return "Create the bucket, or correct its name or --s3-endpoint."
    case "AccessDenied": return "The policy of these keys must allow s3:PutObject there."
    case "InvalidAccessKeyId": return "Correct the keys or --s3-endpoint: the server does not know the key's ID."
    case "SignatureDoesNotMatch": return "Correct the secret key, or have nothing on the way change requests."
    case "RequestTimeTooSkewed": return "Set this machine's clock."
    default: break
    }
    if s3.region != givenRegion { return "Use --set s3-region=" + secrets.line(s3.region) + "." }
    return nil
  }
}
