/// Why bytes are not a record.
package enum RecordError: Error, Equatable {
  case damaged
  /// Written by a version of the program with another format.
  case unsupportedVersion
}

/// The file of a record: a line with the length and the CRC-32 of the rest, then JSON.
///
///     gighive-upload record 2 0000000412 1c291ca3
///     {"id":"5e1f0a77","phase":"pending", …}
///
/// Unknown members are kept. A version that adds a member without which the record must not be touched, such as several URLs for one file,
/// names it in the array `needs`. Versions that do not know the name leave the record alone.
extension UploadRecord {
  private static let magic = "gighive-upload record "
  /// The first line: the magic, the format, the length, the CRC-32 and the line's end.
  private static let headLength = magic.utf8.count + 2 + 11 + 9
  /// The names in `needs` that this version knows.
  private static let known: [String] = []

  /// The content of the file.
  /// - Parameters:
  ///   - block: spaces fill the file up to a multiple of this, in bytes.
  ///   - crc32: computes the CRC-32 (ISO 3309, as in zlib).
  package func encoded(paddedTo block: Int = 1, crc32: ([UInt8]) -> UInt32) -> [UInt8] {
    var content = Array(json.utf8)
    let unpadded = UploadRecord.headLength + content.count + 1
    content.append(contentsOf: repeatElement(ASCII.space, count: (block - unpadded % block) % block))
    content.append(ASCII.lineFeed)
    let head = Array((UploadRecord.magic + "2 " + ASCII.digits(Int64(content.count), 10) + " ").utf8)
    return head + Array(ASCII.hex(crc32(content)).utf8) + [ASCII.lineFeed] + content
  }

  private var json: String {
    var json = JSONWriter()
    json.add("id", id)
    json.add("phase", phase.rawValue)
    json.add("created_at", createdAt)
    json.add("updated_at", updatedAt)
    json.add("file", Percent.encode(file.path.bytes))
    json.add("device", String(file.identity.device))
    json.add("inode", String(file.identity.inode))
    if file.identity.hasLocalTimes { json.add("has_local_times", true) }
    json.add("size", file.identity.size)
    json.add("modified_seconds", file.identity.modifiedSeconds)
    json.add("modified_nanoseconds", file.identity.modifiedNanoseconds)
    json.add("edges_sha256", file.identity.edges)
    json.add("endpoint", destination.endpoint)
    if destination.isObject { json.add("is_object", true) }
    if !destination.event.isEmpty { json.add("event", destination.event) }
    json.add("offset", offset)
    json.add("uploaded_as", destination.uploadedAs)
    if let sidecar = file.sidecar { json.add("sidecar", sidecar.encoded()) }
    for (name, value) in optionalTexts { if let value { json.add(name, value) } }
    if let assetID { json.add("asset_id", assetID) }
    if phase == .failed, remote?.isWhole ?? false { json.add("was_uploaded", true) }
    if let deletion = delivery?.deletion { json.add("deletion", deletion.rawValue) }
    if delivery?.isUnprovedPage ?? false { json.add("unproved_page", true) }
    if lastByteMayBeSent { json.add("is_ending", true) }
    if isServerDoubtful { json.add("server_doubtful", true) }
    if mayBeStored { json.add("may_be_stored", true) }
    if let deliveredAt = delivery?.deliveredAt { json.add("delivered_at", deliveredAt) }
    if let sent = unfinished?.sent {
      json.add("sent_length", sent.length)
      json.add("sent_sha256", sent.sha256)
      if let statusTime = sent.statusTime {
        json.add("sent_changed_seconds", statusTime.seconds)
        json.add("sent_changed_nanoseconds", statusTime.nanoseconds)
      }
    }
    if let parts = unfinished?.parts {
      json.add("parts_token", parts.token)
      json.add("part_length", parts.length)
      json.add("parts", parts.tags)
      if let digests = parts.digests { json.add("parts_sha256", digests) }
      if parts.areGrowing { json.add("parts_step", Int64(parts.step)) }
      if parts.areInOrder { json.add("parts_in_order", true) }
      if !parts.begun.isEmpty { json.add("parts_begun", .array(parts.begun.map { .number(String($0)) })) }
    }
    if let doubt = unfinished?.doubt { json.add("file_doubt", doubt.rawValue) }
    if let statusTime = delivery?.statusTime {
      json.add("changed_seconds", statusTime.seconds)
      json.add("changed_nanoseconds", statusTime.nanoseconds)
    }
    if let detours = unfinished?.detours {
      if detours.overridesMethod { json.add("method_override", true) }
      if detours.splitEnd > 0 { json.add("split_end", detours.splitEnd) }
    }
    if let cookies = unfinished?.cookies.texts, !cookies.isEmpty {
      json.add("cookies", cookies)
    }
    if let nextRetry = unfinished?.nextRetry { json.add("next_retry", nextRetry) }
    if let fullSends = unfinished?.fullSends {
      json.add("full_sends", .array(fullSends.times.map { .number(String($0)) }))
      json.add("full_sends_failed", fullSends.failure.rawValue)
      if let extraAt = fullSends.extraAt { json.add("full_sends_extra", extraAt) }
    }
    json.add("note", note)
    if !context.isEmpty { json.add("context", context) }
    for member in others { json.add(member.name, member.value) }
    return json.finished()
  }

  private var optionalTexts: [(String, String?)] {
    [
      ("file_system", file.fileSystemID.map { String($0) }),
      ("upload_url", remote?.url), ("expires", remote?.expires), ("former_url", unfinished?.formerURL),
      ("message", unfinished?.message),
      ("checksum_sha256", delivery?.sha256), ("delete_token", delivery?.deleteToken),
    ]
  }

  /// Parses a whole file. Throws if it is torn, truncated, too long or modified.
  package init(decoding bytes: [UInt8], crc32: ([UInt8]) -> UInt32) throws(RecordError) {
    let magic = UploadRecord.magic.utf8
    guard bytes.starts(with: magic), bytes.count <= Limits.recordLength else { throw .damaged }
    // A power cut can leave zeros in place of the version, or nothing.
    let version = bytes.dropFirst(magic.count).prefix { ASCII.isDigit($0) }
    guard !version.isEmpty, bytes.dropFirst(version.endIndex).first == ASCII.space else { throw .damaged }
    guard version.elementsEqual("2".utf8) else { throw .unsupportedVersion }
    let lengthStart = magic.count + 2
    let sumStart = lengthStart + 11
    let contentStart = UploadRecord.headLength
    guard bytes.count > contentStart, bytes[sumStart - 1] == ASCII.space, bytes[contentStart - 1] == ASCII.lineFeed,
      let length = ASCII.decimal(bytes[lengthStart..<(sumStart - 1)]), length == Int64(bytes.count - contentStart)
    else { throw .damaged }
    let content = [UInt8](bytes[contentStart...])
    guard bytes[sumStart..<(contentStart - 1)].elementsEqual(ASCII.hex(crc32(content)).utf8) else { throw .damaged }
    guard let json = try? JSONReader.read(content), let record = UploadRecord(json) else { throw .unsupportedVersion }
    self = record
  }

  private init?(_ json: JSONValue) {
    guard json["needs"]?.elements.allSatisfy({ need in UploadRecord.known.contains { $0 == need.string } }) ?? true,
      let id = json["id"]?.string, UploadRecord.isID(id),
      let phase = json["phase"]?.string.flatMap({ Phase(rawValue: $0) }),
      let path = json["file"]?.string.flatMap({ Percent.decode($0) }), !path.isEmpty, !path.contains(0),
      let identity = UploadRecord.identity(json), let endpoint = json["endpoint"]?.string,
      let offset = json["offset"]?.integer, offset >= 0,
      // A recording that is sent while it is made has grown since.
      offset <= identity.size || json["parts_step"] != nil
    else { return nil }
    self.init(
      id: id,
      RecordedFile(
        path: LocalPath(bytes: path), identity: identity,
        fileSystemID: json["file_system"]?.string.flatMap { UInt64($0) },
        sidecar: json["sidecar"].flatMap { FileSighting($0) }),
      to: RecordedDestination(
        endpoint: endpoint, isObject: json["is_object"] == .bool(true), event: json["event"]?.string ?? "",
        uploadedAs: json["uploaded_as"]?.string ?? ""))
    createdAt = json["created_at"]?.integer ?? 0
    updatedAt = json["updated_at"]?.integer ?? 0
    note = json["note"]?.string ?? ""
    context = json["context"]?.string ?? ""
    others = json.members.filter { !UploadRecord.members.contains($0.name) }
    state = .unfinished(UnfinishedUpload(json, phase, offset: offset, size: identity.size))
    if phase == .delivered { state = .delivered(RecordedDelivery(json, of: self)) }
  }

  /// What this version reads. Others are kept as they are.
  private static let members = [
    "id", "phase", "created_at", "updated_at", "delivered_at", "file", "file_system", "device", "inode",
    "has_local_times", "size", "modified_seconds", "modified_nanoseconds", "edges_sha256", "endpoint", "is_object",
    "event", "offset", "uploaded_as", "upload_url", "expires", "former_url", "message", "checksum_sha256",
    "delete_token", "asset_id", "was_uploaded", "deletion", "unproved_page", "is_ending", "server_doubtful",
    "may_be_stored", "changed_seconds", "changed_nanoseconds", "sent_length", "sent_sha256", "sent_changed_seconds",
    "sent_changed_nanoseconds", "file_doubt", "method_override", "split_end", "cookies", "next_retry", "full_sends",
    "full_sends_failed", "full_sends_extra", "parts_token", "part_length", "parts", "parts_sha256", "parts_step",
    "parts_begun", "parts_in_order", "sidecar", "note", "context",
  ]

  private static func identity(_ json: JSONValue) -> FileIdentity? {
    guard let device = json["device"]?.string.flatMap({ UInt64($0) }),
      let inode = json["inode"]?.string.flatMap({ UInt64($0) }), let size = json["size"]?.integer, size > 0,
      let seconds = json["modified_seconds"]?.integer, let nanoseconds = json["modified_nanoseconds"]?.integer,
      let edges = json["edges_sha256"]?.string
    else { return nil }
    return FileIdentity(
      device: device, inode: inode, hasLocalTimes: json["has_local_times"] == .bool(true), size: size,
      modifiedSeconds: seconds, modifiedNanoseconds: nanoseconds, edges: edges)
  }
}

extension UnfinishedUpload {
  /// Members that contradict each other, which this program does not write, become the state in which the least is sent twice or
  /// lost: what may be stored has failed, what was whole is whole, and without a URL nothing is on a tus server. Members of a
  /// delivery are dropped.
  fileprivate init(_ json: JSONValue, _ phase: UploadRecord.Phase, offset: Int64, size: Int64) {
    if phase == .failed { failure = .notDelivered }
    if json["may_be_stored"] == .bool(true) { failure = .mayBeStored }
    message = json["message"]?.string
    remote = json["upload_url"]?.string.map {
      RemoteUpload(
        url: $0, expires: json["expires"]?.string, offset: offset,
        isWhole: phase == .uploaded || json["was_uploaded"] == .bool(true))
    }
    if let token = json["parts_token"]?.string, let length = json["part_length"]?.integer {
      let tags = json["parts"]?.elements.map { $0.string ?? "" } ?? []
      let digests = json["parts_sha256"]?.elements.map { $0.string ?? "" }
      parts = UploadedParts(
        token: token, length: length, tags: tags, digests: digests,
        step: json["parts_step"]?.integer.flatMap { Int(exactly: $0) },
        begun: json["parts_begun"]?.elements.map { Int(clamping: $0.integer ?? 0) } ?? [],
        areInOrder: json["parts_in_order"] == .bool(true), ofSize: size)
    }
    if remote != nil {
      sent = SentPart(json, size: size)
      doubt = json["file_doubt"]?.string.flatMap { FileDoubt(rawValue: $0) }
    }
    formerURL = json["former_url"]?.string
    lastByteMayBeSent = json["is_ending"] == .bool(true)
    isServerDoubtful = json["server_doubtful"] == .bool(true)
    assetID = json["asset_id"]?.integer
    detours = TusDetours(
      overridesMethod: json["method_override"] == .bool(true), splitEnd: json["split_end"]?.integer ?? 0)
    cookies = Cookies(json["cookies"]?.elements.compactMap { $0.string } ?? [])
    nextRetry = json["next_retry"]?.integer.flatMap { (0...Limits.unixSeconds).contains($0) ? $0 : nil }
    if let failure = json["full_sends_failed"]?.string.flatMap({ FullSends.Failure(rawValue: $0) }) {
      fullSends = FullSends(
        failure, times: json["full_sends"]?.elements.compactMap { $0.integer } ?? [],
        extraAt: json["full_sends_extra"]?.integer)
    }
  }
}

extension StatusTime {
  fileprivate init?(_ json: JSONValue, _ prefix: String = "") {
    guard let seconds = json[prefix + "changed_seconds"]?.integer,
      let nanoseconds = json[prefix + "changed_nanoseconds"]?.integer
    else { return nil }
    self.init(seconds: seconds, nanoseconds: nanoseconds)
  }
}

extension SentPart {
  fileprivate init?(_ json: JSONValue, size: Int64) {
    guard let length = json["sent_length"]?.integer, length > 0, length <= size,
      let sha256 = json["sent_sha256"]?.string
    else { return nil }
    self.init(length: length, sha256: sha256, statusTime: StatusTime(json, "sent_"))
  }
}

extension RecordedDelivery {
  /// A delivery is never sent again: members of an unfinished upload that contradict it are dropped.
  /// - Parameter record: the same as if it were not delivered.
  fileprivate init(_ json: JSONValue, of record: UploadRecord) {
    self.init(of: record)
    deliveredAt = json["delivered_at"]?.integer
    sha256 = json["checksum_sha256"]?.string
    deleteToken = json["delete_token"]?.string
    statusTime = StatusTime(json)
    isUnprovedPage = json["unproved_page"] == .bool(true)
    deletion = json["deletion"]?.string.flatMap { Deletion(rawValue: $0) }
  }
}
