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
    var members = RecordMembers()
    _ = UploadRecord(self, &members)
    for member in others { members.json.add(member.name, member.value) }
    return members.json.finished()
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
    guard json["needs"]?.elements.allSatisfy({ need in UploadRecord.known.contains { $0 == need.string } }) ?? true
    else { return nil }
    var members = RecordMembers(reading: json)
    self.init(nil, &members)
    others = json.members.filter { !members.names.contains($0.name) }
  }

  /// Writes the members of `own`, or reads them: each stands here and below, once.
  /// - Parameter own: what is written; nil to read.
  /// - Returns: nil if what was read is no record.
  private init?(_ own: UploadRecord?, _ members: inout RecordMembers) {
    let id = members.text("id", own?.id)
    let phase = members.text("phase", own?.phase.rawValue).flatMap { Phase(rawValue: $0) }
    let createdAt = members.integer("created_at", own?.createdAt)
    let updatedAt = members.integer("updated_at", own?.updatedAt)
    let path = members.text("file", own.map { Percent.encode($0.file.path.bytes) }).flatMap { Percent.decode($0) }
    let identity = FileIdentity(own?.file.identity, &members)
    let fileSystem = members.number("file_system", own?.file.fileSystemID)
    let sidecar = members.object("sidecar", own?.file.sidecar?.encoded()).flatMap { FileSighting($0) }
    let endpoint = members.text("endpoint", own?.destination.endpoint)
    let isObject = members.flag("is_object", own?.destination.isObject)
    let event = members.text("event", own?.destination.event.nonEmpty)
    let uploadedAs = members.text("uploaded_as", own?.destination.uploadedAs)
    let offset = members.integer("offset", own?.offset)
    guard let id, UploadRecord.isID(id), let phase, let path, !path.isEmpty, !path.contains(0), let identity,
      let endpoint, let offset, offset >= 0
    else { return nil }
    self.init(
      id: id,
      RecordedFile(path: LocalPath(bytes: path), identity: identity, fileSystemID: fileSystem, sidecar: sidecar),
      to: RecordedDestination(
        endpoint: endpoint, isObject: isObject, event: event ?? "", uploadedAs: uploadedAs ?? ""))
    (self.createdAt, self.updatedAt) = (createdAt ?? 0, updatedAt ?? 0)
    let upload = UnfinishedUpload(own, phase, offset: offset, size: identity.size, &members)
    state = .unfinished(upload)
    let delivery = RecordedDelivery(own?.delivery, of: self, &members)
    if phase == .delivered { state = .delivered(delivery) }
    note = members.text("note", own?.note) ?? ""
    context = members.text("context", own?.context.nonEmpty) ?? ""
    // A recording that is sent while it is made has grown since.
    if offset > identity.size, !(upload.parts?.areGrowing ?? false) { return nil }
  }
}

extension Collection {
  fileprivate var nonEmpty: Self? { isEmpty ? nil : self }
}

/// The members of a record, which are either written or read. Each function writes the value that it gets, unless that is nil, and returns
/// it, or returns what it has read.
private struct RecordMembers {
  var json = JSONWriter()
  private let source: JSONValue?
  /// Those that this version reads. Others are kept as they are.
  private(set) var names: [String] = []

  init(reading source: JSONValue? = nil) { self.source = source }

  private mutating func read(_ name: String) -> JSONValue? {
    names.append(name)
    return source?[name]
  }

  mutating func text(_ name: String, _ value: String?) -> String? {
    if source != nil { return read(name)?.string }
    if let value { json.add(name, value) }
    return value
  }

  mutating func integer(_ name: String, _ value: Int64?) -> Int64? {
    if source != nil { return read(name)?.integer }
    if let value { json.add(name, value) }
    return value
  }

  /// One that a JSON reader may not be able to represent is a text.
  mutating func number(_ name: String, _ value: UInt64?) -> UInt64? {
    text(name, value.map { String($0) }).flatMap { UInt64($0) }
  }

  /// Written only if it is true.
  mutating func flag(_ name: String, _ value: Bool?) -> Bool {
    if source != nil { return read(name) == .bool(true) }
    if value ?? false { json.add(name, true) }
    return value ?? false
  }

  mutating func texts(_ name: String, _ values: [String]?) -> [String]? {
    if source != nil { return read(name)?.elements.map { $0.string ?? "" } }
    if let values { json.add(name, values) }
    return values
  }

  mutating func integers(_ name: String, _ values: [Int64]?) -> [Int64]? {
    if source != nil { return read(name)?.elements.map { $0.integer ?? -1 } }
    if let values { json.add(name, .array(values.map { .number(String($0)) })) }
    return values
  }

  /// - Returns: nil after it was written.
  mutating func object(_ name: String, _ value: JSONWriter?) -> JSONValue? {
    if source != nil { return read(name) }
    if let value { json.add(name, value) }
    return nil
  }
}

extension FileIdentity {
  fileprivate init?(_ own: FileIdentity?, _ members: inout RecordMembers) {
    let device = members.number("device", own?.device)
    let inode = members.number("inode", own?.inode)
    let hasLocalTimes = members.flag("has_local_times", own?.hasLocalTimes)
    let size = members.integer("size", own?.size)
    let seconds = members.integer("modified_seconds", own?.modifiedSeconds)
    let nanoseconds = members.integer("modified_nanoseconds", own?.modifiedNanoseconds)
    let edges = members.text("edges_sha256", own?.edges)
    guard let device, let inode, let size, size > 0, let seconds, let nanoseconds, let edges else { return nil }
    self.init(
      device: device, inode: inode, hasLocalTimes: hasLocalTimes, size: size, modifiedSeconds: seconds,
      modifiedNanoseconds: nanoseconds, edges: edges)
  }
}

extension UnfinishedUpload {
  /// Members that contradict each other, which this program does not write, become the state in which the least is sent twice or
  /// lost: what may be stored has failed, what was whole is whole, and without a URL nothing is on a tus server. Members of a
  /// delivery are dropped.
  /// - Parameter record: what is written, delivered or not; nil to read.
  fileprivate init(
    _ record: UploadRecord?, _ phase: UploadRecord.Phase, offset: Int64, size: Int64, _ members: inout RecordMembers
  ) {
    let own = record?.unfinished
    if phase == .failed { failure = .notDelivered }
    if members.flag("may_be_stored", record?.mayBeStored) { failure = .mayBeStored }
    message = members.text("message", own?.message)
    let url = members.text("upload_url", record?.remote?.url)
    let expires = members.text("expires", record?.remote?.expires)
    let wasUploaded = members.flag("was_uploaded", phase == .failed && own?.remote?.isWhole ?? false)
    remote = url.map {
      RemoteUpload(url: $0, expires: expires, offset: offset, isWhole: phase == .uploaded || wasUploaded)
    }
    let sent = SentPart(own?.sent, size: size, &members)
    let doubt = members.text("file_doubt", own?.doubt?.rawValue).flatMap { FileDoubt(rawValue: $0) }
    if url != nil { (self.sent, self.doubt) = (sent, doubt) }
    parts = UploadedParts(own?.parts, size: size, &members)
    joins = members.integer("joins", own.flatMap { $0.joins > 0 ? $0.joins : nil }) ?? 0
    formerURL = members.text("former_url", own?.formerURL)
    lastByteMayBeSent = members.flag("is_ending", own?.lastByteMayBeSent)
    isServerDoubtful = members.flag("server_doubtful", record?.isServerDoubtful)
    assetID = members.integer("asset_id", record?.assetID)
    let splitEnd = members.integer("split_end", own.flatMap { $0.detours.splitEnd > 0 ? $0.detours.splitEnd : nil })
    detours = TusDetours(
      overridesMethod: members.flag("method_override", own?.detours.overridesMethod), splitEnd: splitEnd ?? 0)
    cookies = Cookies(members.texts("cookies", own?.cookies.texts.nonEmpty) ?? [])
    nextRetry = members.integer("next_retry", own?.nextRetry).flatMap {
      (0...Limits.unixSeconds).contains($0) ? $0 : nil
    }
    fullSends = FullSends(own?.fullSends, &members)
  }
}

extension UploadedParts {
  fileprivate init?(_ own: UploadedParts?, size: Int64, _ members: inout RecordMembers) {
    let token = members.text("parts_token", own?.token)
    let length = members.integer("part_length", own?.length)
    let tags = members.texts("parts", own?.tags) ?? []
    let digests = members.texts("parts_sha256", own?.digests)
    let step = members.integer("parts_step", own.flatMap { $0.areGrowing ? Int64($0.step) : nil })
    let areInOrder = members.flag("parts_in_order", own?.areInOrder)
    let begun = members.integers("parts_begun", own?.begun.map { Int64($0) }.nonEmpty) ?? []
    guard let token, let length else { return nil }
    self.init(
      token: token, length: length, tags: tags, digests: digests, step: step.flatMap { Int(exactly: $0) },
      begun: begun.map { Int(clamping: $0) }, areInOrder: areInOrder, ofSize: size)
  }
}

extension FullSends {
  fileprivate init?(_ own: FullSends?, _ members: inout RecordMembers) {
    let times = members.integers("full_sends", own?.times) ?? []
    let failure = members.text("full_sends_failed", own?.failure.rawValue).flatMap { Failure(rawValue: $0) }
    let extraAt = members.integer("full_sends_extra", own?.extraAt)
    guard let failure else { return nil }
    self.init(failure, times: times, extraAt: extraAt)
  }
}

extension StatusTime {
  fileprivate init?(_ own: StatusTime?, _ prefix: String, _ members: inout RecordMembers) {
    let seconds = members.integer(prefix + "changed_seconds", own?.seconds)
    let nanoseconds = members.integer(prefix + "changed_nanoseconds", own?.nanoseconds)
    guard let seconds, let nanoseconds else { return nil }
    self.init(seconds: seconds, nanoseconds: nanoseconds)
  }
}

extension SentPart {
  fileprivate init?(_ own: SentPart?, size: Int64, _ members: inout RecordMembers) {
    let length = members.integer("sent_length", own?.length)
    let sha256 = members.text("sent_sha256", own?.sha256)
    let statusTime = StatusTime(own?.statusTime, "sent_", &members)
    guard let length, length > 0, length <= size, let sha256 else { return nil }
    self.init(length: length, sha256: sha256, statusTime: statusTime)
  }
}

extension RecordedDelivery {
  /// A delivery is never sent again: members of an unfinished upload that contradict it are dropped.
  /// - Parameter record: the same as if it were not delivered.
  fileprivate init(_ own: RecordedDelivery?, of record: UploadRecord, _ members: inout RecordMembers) {
    self.init(of: record)
    deliveredAt = members.integer("delivered_at", own?.deliveredAt)
    sha256 = members.text("checksum_sha256", own?.sha256)
    deleteToken = members.text("delete_token", own?.deleteToken)
    statusTime = StatusTime(own?.statusTime, "", &members)
    isUnprovedPage = members.flag("unproved_page", own?.isUnprovedPage)
    deletion = members.text("deletion", own?.deletion?.rawValue).flatMap { Deletion(rawValue: $0) }
  }
}
