/// The persistent state of an upload: its file, its destination and how far it is.
package struct UploadRecord: Equatable, Sendable {
  package enum Phase: String, Equatable, Sendable {
    /// In progress, or interrupted.
    case pending
    /// The server has every byte, but GigHive has not turned it into a recording yet.
    case uploaded
    case delivered
    /// Ended by an error that a retry alone does not fix.
    case failed
  }

  /// Eight hexadecimal digits.
  package private(set) var id: String
  /// Seconds since 1970.
  package var createdAt: Int64 = 0
  package var updatedAt: Int64 = 0
  package var file: RecordedFile
  package var destination: RecordedDestination
  package var state = RecordState.unfinished(UnfinishedUpload())
  /// Command-line options.
  package var note = ""
  /// ``UploadRequest/context``
  package var context = ""
  /// Members written by later versions, which are kept.
  package internal(set) var others: [JSONValue.Member] = []

  package init(id: String, _ file: RecordedFile, to destination: RecordedDestination) {
    self.id = id
    self.file = file
    self.destination = destination
  }

  /// The same with another ID, before it is written.
  package func renamed(_ id: String) -> UploadRecord {
    var record = self
    record.id = id
    return record
  }

  /// The record for resuming the upload.
  /// - Parameters:
  ///   - own: the record that a new upload of the file would have.
  ///   - changed: the file's status time.
  package func renewed(by own: UploadRecord, changed: StatusTime) -> UploadRecord {
    var record = self
    record.file = own.file
    // A resumed upload does not read it again.
    record.file.sidecar = own.file.sidecar ?? file.sidecar
    record.destination.uploadedAs = own.destination.uploadedAs
    // A signed URL that has expired is followed by another one. What is on a server stays with its endpoint.
    let isElsewhere = remote != nil || unfinished?.formerURL != nil || unfinished?.parts != nil
    if own.destination.isObject, !isElsewhere { record.destination = own.destination }
    record.note = own.note
    if !own.context.isEmpty { record.context = own.context }
    record.unfinished?.renew(
      isSame: own.file.identity.change(since: file.identity) == nil,
      FileDoubt(own.file, changed: changed, since: file, unfinished?.sent))
    return record
  }

  /// When it is tried again, in seconds since 1970; nil if nothing has to be waited for. A time that is more than a day ahead is
  /// from before the clock was set back.
  /// - Parameter now: in seconds since 1970.
  package func postponedUntil(now: Int64) -> Int64? {
    guard let nextRetry = unfinished?.nextRetry, nextRetry > now, nextRetry - max(now, 0) <= Limits.fullSendSeconds
    else {
      return nil
    }
    return nextRetry
  }

  package static let idLength = 8

  package static func isID(_ text: String) -> Bool {
    text.utf8.count == idLength
      && text.utf8.allSatisfy { ASCII.hexValue($0) != nil && $0 >= 0x30 && ($0 < 0x41 || $0 > 0x46) }
  }
}

/// The state, for those who need only a part of it.
extension UploadRecord {
  /// nil if it is delivered. Then setting a part of it changes nothing.
  package var unfinished: UnfinishedUpload? {
    get { if case .unfinished(let upload) = state { upload } else { nil } }
    set { if let newValue { state = .unfinished(newValue) } }
  }

  /// nil if it is not delivered. Then setting a part of it changes nothing.
  package var delivery: RecordedDelivery? {
    get { if case .delivered(let delivery) = state { delivery } else { nil } }
    set { if let newValue { state = .delivered(newValue) } }
  }

  package var phase: Phase {
    guard let unfinished else { return .delivered }
    if unfinished.failure != nil { return .failed }
    return unfinished.isUploaded ? .uploaded : .pending
  }

  /// ``UnfinishedUpload/Failure/mayBeStored``
  package var mayBeStored: Bool { unfinished?.failure == .mayBeStored }

  /// Whether the server may have the recording even after its upload was cancelled: all was sent, and only tus ends what is complete, unless
  /// GigHive has taken it. Parts may have been joined; before those of a tus server are, the record says so.
  package var mayOutliveCancelling: Bool {
    let hasAllParts = unfinished?.parts.map { !$0.areUploads && $0.firstMissing(in: size) == nil } ?? false
    let isTaken = (unfinished?.isUploaded ?? false) || assetID != nil
    return hasAllParts || isTaken || remote == nil && (mayBeStored || lastByteMayBeSent)
  }

  /// The tus upload, also of a delivery.
  package var remote: RemoteUpload? {
    switch state {
    case .unfinished(let upload): upload.remote
    case .delivered(let delivery): delivery.remote
    }
  }

  /// What the server had over tus, or of a delivery, when the record was written, in bytes.
  package var offset: Int64 {
    switch state {
    case .unfinished(let upload):
      upload.remote?.offset ?? upload.parts?.total(in: UploadedParts.unknownSize) ?? 0
    case .delivered: file.identity.size
    }
  }

  /// How large the file is known to be, in bytes: one that is sent while it is made has grown since the record began.
  package var size: Int64 { max(file.identity.size, offset) }

  /// GigHive's number for the recording. Before the delivery, GigHive has the whole form and is still processing it.
  package var assetID: Int64? {
    switch state {
    case .unfinished(let upload): upload.assetID
    case .delivered(let delivery): delivery.assetID
    }
  }

  /// Whether the server may have a part of the recording that only cancelling the upload removes. What may be stored is left to a person.
  package var hasPartOnServer: Bool {
    guard let unfinished, !mayBeStored else { return false }
    return unfinished.remote != nil || unfinished.formerURL != nil || offset > 0
  }

  /// ``UnfinishedUpload/lastByteMayBeSent``
  package var lastByteMayBeSent: Bool { unfinished?.lastByteMayBeSent ?? false }

  /// Whether the server has said of the upload what cannot be, also of a delivery.
  package var isServerDoubtful: Bool {
    switch state {
    case .unfinished(let upload): upload.isServerDoubtful
    case .delivered(let delivery): delivery.isServerDoubtful
    }
  }
}

/// Whether an upload is delivered, and what is known of it.
package enum RecordState: Equatable, Sendable {
  case unfinished(UnfinishedUpload)
  case delivered(RecordedDelivery)
}

package struct RecordedFile: Equatable, Sendable {
  /// Absolute.
  package var path: LocalPath
  package var identity: FileIdentity
  /// The ID of its file system; nil if it has none.
  package var fileSystemID: UInt64?
  /// Its sidecar file, when that was read to describe it; nil if none was.
  package var sidecar: FileSighting?

  package init(path: LocalPath, identity: FileIdentity, fileSystemID: UInt64? = nil, sidecar: FileSighting? = nil) {
    self.path = path
    self.identity = identity
    self.fileSystemID = fileSystemID
    self.sidecar = sidecar
  }

  /// Whether it is the same file on the disk, and nothing has touched it. Where inodes are not stable, only the modification time tells.
  /// - Parameters:
  ///   - changed: its status time now.
  ///   - proven: that of the previous file, when its content was last known; nil if it can prove nothing.
  package func isUntouched(_ changed: StatusTime, since previous: RecordedFile, _ proven: StatusTime?) -> Bool {
    guard identity.hasStableInode, previous.identity.hasStableInode else {
      return identity.change(since: previous.identity) == nil
    }
    return !isReplaced(since: previous) && changed == proven
  }

  /// Whether it is another file on the disk. A device number can be another one when the file system is mounted again.
  func isReplaced(since previous: RecordedFile) -> Bool {
    if let id = fileSystemID, let other = previous.fileSystemID, id != other { return true }
    return identity.inode != previous.identity.inode
  }
}

/// Where an upload goes.
package struct RecordedDestination: Equatable, Sendable {
  /// A GigHive base address, a tus endpoint, the address of a form or the URL of an object.
  package var endpoint: String
  /// Whether the endpoint is the URL that the recording itself gets on the server, where it may replace another one.
  package let isObject: Bool
  /// The event that was named for it, which is a part of the destination; empty for none, and for other servers than GigHive.
  package let event: String
  /// The media type and file name for the server, separated by a space.
  package var uploadedAs: String

  package init(endpoint: String, isObject: Bool = false, event: String = "", uploadedAs: String = "") {
    self.endpoint = endpoint
    self.isObject = isObject
    self.event = event
    self.uploadedAs = uploadedAs
  }

  /// The URL of an object in one spelling, so that two that replace each other on the server are found: without a query, with only those
  /// characters encoded that must be, and without dot segments (RFC 3986, 6.2.2) or the dot at the end of a name.
  var objectURL: String {
    guard let target = try? TargetURI(endpoint) else { return endpoint }
    var segments: [String] = []
    for segment in target.withoutQuery.requestTarget.utf8.split(
      separator: ASCII.slash, omittingEmptySubsequences: false)
    {
      let bytes = Percent.decode(ArraySlice(segment)) ?? Array(segment)
      switch Percent.encode(segment: bytes) {
      case ".": break
      case "..": _ = segments.popLast()
      case let name: segments.append(name)
      }
    }
    let host = target.host.hasSuffix(".") ? String(target.host.dropLast()) : target.host
    return TargetURI(
      scheme: target.scheme, host: host, zone: target.zone, port: target.port,
      requestTarget: segments.joined(separator: "/")
    ).text
  }
}

package struct RecordedDelivery: Equatable, Sendable {
  /// When the server confirmed it, in seconds since 1970; nil if it is not known.
  package var deliveredAt: Int64?
  /// GigHive's number for the recording.
  package var assetID: Int64?
  package var sha256: String?
  package var deleteToken: String?
  /// The file's status time when its content was last known to be that of the recording; nil if it is not known, or cannot
  /// prove anything.
  package var statusTime: StatusTime?
  package enum Deletion: String, Equatable, Sendable {
    /// The server was asked to delete the recording, and the outcome is unknown.
    case requested
    /// It has deleted it. Whoever finds the file again does not send it.
    case done
  }
  package var deletion: Deletion?
  /// ``Receipt/isUnprovedPage``
  package var isUnprovedPage = false
  /// The tus upload that became the recording. It stays in the record, and `list --json` shows when it expires.
  package internal(set) var remote: RemoteUpload?
  /// ``UnfinishedUpload/isServerDoubtful`` of that upload.
  package internal(set) var isServerDoubtful = false

  package init() {}

  /// The delivery of an upload, of which the server has every byte.
  package init(of record: UploadRecord) {
    assetID = record.assetID
    remote = record.remote.map {
      RemoteUpload(url: $0.url, expires: $0.expires, offset: record.file.identity.size, isWhole: true)
    }
    isServerDoubtful = record.isServerDoubtful
  }
}

extension UploadRecord {
  /// The most keys in ``indexKeys``.
  package static let indexKeyCount = 7

  /// The keys of the record: of its upload, of the object that it becomes, and as long as it is open, of its file whatever the destination.
  package var indexKeys: [IndexKey] {
    uploadKeys + (destination.isObject ? [objectKey] : []) + (phase == .delivered ? [] : fileKeys)
  }

  /// The key by which uploads to the same URL are found.
  package var objectKey: IndexKey { .object(destination.objectURL) }

  /// The keys by which unfinished uploads of the same file are found, to whatever destination.
  package var fileKeys: [IndexKey] { [.anyPath(file.path)] + (file.identity.hasStableInode ? [.anyFile(self)] : []) }

  /// Of its file and content, of its path and of the file whatever its content as long as it is open, and of the recording that it can delete.
  private var uploadKeys: [IndexKey] {
    guard let delivery else {
      return [.path(self), .file(self), .content(self)] + (file.identity.hasStableInode ? [.openFile(self)] : [])
    }
    var keys: [IndexKey] = [.file(self), .content(self)] + deliveryKeys(delivery)
    if let assetID = delivery.assetID, delivery.deleteToken != nil {
      keys.append(.asset(assetID, endpoint: destination.endpoint))
    }
    return keys
  }

  /// The keys by which a file is recognized as delivered: by its status without reading the record, or by its place.
  private func deliveryKeys(_ delivery: RecordedDelivery) -> [IndexKey] {
    let isPlain = file.identity.hasStableInode && delivery.deletion != .done
    let status = isPlain ? delivery.statusTime.map { IndexKey.status(self, $0) } : nil
    return [.place(self)] + (status.map { [$0] } ?? [])
  }

  /// The keys by which earlier records of the same file are found.
  package var searchKeys: [IndexKey] { uploadKeys + [.place(self)] }

  package enum Match: Equatable {
    /// The same path, or the same file on the disk and unchanged.
    case same
    /// A file with the same name and content, possibly on another disk, or one that was sent while it was made and has another name now. It
    /// is the same upload if the file of `previous` is missing at its path.
    case moved
    /// The file at this path has been written since it was delivered, with the same size and edges, as by a camera that writes its card
    /// again. A SHA-256 tells whether it has the same content.
    case rewritten
  }

  /// Whether `previous` is the record of the upload that this one would start, or of the same recording that was delivered there.
  package func match(with previous: UploadRecord) -> Match? {
    destination.event == previous.destination.event ? matchOfAnyEvent(with: previous) : nil
  }

  /// Whether `previous` is a delivery of the same recording to another event of the same server.
  package func isOfOtherEvent(_ previous: UploadRecord) -> Bool {
    guard destination.event != previous.destination.event, previous.phase == .delivered else { return false }
    return [.same, .moved].contains(matchOfAnyEvent(with: previous))
  }

  private func matchOfAnyEvent(with previous: UploadRecord) -> Match? {
    guard previous.destination.endpoint == destination.endpoint else { return nil }
    if previous.file.path == file.path, previous.phase != .delivered { return .same }
    if isMade(of: previous) { return .moved }
    // A file that has changed since its delivery is another recording.
    if let change = file.identity.change(since: previous.file.identity) {
      let isRewritten = change == .modificationTime && previous.file.path == file.path
      return isRewritten && previous.delivery?.sha256 != nil ? .rewritten : nil
    }
    if previous.file.path == file.path { return .same }
    if file.identity.isSameFile(as: previous.file.identity) { return .same }
    let names = [previous, self].map { $0.file.path.lastComponentBytes }
    return names[0] == names[1] ? .moved : nil
  }

  /// Whether it is of a file that was sent while it was made: what was sent is compared with it, so that it may have grown.
  private func isMade(of previous: UploadRecord) -> Bool {
    guard previous.unfinished?.isGrowing ?? false, !file.isReplaced(since: previous.file) else { return false }
    return file.identity.isSameFile(as: previous.file.identity)
      && file.identity.change(since: previous.file.identity) != nil
  }

  /// How certain it is that this file, which matches a delivered one, has the content that was delivered.
  /// - Parameter changed: its status time.
  package func evidence(of previous: UploadRecord, changed: StatusTime) -> PreviousDelivery.Evidence {
    let delivery = previous.delivery
    if file.isUntouched(changed, since: previous.file, delivery?.statusTime) { return .untouched }
    return delivery?.sha256 == nil ? .incomparable : .comparable
  }

  /// Whether this upload is unfinished and may still need the file of a delivered one, whatever the destinations: the file at its path,
  /// or its file under another name.
  package func mayNeed(fileOf delivered: UploadRecord) -> Bool {
    guard let unfinished else { return false }
    let isUnchanged = delivered.file.identity.change(since: file.identity) == nil
    if file.path == delivered.file.path {
      // One that may be stored is never sent with other content.
      return isUnchanged || !mayBeStored && !unfinished.lastByteMayBeSent
    }
    return isUnchanged && file.identity.isSameFile(as: delivered.file.identity) && !isOvertaken(by: delivered)
  }

  /// Whether the file has another name in its directory now, or has been moved to a directory below or above that, and was delivered from
  /// there to where this upload went: the URLs differ as the paths do. Nothing continues an upload to the former URL.
  private func isOvertaken(by delivered: UploadRecord) -> Bool {
    guard let own = Percent.decode(destination.endpoint), let theirs = Percent.decode(delivered.destination.endpoint),
      let names = UploadRecord.difference(file.path.bytes, delivered.file.path.bytes),
      let urls = UploadRecord.difference(own, theirs)
    else { return false }
    return names.0 == urls.0 && names.1 == urls.1
  }

  /// What both have not in common at the beginning and the end of their last components, or the directories that only one of them has; nil if
  /// something else differs, or nothing.
  private static func difference(_ one: [UInt8], _ other: [UInt8]) -> (ArraySlice<UInt8>, ArraySlice<UInt8>)? {
    var beginning = zip(one, other).prefix { $0 == $1 }.count
    var (own, theirs) = (one[beginning...], other[beginning...])
    if own.elementsEqual(theirs) { return nil }
    let isMoved = own.contains(ASCII.slash) || theirs.contains(ASCII.slash)
    if isMoved {
      beginning = one[..<beginning].lastIndex(of: ASCII.slash).map { $0 + 1 } ?? 0
      (own, theirs) = (one[beginning...], other[beginning...])
    }
    let end = zip(own.reversed(), theirs.reversed()).prefix { $0 == $1 }.count
    (own, theirs) = (own.dropLast(end), theirs.dropLast(end))
    if isMoved, !(own.isEmpty && theirs.last == ASCII.slash || theirs.isEmpty && own.last == ASCII.slash) { return nil }
    return (own, theirs)
  }

  /// Whether this is another recording that goes, or went, to the URL that `other` gets, so that one object replaces the other. The
  /// same size, time and edges prove nothing of another file: a recorder's tracks can agree in them.
  package func sharesURL(with other: UploadRecord) -> Bool {
    guard destination.isObject, other.destination.isObject, destination.objectURL == other.destination.objectURL else {
      return false
    }
    let isSameFile = file.path == other.file.path || file.identity.isSameFile(as: other.file.identity)
    return id != other.id && !(isSameFile && other.file.identity.change(since: file.identity) == nil)
  }

  /// Whether `own`, an upload that asks nobody before it replaces an object, must not begin as long as this one has its URL. One that has
  /// failed is no obstacle: this is asked again before it is tried again. The file at the same path is the next version of an unfinished one.
  package func reservesURL(against own: UploadRecord) -> Bool {
    guard own.sharesURL(with: self) else { return false }
    switch state {
    case .delivered(let delivery): return delivery.deletion != .done
    case .unfinished(let upload): return upload.failure == nil && file.path != own.file.path
    }
  }

  /// Records with an upload on the server rank first, then those without, delivered ones, and those whose recording was deleted there. The
  /// time decides only between equals, because clocks of boards jump.
  package var rank: (Int, Int64) {
    let phaseRank = phase == .delivered ? (delivery?.deletion == .done ? 0 : 1) : remote == nil ? 2 : 3
    return (phaseRank, createdAt)
  }
}

extension UploadRecord {
  /// Whether the record is over and old enough to be dropped once its file is gone. The server may have a part of a pending
  /// upload, which only cancelling it removes.
  /// - Parameters:
  ///   - age: seconds since its last change, greater than zero.
  ///   - now: seconds since 1970.
  package func isOver(for age: Int64, now: Int64) -> Bool {
    switch phase {
    case .pending, .uploaded: false
    case .delivered, .failed: updatedAt <= now - age
    }
  }
}
