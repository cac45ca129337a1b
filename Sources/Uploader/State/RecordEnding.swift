import UploadCore

/// What the server did when it was asked to end an upload or delete a recording.
package enum ServerAnswer {
  case ended(Ending)
  /// It was not asked, or refused.
  case unchanged
  /// It may or may not have done it.
  case unknown
}

/// What came of it in the state directory.
package enum EndedRecord {
  /// Another process has locked the record.
  case busy
  /// The server has not, or may not have done it.
  case failed
  case ended(Ending)
}

/// Cancelling an upload, or deleting a recording: on the server, and then here.
extension StateDirectory {
  /// - Parameters:
  ///   - deletes: whether a recording is deleted, and not an upload cancelled.
  ///   - ask: asks the server about the record, which is locked.
  package func end(
    _ id: String, deletes: Bool, _ ask: (UploadRecord) -> ServerAnswer
  ) throws(StateError) -> EndedRecord {
    let lock: StateLock
    let record: UploadRecord
    switch try lockRecord(id) {
    case .locked(let held, let current): (lock, record) = (held, current)
    case .gone: throw .noSuchRecord(id)
    case .busy: return .busy
    }
    defer { withExtendedLifetime(lock) {} }
    guard let delivery = record.delivery else {
      if deletes { return .ended(.isNotDelivered) }
      guard case .ended(let ending) = ask(record) else { return .failed }
      try remove(id)
      return .ended(ending)
    }
    if !deletes || delivery.deletion == .done {
      removeLock(id)
      return .ended(deletes ? .done : .isDelivered)
    }
    if replacement(of: id) != .none {
      removeLock(id)
      return .ended(.isReplaced)
    }
    var marked = record
    marked.delivery?.deletion = .requested
    try write(marked)
    let answer = ask(record)
    switch answer {
    case .ended(.done), .ended(.wasGone):
      try forgetDelivery(record, lock)
      forgetDeliveries(of: record)
    case .ended, .unchanged:
      try write(record)
      removeLock(id)
    case .unknown: removeLock(id)
    }
    return if case .ended(let ending) = answer { .ended(ending) } else { .failed }
  }

  /// The recording is deleted. Its record goes, too, unless its file may be found again and must not be sent again.
  private func forgetDelivery(_ record: UploadRecord, _ lock: StateLock) throws(StateError) {
    guard record.locateFile() != .gone else { return try remove(record.id) }
    do throws(UploadError) {
      try LockedRecord(record, in: self, lock: lock).update {
        $0.delivery?.deletion = .done
        $0.delivery?.deleteToken = nil
      }
    } catch {
      if case .state(let cause) = error { throw cause }
    }
    clearRemovalDue(record.id)
    removeLock(record.id)
  }

  /// The same for the deliveries of a deleted recording to other events.
  private func forgetDeliveries(of deleted: UploadRecord) {
    guard let assetID = deleted.assetID else { return }
    // The recording is deleted. A record that cannot be changed does not change that.
    try? walk(.all) { record in
      guard record.id != deleted.id, record.delivery?.assetID == assetID,
        record.destination.endpoint == deleted.destination.endpoint, let lock = try? self.lock(record.id)
      else { return }
      try? forgetDelivery(record, lock)
    }
  }
}

extension Uploader {
  /// Asks the server to cancel the record's upload, or to delete its recording.
  /// - Parameters:
  ///   - endpoint: the record's.
  ///   - region: that of an S3 server's bucket. Nearly all servers correct another one.
  ///   - secret: the URL of the upload, if the record does not have it because nobody may see it.
  ///   - onRetry: a try failed and will be repeated, with the response that led to it.
  package func end(
    _ record: UploadRecord, at endpoint: TargetURI, overridesMethod: Bool, region: String = S3Object.defaultRegion,
    secret: TargetURI? = nil, cancellation: Cancellation, onRetry: @escaping (Retry, RedactedAnswer?) -> Void
  ) throws(CancelDeleteError) -> Ending {
    func ask(_ purpose: UploadMachine.Purpose, hiding secret: String? = nil) throws(CancelDeleteError) -> Outcome {
      try run(purpose, origin: endpoint.origin, secret: secret, cancellation: cancellation, onRetry: onRetry)
    }
    if record.isForWebDAV {
      let size = record.delivery.map { _ in record.file.identity.size }
      guard let object = size == nil ? record.webDAVLeftover : endpoint else { return .done }
      let outcome = try ask(.remove(object, size: size))
      return outcome == .deleted(wasGone: true) && size != nil ? .wasGone : .done
    }
    if shared.configuration.credentials.s3Keys != nil, let location = record.unfinished?.multipartUpload {
      _ = try ask(.abort(location, region: region))
      return .done
    }
    if let delivery = record.delivery, secret == nil {
      guard let assetID = delivery.assetID, let token = delivery.deleteToken else { return .hasNoDeleteToken }
      // If the server has carried out an earlier request, it no longer knows the token.
      let isRepeated = delivery.deletion == .requested
      let outcome = try ask(
        .delete(assetID: assetID, deleteToken: token, from: endpoint, isRepeated: isRepeated), hiding: token)
      return outcome == .deleted(wasGone: true) ? .wasGone : .done
    }
    var isKept = false
    for location in secret.map({ [$0] }) ?? record.unfinished?.uploads(createdAt: endpoint) ?? [] {
      let cookies = location.origin == endpoint.origin ? record.unfinished?.cookies : nil
      let outcome = try ask(
        .cancel(location, overridesMethod: overridesMethod, cookies ?? Cookies()), hiding: secret?.lastPathSegment)
      if outcome == .cancelled(isKept: true) { isKept = true }
    }
    return isKept ? .keptByServer : .done
  }
}

extension Uploader {
  /// Tries again to delete what a server had not deleted of uploads that nothing needs any more. What it refuses is tried again by the next run.
  /// - Parameters:
  ///   - directory: notes what is left.
  ///   - request: tells the server, and how it is asked.
  package func deleteUndeleted(in directory: StateDirectory, as request: UploadRequest, cancellation: Cancellation) {
    let origin = request.base.origin
    for upload in directory.undeleted.uploads(at: origin) {
      guard let purpose = UploadMachine.Purpose(ending: upload, as: request) else { continue }
      do throws(CancelDeleteError) {
        _ = try run(purpose, origin: origin, isPatient: false, cancellation: cancellation, onRetry: { _, _ in })
      } catch {
        // Who refuses one may delete another. A wrong password is not tried again and again: some servers lock the account.
        guard case .refused(let status, _) = error.error, status != 401, !RetryPolicy.isTransient(status: status) else {
          return
        }
        continue
      }
      _ = directory.changeUndeleted { $0.remove(upload) }
    }
  }
}
