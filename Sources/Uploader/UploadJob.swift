import UploadCore

/// One upload from its request to its outcome: opens the file and the record, chooses the protocol, and keeps the record
/// true.
final class UploadJob: Machine {
  /// Which of the requests it is, for the caller.
  let index: Int
  /// The confirmation, once it has ended without an error.
  private(set) var delivery: Delivery?
  let lane: Lane
  private let configuration: Configuration
  private let tls: TLSSource
  private let pace: Pace?
  private let hooks: SessionHooks
  private let onRecord: (String) -> Void
  private var request: UploadRequest
  private var record: KeptRecord?
  private var digest: FileDigest?
  private var session: Session?
  private var tus: TusDelivery?
  private var multipart: MultipartDelivery?

  init(
    _ request: UploadRequest, index: Int, lane: Lane, configuration: Configuration, tls: TLSSource,
    pace: Pace?, hooks: SessionHooks, onRecord: @escaping (String) -> Void
  ) {
    self.request = request
    self.onRecord = onRecord
    self.index = index
    self.lane = lane
    self.configuration = configuration
    self.tls = tls
    self.pace = pace
    self.hooks = hooks
  }

  /// Did the server have the whole request when the job ended, so that it may have stored the recording?
  var hasSentAll: Bool { tus == nil && session?.hasSentAll ?? false }

  // MARK: The step

  func step(_ ready: Readiness, nowMilliseconds now: Int64) throws(UploadError) -> Wait? {
    if session == nil { session = try begin() }
    guard let session else { preconditionFailure("begun without a session") }
    if let wait = try session.step(ready, nowMilliseconds: now) { return wait }
    if let tus, tus.isNotSpoken, let file = tus.file {
      configuration.diagnostics?("* the server speaks no tus; sending as multipart")
      self.tus = nil
      self.session = beginMultipart(file, startedAt: session.startedAt)
      return Wait(descriptor: -1, readiness: [], untilMilliseconds: now)
    }
    try finish(session)
    return nil
  }

  private func begin() throws(UploadError) -> Session {
    if case .gigHive(let base, let form) = request.destination {
      do throws(EventFormError) { try form.validate() } catch { throw .form(error) }
      // Once, so that a repeated request after midnight is still for the same event.
      request.destination = .gigHive(base, form.completed(today: EventForm.today()))
    }
    let file: SourceFile
    do throws(FileError) { file = try SourceFile(path: request.file, limit: request.sizeLimit) } catch {
      throw .file(request.file, error)
    }
    if request.isForGigHive || request.computesDigest { digest = try FileDigest() }
    let prefersTus = request.prefersTus(size: file.size)
    record = try openRecord(for: file, isNeeded: prefersTus)
    if let record { onRecord(record.record.id) }
    if request.deliveryProtocol == .multipart, request.isForGigHive, record?.record.uploadURL != nil {
      try record?.update { $0.forgetUpload() }
    }
    guard prefersTus || record?.record.uploadURL != nil else { return beginMultipart(file) }
    let delivery = try TusDelivery(request, file, digest: digest, record: record, buffers: lane.buffers)
    tus = delivery
    return begin(delivery)
  }

  /// - Parameter startedAt: when the upload was begun, if that was in another way.
  private func beginMultipart(_ file: SourceFile, startedAt: Int64? = nil) -> Session {
    let delivery = MultipartDelivery(request, file, digest: digest)
    multipart = delivery
    return begin(delivery, startedAt: startedAt)
  }

  private func begin(_ dialogue: any Dialogue, startedAt: Int64? = nil) -> Session {
    Session(
      dialogue, origin: request.base.origin, lane: lane, configuration: configuration, tls: tls, pace: pace,
      hooks: hooks, startedAt: startedAt)
  }

  /// - Parameter isNeeded: without a record, an interrupted upload could not be gone on with.
  private func openRecord(for file: SourceFile, isNeeded: Bool) throws(UploadError) -> KeptRecord? {
    guard let path = configuration.stateDirectory, request.isRecorded else { return nil }
    do throws(UploadError) {
      let directory: StateDirectory
      do throws(StateError) {
        let warnings = configuration.warnings
        directory = try StateDirectory(path, warn: { warnings?($0) })
      } catch { throw .state(error) }
      return try KeptRecord.open(
        for: file, try file.identity(using: lane.buffers.ring.writableRun), endpoint: request.base.text,
        note: request.note, upload: request.upload,
        uploadedAs: (request.mediaType ?? "") + " " + (request.fileName ?? ""), in: directory)
    } catch {
      guard case .state = error, !isNeeded else { throw error }
      configuration.warnings?(error.message)
      return nil
    }
  }

  // MARK: The end

  private func finish(_ session: Session) throws(UploadError) {
    guard let (receipt, sent) = tus?.result ?? multipart?.result else {
      preconditionFailure("a dialogue that ended without a result")
    }
    hooks.onProgress(Progress(deliveredBytes: sent.size, totalBytes: sent.size))
    delivery = Delivery(
      receipt: receipt, file: sent, resumedFrom: tus?.resumedFrom ?? 0,
      durationMilliseconds: session.now - (session.startedAt ?? session.now),
      upload: record?.record.id)
    do throws(UploadError) {
      let inherited = receipt.deleteToken == nil ? record?.tokenOfSameRecording(receipt.assetID) : nil
      try record?.update {
        $0.phase = .delivered
        $0.offset = sent.size
        $0.message = nil
        $0.assetID = receipt.assetID ?? $0.assetID
        $0.sha256 = sent.sha256
        $0.deleteToken = receipt.deleteToken ?? inherited
      }
    } catch { configuration.warnings?("delivered, but its record could not be written: " + error.message) }
  }

  /// Writes down what the job ended with.
  func note(_ error: UploadError) {
    guard let record else { return }
    let offset = tus?.lastOffset ?? 0
    let isCancelled = if case .cancelled = error { true } else { false }
    do throws(UploadError) {
      try record.update {
        $0.offset = offset
        $0.message = isCancelled ? nil : error.message
        // What was sent of it is of no use for the file that it is now.
        if case .file(_, let error) = error, error.isChange { $0.forgetUpload() }
        if !error.leavesPending {
          $0.wasUploaded = $0.phase == .uploaded
          $0.phase = .failed
        }
      }
    } catch { configuration.warnings?(error.message) }
  }
}
