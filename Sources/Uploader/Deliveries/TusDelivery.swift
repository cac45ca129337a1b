import CShims
import UploadCore

/// Delivers a recording by tus, and on GigHive makes a recording of the upload with the finalize call.
final class TusDelivery: Dialogue {
  private enum State {
    case uploading
    /// The server has every byte; what is missing of the digest, and GigHive's recording, are made. `isLost`: it no longer knows the upload, which may be because it is a recording already.
    case finalizing(isLost: Bool)
    case finished
  }

  let file: SourceFile?
  let digest: FileDigest?
  private let source: SourceFile
  private let request: UploadRequest
  private let record: KeptRecord?
  private let buffers: TransferBuffers
  private var state = State.uploading
  private var upload: TusUpload
  private var checksum: Digest?
  private var hasCreated = false
  /// The answer, once there is a good one.
  private(set) var result: (receipt: Receipt, sent: SentFile)?
  /// Does the server speak no tus?
  private(set) var isNotSpoken = false

  /// - Parameter buffers: for reading what is not sent.
  init(
    _ request: UploadRequest, _ file: SourceFile, digest: FileDigest?, record: KeptRecord?, buffers: TransferBuffers
  ) throws(UploadError) {
    self.request = request
    self.file = file
    source = file
    self.digest = digest
    self.record = record
    self.buffers = buffers
    offset = record?.record.offset ?? 0
    let location = record?.record.uploadURL.flatMap { try? TargetURI($0) }
    do throws(TusError) {
      upload = try TusUpload(
        endpoint: request.tusTarget, length: file.size, metadata: request.metadata, location: location,
        options: request.tusOptions)
    } catch { throw .tus(error) }
  }

  /// The most bytes that the server has had, and one for all of them.
  var progress: Int64 {
    switch state {
    case .uploading: reached
    case .finalizing, .finished: source.size + 1
    }
  }

  private var reached: Int64 = 0
  /// Bytes that the server had when it last said so.
  private var offset: Int64
  /// Bytes that the server had before anything was sent; nil as long as it has not said so.
  private(set) var resumedFrom: Int64?

  // MARK: Asking

  func next() throws(UploadError) -> DialogueStep {
    switch state {
    case .uploading: return try nextOfUpload()
    case .finalizing:
      if let digest, digest.position < source.size {
        return .read(FileReading(source, from: digest.position, to: source.size, digest: digest, buffers: buffers))
      }
      guard request.isForGigHive else {
        result = (Receipt(), try sentFile())
        state = .finished
        return .finished
      }
      return try finalize()
    case .finished: return .finished
    }
  }

  private func nextOfUpload() throws(UploadError) -> DialogueStep {
    if let checksum {
      self.checksum = nil
      upload.setChecksum(Base64.encode(try checksum.finish()))
    }
    switch upload.next() {
    case .ask(let request): return .ask(ask(request))
    case .checksum(let algorithm, let offset, let length):
      let checksum = try Digest(algorithm == .sha256 ? .sha256 : .sha1)
      self.checksum = checksum
      return .read(
        FileReading(source, from: offset, to: offset + length, digest: digest, checksum: checksum, buffers: buffers))
    case .complete:
      try complete(isLost: false)
      return try next()
    case .gone:
      // An upload that was whole may be gone because it is a recording by now.
      if record?.record.phase == .uploaded {
        try complete(isLost: true)
      } else {
        try beginAnew()
      }
      return try next()
    case .await: preconditionFailure("asked for a request while another one is under way")
    }
  }

  private func ask(_ request: TusRequest) -> Request {
    let length = request.contentLength
    return Request(
      method: request.method, target: request.target, fields: request.fields,
      body: length.map { RequestBody(fileOffset: request.fileOffset, fileLength: $0) })
  }

  func followUp() throws(UploadError) -> Request? {
    guard case .uploading = state, case .sending = upload.state else { return nil }
    guard case .ask(let request) = upload.next() else { return nil }
    return ask(request)
  }

  var followUpCounts: Bool { upload.awaitsStored }

  private func beginAnew() throws(UploadError) {
    upload.restart()
    offset = 0
    resumedFrom = 0
    try record?.update { $0.forgetUpload() }
    // One that this process has created, and that is gone already, counts as a failure: it could go on like that.
    guard hasCreated else { return }
    hasCreated = false
    throw .uploadLost
  }

  private func complete(isLost: Bool) throws(UploadError) {
    state = .finalizing(isLost: isLost)
    if !isLost {
      let size = source.size
      try record?.update {
        $0.phase = .uploaded
        $0.offset = size
      }
    }
  }

  private func sentFile() throws(UploadError) -> SentFile {
    SentFile(size: source.size, sha256: digest?.position == source.size ? try digest?.finish() : nil)
  }

  private func finalize() throws(UploadError) -> DialogueStep {
    guard case .gigHive(let base, _) = request.destination, let location = upload.location else {
      preconditionFailure("finalizing what was not uploaded to GigHive")
    }
    let content = GigHiveAPI.finalizeContent(uploadID: location.lastPathSegment, fields: request.fields)
    return .ask(
      Request(
        method: "POST", target: base.appending(GigHiveAPI.finalize),
        fields: [Field("Content-Type", "application/json")], body: RequestBody(header: content)))
  }

  // MARK: Answers

  func receive(
    _ response: Response, from target: TargetURI, afterMilliseconds milliseconds: Int64
  ) throws(UploadError) {
    switch state {
    case .uploading: try receiveUpload(response, target, milliseconds)
    case .finalizing(let isLost): try receiveFinalize(response, isLost: isLost)
    case .finished: preconditionFailure("an answer to no request")
    }
  }

  private func receiveUpload(
    _ response: Response, _ target: TargetURI, _ milliseconds: Int64
  ) throws(UploadError) {
    let before = upload.location
    do throws(TusError) {
      try upload.receive(
        status: response.status, fields: response.head.fields, from: target, afterMilliseconds: milliseconds)
    } catch {
      switch error {
      case .notSpoken(let status) where TusDelivery.isOfNoTusServer(status):
        if request.mustSpeakTus { return upload.assumeOffer() }
        isNotSpoken = true
        state = .finished
        return
      case .refused(method: "PATCH", status: 405), .refused(method: "PATCH", status: 501): throw .tus(error)
      case .notSpoken, .refused: throw try response.refusal()
      default: throw .tus(error)
      }
    }
    let hasOffset =
      switch upload.state {
      case .sending, .complete: true
      default: false
      }
    if hasOffset, resumedFrom == nil { resumedFrom = before == nil ? 0 : upload.acknowledged }
    if case .sending = upload.state { offset = upload.acknowledged }
    reached = max(reached, upload.acknowledged)
    guard let location = upload.location, location != before else { return }
    hasCreated = true
    let expires = upload.expires
    try record?.update {
      $0.phase = .pending
      $0.uploadURL = location.text
      $0.offset = 0
      $0.expires = expires
    }
  }

  private func receiveFinalize(_ response: Response, isLost: Bool) throws(UploadError) {
    let sent = try sentFile()
    do throws(UploadError) {
      result = (try response.gigHiveReceipt(sent: sent), sent)
      state = .finished
    } catch {
      let isUnknown = isLost && [400, 404, 410, 500].contains(response.status)
      guard isUnknown || error.isIntegrityFailure else { throw error }
      // What is on the server is not, or no longer, this recording.
      state = .uploading
      offset = 0
      resumedFrom = 0
      upload.restart()
      try record?.update { $0.forgetUpload() }
      if error.isIntegrityFailure { throw error }
    }
  }

  /// Does the status of an answer to OPTIONS say that nobody speaks tus there?
  private static func isOfNoTusServer(_ status: Int) -> Bool {
    status < 500 && status != 401 && status != 403 && status != 407 && !RetryPolicy.isTransient(status: status)
  }

  func interrupted(arrived: Int64, hasBegunBody: Bool) -> Bool {
    if case .uploading = state { upload.interrupted(arrived: arrived) }
    checksum = nil
    return true
  }

  /// Bytes that the server had when it last said so, for the record.
  var lastOffset: Int64 { if case .uploading = state { offset } else { source.size } }
}

extension UploadRecord {
  /// The upload on the server is of no use any more.
  mutating func forgetUpload() {
    phase = .pending
    wasUploaded = false
    uploadURL = nil
    offset = 0
    expires = nil
  }
}
