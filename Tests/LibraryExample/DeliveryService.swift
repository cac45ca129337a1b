import UploaderAsync

/// Delivers recordings for the handlers of a server.
final class DeliveryService: Sendable {
  private let uploader: AsyncUploader
  private let endpoint: TargetURI

  init(endpoint: TargetURI, credentials: Credentials, records: LocalPath) {
    var configuration = Configuration()
    configuration.credentials = credentials
    configuration.stateDirectory = records
    configuration.retryLimit = .time(milliseconds: 600_000)
    uploader = AsyncUploader(configuration, jobs: 4)
    self.endpoint = endpoint
  }

  /// Cancel the task when the client disconnects: it ends within 100 ms, and the upload can be resumed.
  /// - Parameter key: the recording's in your database.
  func deliver(
    _ file: LocalPath, key: String, report: (UploadProgress) async -> Void
  ) async throws(UploadError) -> String {
    var request = UploadRequest(file: file, destination: .tus(endpoint))
    request.context = key
    let upload = uploader.start(request)
    for await progress in upload.progress { await report(progress) }
    switch try await upload.delivery() {
    case .sent(let sent): return "delivered " + String(sent.file.size) + " bytes"
    case .deliveredBefore(let previous): return "delivered before, as upload " + previous.upload
    }
  }

  /// After a restart.
  /// - Returns: the keys of the recordings that are delivered now.
  func resumeAll() async throws(UploadError) -> [String] {
    var keys: [String] = []
    for upload in try await uploader.records() {
      guard case .pending = upload.state else { continue }
      _ = try await uploader.upload(UploadRequest(resuming: upload, to: .tus(endpoint)))
      keys.append(upload.context)
    }
    return keys
  }
}
