@testable import Uploader

/// Uploads with their own file and configuration, and a log of their callbacks.
final class UploadBench {
  let directory = TemporaryDirectory()
  let content: [UInt8]
  var configuration = Configuration()
  private(set) var retries: [Retry] = []
  private let path: LocalPath

  init(length: Int) {
    content = recording(length)
    path = directory.file("set.wav", content)
    configuration.retryMaximumDelayMilliseconds = 1
  }

  func tus(_ server: LoopbackServer) throws -> UploadRequest {
    UploadRequest(file: path, destination: .tus(try TargetURI(server.url + "files/")))
  }

  /// Uploads one after the other, then closes the connection.
  @discardableResult
  func upload(_ requests: UploadRequest...) throws -> [Delivery] {
    let uploader = Uploader(configuration)
    var observer = UploadObserver()
    var outcomes: [Result<Delivery, UploadError>] = []
    observer.onRetry = { self.retries.append($1) }
    observer.onEnd = { outcomes.append($1) }
    for request in requests { uploader.upload([request], observer: observer) }
    return try outcomes.map { try $0.get() }
  }
}
