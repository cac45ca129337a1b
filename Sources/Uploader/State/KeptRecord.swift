import CShims
import UploadCore

/// The record of an upload that this process works on, and its lock.
final class KeptRecord {
  private(set) var record: UploadRecord
  private let directory: StateDirectory
  private let lock: StateLock
  /// The ID of a record that this one has taken over, to be removed once it is written.
  private var replaced: String?

  private init(_ record: UploadRecord, in directory: StateDirectory, lock: StateLock) {
    self.record = record
    self.directory = directory
    self.lock = lock
  }

  /// Changes the record, also on the disk.
  func update(_ change: (inout UploadRecord) -> Void) throws(UploadError) {
    change(&record)
    record.updatedAt = shim_unix_seconds()
    do throws(StateError) {
      try directory.write(record)
      if let replaced { try directory.remove(replaced) }
    } catch { throw .state(error) }
    replaced = nil
  }

  /// GigHive gives a delete token once, with the first delivery. When the same recording has been sent again, the token of the
  /// former record is taken over, and that record removed.
  func tokenOfSameRecording(_ assetID: Int64?) -> String? {
    guard let assetID else { return nil }
    let match = Match()
    let endpoint = record.endpoint
    do throws(StateError) {
      try directory.visit(.all) {
        let isSame = $0.phase == .delivered && $0.endpoint == endpoint && $0.assetID == assetID
        if isSame, $0.deleteToken != nil { match.record = $0 }
      }
      guard let former = match.record, let lock = try directory.lock(former.id) else { return nil }
      defer { withExtendedLifetime(lock) {} }
      replaced = former.id
      return former.deleteToken
    } catch { return nil }
  }

  /// Finds the record of an upload of this file to this endpoint, or makes one, and locks it.
  /// - Parameters:
  ///   - identity: that of the file as it is now.
  ///   - upload: the ID of the record, if it must be that one.
  ///   - uploadedAs: the type and name that the caller wants the server to be told.
  /// - Throws: `.conflict` if another process has it, `.changed` if the upload was begun with other content, `.delivered`
  ///   if the one that was named is delivered by now.
  static func open(
    for file: SourceFile, _ identity: FileIdentity, endpoint: String, note: String, upload: String?,
    uploadedAs: String, in directory: StateDirectory
  ) throws(UploadError) -> KeptRecord {
    var own = UploadRecord(
      id: try newID(), path: (file.path.absolute ?? file.path).bytes, identity: identity, endpoint: endpoint)
    own.uploadedAs = uploadedAs
    let creation: StateLock
    let candidate: String?
    do throws(StateError) {
      // Held to the end of this function: another process that looks for the same upload then finds it locked.
      creation = try directory.lockForCreation()
      let former = upload == nil ? try KeptRecord.former(of: own, in: directory) : nil
      candidate = upload ?? former?.id
    } catch { throw .state(error) }
    defer { withExtendedLifetime(creation) {} }
    guard let candidate else { return try begin(own, note: note, in: directory) }
    let lock = try KeptRecord.lock(candidate, in: directory)
    // What was read before the lock was held can have been delivered since.
    let current: UploadRecord?
    do throws(StateError) { current = try directory.current(candidate) } catch { throw .state(error) }
    guard var former = current, former.phase != .delivered else {
      directory.tidy(delivered: candidate)
      if current == nil { directory.removeLock(candidate) }
      guard upload == nil else {
        throw current == nil ? .state(.noSuchRecord(candidate)) : .delivered(upload: candidate)
      }
      return try begin(own, note: note, in: directory)
    }
    // A server that was told another name or type would keep it.
    if former.uploadURL != nil, former.uploadedAs != uploadedAs { former.forgetUpload() }
    if former.uploadURL != nil, let change = identity.change(since: former.identity) {
      throw .changed(file.path, change, upload: former.id)
    }
    let kept = KeptRecord(former, in: directory, lock: lock)
    try kept.update {
      $0.path = own.path
      $0.identity = identity
      $0.note = note
      $0.uploadedAs = uploadedAs
      $0.message = nil
      if $0.uploadURL == nil { $0.offset = 0 }
      if $0.phase == .failed { $0.phase = $0.wasUploaded ? .uploaded : .pending }
      $0.wasUploaded = false
    }
    return kept
  }

  private static func begin(
    _ record: UploadRecord, note: String, in directory: StateDirectory
  ) throws(UploadError) -> KeptRecord {
    do throws(UploadError) {
      let kept = KeptRecord(record, in: directory, lock: try lock(record.id, in: directory))
      try kept.update {
        $0.createdAt = shim_unix_seconds()
        $0.note = note
      }
      return kept
    } catch {
      // The ID is new, so that nobody else has it.
      directory.removeLock(record.id)
      throw error
    }
  }

  private static func lock(_ id: String, in directory: StateDirectory) throws(UploadError) -> StateLock {
    let lock: StateLock?
    do throws(StateError) { lock = try directory.lock(id) } catch { throw .state(error) }
    guard let lock else { throw .conflict(upload: id) }
    return lock
  }

  private final class Match { var record: UploadRecord? }

  /// The record of the same upload, as far as one can tell: of the same path, or of the same file under another name.
  private static func former(of own: UploadRecord, in directory: StateDirectory) throws(StateError) -> UploadRecord? {
    let match = Match()
    try directory.visit(.open) { record in
      guard record.endpoint == own.endpoint, record.phase != .delivered else { return }
      let isSameFile =
        own.identity.isSameFile(as: record.identity) && own.identity.change(since: record.identity) == nil
      guard record.path == own.path || isSameFile else { return }
      // One with an upload goes before one without. Clocks of boards jump, so that the time decides between equals only.
      let (rank, best) = (KeptRecord.rank(record), match.record.map(KeptRecord.rank))
      if best.map({ rank >= $0 }) ?? true { match.record = record }
    }
    return match.record
  }

  private static func rank(_ record: UploadRecord) -> (Int, Int64) {
    (record.uploadURL == nil ? 0 : 1, record.createdAt)
  }

  private static func newID() throws(UploadError) -> String {
    var bytes = [UInt8](repeating: 0, count: 4)
    guard shim_random(&bytes, bytes.count) == 0 else { throw .outOfResources("randomness") }
    var digits: [UInt8] = []
    ASCII.appendHex(bytes, to: &digits)
    return String(decoding: digits, as: UTF8.self)
  }
}
