import UploadCore

/// The first line of a ``Transcript``: what is asked of the machine, and what an earlier process left.
struct TranscriptSetup {
  private(set) var size: Int64 = 100
  private var isGrowing = false
  private var isAppended = false
  private var connections = ConnectionLimit.count(1)
  private(set) var sha256 = GigHive.sha256
  private(set) var findsNewCredentials = false
  /// When the clock showed 0 milliseconds, in seconds since 1970.
  private(set) var bootedAtSeconds: Int64 = 1_800_000_000
  private var purpose = "tus"
  private var target: String?
  private var previous = UnfinishedUpload()
  private var superseded: String?
  private var isGuest = false
  private var modifiedSeconds: Int64 = 1_700_000_000
  private var verifiesCertificate = true
  private var limit = RetryLimit.failures(2)
  private var maximumDelayMilliseconds: Int64 = 8000
  private var endsAfterFullSend = false
  private var policy: [(inout UploadPolicy) -> Void] = []
  private var request: [(inout UploadRequest) -> Void] = []

  init(_ line: String) throws {
    let parts = line.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
    for (index, part) in parts.enumerated() {
      if index == 0, try takePurpose(part) { continue }
      try take(part)
    }
  }

  private mutating func takePurpose(_ part: String) throws -> Bool {
    let words = part.split(separator: " ", maxSplits: 1).map(String.init)
    (purpose, target) = (words[0], words.count > 1 ? words[1] : nil)
    guard
      [
        "tus", "created", "gighive", "form", "put", "s3", "webdav", "nextcloud", "cancel", "delete", "examine", "clear",
        "abort",
      ]
      .contains(
        purpose)
    else {
      throw TranscriptRun.Failure("unknown destination: \(part)")
    }
    return true
  }

  private mutating func take(_ part: String) throws {
    let words = part.split(separator: " ").map(String.init)
    let number = words.compactMap { Int64($0) }.first
    switch (words[0], words.last ?? "") {
    case (_, "connections"): connections = number.map { .count($0) } ?? .automatic
    case (_, "bytes"): size = number ?? 0
    case (_, "MiB"): size = (number ?? 0) << 20
    case (_, "GiB"): size = (number ?? 0) << 30
    case ("joins", _): previous.joins = number ?? 0
    case ("at", "U"): previous.remote = RemoteUpload(url: TranscriptSetup.chunks)
    case ("at", _):
      previous.remote = RemoteUpload(url: words[1].hasPrefix("/") ? "https://hive" + words[1] : words[1])
    case ("offset", _): previous.remote?.offset = number ?? 0
    case ("uploaded", _): previous.remote?.isWhole = true
    case ("last", _): previous.lastByteMayBeSent = true
    case ("touched", _): previous.doubt = .touched
    case ("replaced", _): previous.doubt = .replaced
    case ("parts", _):
      // `parts a b -`: their tags, and `-` for one that is missing.
      let tags = words.dropFirst().map { $0 == "-" ? "" : $0 }
      let token = String(repeating: "07", count: 16)
      guard purpose == "s3" else {
        let length = 2 * Limits.partLength
        previous.parts = UploadedParts(token: token, length: length, tags: tags, ofSize: size)
        break
      }
      let digest = TranscriptSetup.sentChecksum
      var parts = UploadedParts(token: token, ofSize: size)
      for (index, tag) in tags.enumerated() where !tag.isEmpty { parts.set(tag, of: index + 1, sha256: digest) }
      let sent = SentPart(length: Limits.partLength, sha256: digest, statusTime: StatusTime(seconds: 1, nanoseconds: 0))
      (previous.parts, previous.sent) = (parts, sent)
    case ("recorded", _):
      // `b?`: perhaps only its beginning. `recorded in order a a?`: as one upload.
      let areInOrder = words[1] == "in"
      let step = ["tus", "gighive"].contains(purpose) ? Limits.growingUploadsStep : Limits.growingPartsStep
      var parts = UploadedParts(growing: String(repeating: "07", count: 16), step: step, areInOrder: areInOrder)
      for (index, tag) in words.dropFirst(areInOrder ? 3 : 1).enumerated() where tag != "-" {
        parts.set(
          tag.split(separator: "?").map(String.init)[0], of: index + 1,
          sha256: TranscriptSetup.sentChecksum, isWhole: !tag.hasSuffix("?"))
      }
      previous.parts = parts
    case ("growing", _):
      isGrowing = true
      isAppended = words.last == "appended"
      request.append { $0.live = LiveSending(settleMilliseconds: 1000) }
    // MiB.
    case ("lag", _): request.append { $0.live?.lag = (number ?? 0) << 20 }
    case ("sent", _):
      previous.sent = SentPart(length: number ?? 0, sha256: words.last == "other" ? "cd" : GigHive.sha256)
    case ("doubtful", _): previous.isServerDoubtful = true
    case ("processing", _): previous.assetID = number
    case ("full", _):
      previous.fullSends = FullSends(.refused, times: words.compactMap { Int64($0) }.map { bootedAtSeconds - $0 })
    case ("cookie", _): previous.cookies = Cookies([words.dropFirst().joined(separator: " ")])
    case ("by", "POST"): previous.detours.overridesMethod = true
    case ("split", _): previous.detours.splitEnd = number ?? 0
    case ("instead", "U"): superseded = TranscriptSetup.chunks
    case ("instead", _): superseded = words.last
    case ("guest", let last):
      isGuest = true
      if last != "terms" { request.append { $0.extraFields = [FormField("tos_accepted", "true")] } }
    case ("unverified", _): verifiesCertificate = false
    case ("retries", "forever"): limit = .forever
    case ("retries", "s"): limit = .time(milliseconds: (number ?? 0) * 1000)
    case ("retries", _): limit = .failures(number ?? 0)
    case ("pauses", _): maximumDelayMilliseconds = (number ?? 0) * 1000
    case ("returns", _): endsAfterFullSend = true
    case ("within", _): policy.append { $0.totalMilliseconds = (number ?? 0) * 1000 }
    case ("renews", _): policy.append { $0.canRenewCredentials = true }
    case ("finds", _):
      policy.append { $0.canRenewCredentials = true }
      findsNewCredentials = true
    case ("proxy", _): policy.append { $0.proxies.http = try? Proxy(variable: "a:b@proxy:3128") }
    case ("chunk", _): request.append { $0.chunkLength = number }
    case ("late", _): request.append { $0.defersLength = true }
    case ("override", _): request.append { $0.overridesMethod = true }
    case ("digest", _): request.append { $0.computesDigest = true }
    case ("record", _): request.append { $0.needsRecord = true }
    case ("remove", _): request.append { $0.afterDelivery.removal = .delete }
    case ("over", _): request.append { $0.uploadProtocol = .tus }
    case ("as", _): request.append { $0.uploadProtocol = .multipart }
    case ("threshold", _): request.append { $0.tusThreshold = number ?? 0 }
    case ("content", _): sha256 = String(repeating: words[1], count: 32)
    case ("clock", _): bootedAtSeconds = number ?? 0
    case ("modified", _): modifiedSeconds = number ?? 0
    default: throw TranscriptRun.Failure("unknown in the setup: \(part)")
    }
  }

  /// Whether its end leaves a record.
  var keepsRecord: Bool { ["tus", "gighive", "form", "put", "s3", "webdav", "nextcloud"].contains(purpose) }

  func machine() throws(UploadError) -> UploadMachine {
    var policy = UploadPolicy(
      retries: RetryPolicy(limit, maximumDelayMilliseconds: maximumDelayMilliseconds), seed: 7)
    policy.retries.endsAfterFullSend = endsAfterFullSend
    for change in self.policy { change(&policy) }
    do {
      switch purpose {
      case "cancel":
        let upload = try TargetURI("https://hive/files/1")
        return try UploadMachine(.cancel(upload, overridesMethod: target == "by POST", previous.cookies), policy)
      case "abort":
        return try UploadMachine(
          .abort(try TargetURI("https://hive/bucket/set.wav?uploadId=u"), region: "us-east-1"), policy)
      case "delete":
        return try UploadMachine(
          .delete(
            assetID: 9, deleteToken: "5ec2e7", from: TargetURI("https://hive/"), isRepeated: target == "again"), policy)
      case "clear":
        let isDelivery = target == "delivery"
        let object = isDelivery ? "https://hive/dav/a/set.wav" : "https://hive/dav/a/.set.wav.5e1f0a77.gighive-part"
        return try UploadMachine(.remove(TargetURI(object), size: isDelivery ? 100 : nil), policy)
      case "examine":
        let recording = StoredRecording(
          base: try TargetURI(target ?? "https://hive/"), assetID: 9, sha256: GigHive.sha256, size: size)
        return try UploadMachine(.examine(recording), policy)
      default:
        var request = UploadRequest(file: LocalPath("/set.wav"), destination: try destination)
        for change in self.request { change(&request) }
        let plan = UploadPlan(
          request, size: size, isGrowing: isGrowing, isAppended: isAppended, previous: previous, recordID: "5e1f0a77",
          superseded: try superseded.map { try TargetURI($0.hasPrefix("/") ? "https://hive" + $0 : $0) },
          modifiedSeconds: modifiedSeconds,
          isGuest: isGuest, verifiesCertificate: verifiesCertificate, connections: connections,
          boundary: Boundary(random: [UInt8](repeating: 7, count: 16)))
        return try UploadMachine(.upload(plan), policy)
      }
    } catch let error as UploadError { throw error } catch { fatalError("\(error)") }
  }

  private var destination: Destination {
    get throws {
      switch purpose {
      case "form": return .multipart(try TargetURI(target ?? "https://hive/upload"))
      case "put": return .put(try TargetURI(target ?? "https://hive/set.wav?sig=a"), isSigned: true)
      case "s3":
        var object = S3Object(url: try TargetURI("https://hive/bucket/set.wav"), region: "us-east-1")
        object.mayReplace = target == "replacing"
        return .s3(object)
      case "created": return .tusUpload(try TargetURI(target ?? "https://hive/files/1"), isSecret: false)
      case "webdav":
        return .webDAV(try TargetURI("https://hive/dav/a/set.wav", unless: target), mayReplace: target == "replacing")
      case "nextcloud":
        let file = try TargetURI("https://hive/remote.php/dav/files/ann/set.wav", unless: target)
        return .webDAV(file, mayReplace: target == "replacing")
      case "gighive":
        var form = EventForm()
        (form.label, form.eventDate) = ("Set 1", "2026-05-01")
        return .gigHive(try TargetURI(target ?? "https://hive/"), form)
      default: return .tus(try TargetURI(target ?? "https://hive/files/"))
      }
    }
  }

  /// Of the whole file.
  static let md5 = "d131dd02c5e6eec4d131dd02c5e6eec4"
  /// Of each range.
  static let digest: [UInt8] = [0xDE, 0xAD, 0xBE, 0xEF]
  /// The same in hexadecimal digits.
  static let sentChecksum = ASCII.hex(digest)

  /// The directory of the chunks that a Nextcloud joins: `U` in transcripts.
  static let chunks = "https://hive/remote.php/dav/uploads/ann/gighive-upload-" + String(repeating: "07", count: 16)

  var record: UploadRecord {
    var record = UploadRecord.sample(identity(size: size))
    record.state = .unfinished(previous)
    return record
  }
}

extension TargetURI {
  /// - Parameter given: an address instead; nil, or the word `replacing`, for none.
  fileprivate init(_ usual: String, unless given: String?) throws {
    self = try TargetURI(given.flatMap { $0 == "replacing" ? nil : $0 } ?? usual)
  }
}
