import CShims
import UploadCore

/// An upload, as its record in the state directory tells of it.
public struct RecordedUpload: Equatable, Sendable {
  /// The state of an upload.
  public enum State: Equatable, Sendable {
    /// In progress, or interrupted. `offset`: the bytes that the server had over tus when the record was written.
    case pending(offset: Int64)
    /// It failed, and a retry alone does not help. The message is for people.
    case failed(message: String)
    /// The server may have stored the recording, and nothing shows whether it has.
    case mayBeStored
    /// `assetID`: GigHive's number for the recording. `deliveredAt`: in seconds since 1970; nil if it is not known.
    case delivered(assetID: Int64?, deliveredAt: Int64?)
    /// It was delivered, and then deleted from the server by ``Uploader/delete(_:cancellation:)``.
    case deleted
  }

  /// Eight hexadecimal digits.
  public let id: String
  /// The absolute path of its file.
  public let file: LocalPath
  /// The file's size in bytes.
  public let size: Int64
  /// The URL that it was sent to; a signed one without its query.
  public let endpoint: String
  /// How far it is.
  public let state: State
  /// ``UploadRequest/context``
  public let context: String
  /// In seconds since 1970.
  public let createdAt: Int64
  /// In seconds since 1970.
  public let updatedAt: Int64
  /// When it can be tried again, in seconds since 1970; nil for now.
  public let postponedUntil: Int64?

  init(_ record: UploadRecord) {
    id = record.id
    file = record.file.path
    size = record.size
    endpoint = record.destination.endpoint
    context = record.context
    createdAt = record.createdAt
    updatedAt = record.updatedAt
    postponedUntil = record.postponedUntil(now: shim_unix_seconds())
    state =
      switch record.state {
      case .unfinished(let upload):
        switch upload.failure {
        case .mayBeStored: .mayBeStored
        case .notDelivered: .failed(message: upload.message ?? "")
        case nil: .pending(offset: record.offset)
        }
      case .delivered(let delivery):
        delivery.deletion == .done
          ? .deleted : .delivered(assetID: delivery.assetID, deliveredAt: delivery.deliveredAt)
      }
  }
}

extension UploadRequest {
  /// A request that resumes an upload, with its context.
  /// - Parameters:
  ///   - destination: the one that it was begun with.
  ///   - mayRepeat: whether a person has decided that it is sent again if it may be stored. Otherwise it then ends with
  ///     ``UploadError/uncertain(upload:)``.
  public init(resuming upload: RecordedUpload, to destination: Destination, mayRepeat: Bool = false) {
    self.init(file: upload.file, destination: destination)
    self.upload = upload.id
    context = upload.context
    isChosen = mayRepeat
  }
}

/// What came of cancelling an upload, or of deleting a recording.
public enum Ending: Equatable, Sendable {
  /// It is cancelled or deleted.
  case done
  /// The server did not have the recording any more.
  case wasGone
  /// The server cannot cancel uploads, and keeps its part until that expires. The record is gone.
  case keptByServer
  /// Nothing was cancelled, because the upload is delivered.
  case isDelivered
  /// Nothing was deleted, because the upload is not delivered.
  case isNotDelivered
  /// Nothing was deleted, because the server has given no permission for it.
  case hasNoDeleteToken
  /// Nothing was deleted, because a later upload may have replaced the recording.
  case isReplaced
}

/// The records of the state directory. Without one, these functions throw ``StateError/noDirectory``.
extension Uploader {
  /// All uploads that have a record, oldest first.
  public func records() throws(UploadError) -> [RecordedUpload] {
    try inDirectory { (directory) throws(StateError) in
      var uploads: [RecordedUpload] = []
      try directory?.walk(.all) { uploads.append(RecordedUpload($0)) }
      return uploads
    }
  }

  /// Cancels an upload that is not delivered, here and on the server, and removes its record.
  /// - Throws: also when the server may have done it. Repeat it then. ``UploadError/conflict(upload:)`` if the upload is in progress.
  public func cancel(_ id: String, cancellation: Cancellation = Cancellation()) throws(UploadError) -> Ending {
    try end(id, deletes: false, cancellation)
  }

  /// Deletes a delivered recording from GigHive. Its record stays as deleted as long as its file may be found again.
  /// - Throws: also when the server may have done it. Repeat it then.
  public func delete(_ id: String, cancellation: Cancellation = Cancellation()) throws(UploadError) -> Ending {
    try end(id, deletes: true, cancellation)
  }

  /// Removes a record. The server is not asked: what it has of an unfinished upload expires. A delivered file that is still there would be
  /// sent again.
  /// - Throws: ``UploadError/conflict(upload:)`` if the upload is in progress.
  public func forget(_ id: String) throws(UploadError) {
    let isForgotten = try withRecord(id) { (directory) throws(StateError) in
      switch try directory.lockRecord(id) {
      case .gone: throw .noSuchRecord(id)
      case .busy: return false
      case .locked(let lock, _):
        try directory.remove(id)
        withExtendedLifetime(lock) {}
        return true
      }
    }
    if !isForgotten { throw .conflict(upload: id) }
  }

  private func inDirectory<Value>(
    _ body: (StateDirectory?) throws(StateError) -> Value
  ) throws(UploadError) -> Value {
    guard shared.configuration.stateDirectory != nil else { throw .state(.noDirectory) }
    let directory = try existingStateDirectory()
    do throws(StateError) { return try body(directory) } catch { throw .state(error) }
  }

  private func withRecord<Value>(
    _ id: String, _ body: (StateDirectory) throws(StateError) -> Value
  ) throws(UploadError) -> Value {
    try inDirectory { (directory) throws(StateError) in
      guard let directory, UploadRecord.isID(id) else { throw .noSuchRecord(id) }
      return try body(directory)
    }
  }

  private func end(_ id: String, deletes: Bool, _ cancellation: Cancellation) throws(UploadError) -> Ending {
    var failure = UploadError.conflict(upload: id)
    let ended = try withRecord(id) { (directory) throws(StateError) in
      try directory.end(id, deletes: deletes) { record in
        guard let endpoint = try? TargetURI(record.destination.endpoint) else {
          failure = .internalError("the record names no server")
          return .unchanged
        }
        do throws(CancelDeleteError) {
          let overrides = record.unfinished?.detours.overridesMethod ?? false
          return .ended(
            try end(
              record, at: endpoint, overridesMethod: overrides, cancellation: cancellation, onRetry: { _, _ in }))
        } catch {
          failure = error.error
          return error.mayBeDone ? .unknown : .unchanged
        }
      }
    }
    guard case .ended(let ending) = ended else { throw failure }
    return ending
  }
}
