@_exported public import Uploader

/// Uploads recordings for asynchronous programs.
///
///     let uploader = AsyncUploader(configuration, jobs: 4)
///     let delivery = try await uploader.upload(request)
///
/// One thread of its own runs all uploads, so that no thread of Swift's pool waits for a network or a disk. You can use an uploader from any
/// task. When neither it nor an upload of it is referenced any more, its uploads are cancelled and its thread ends.
public final class AsyncUploader: Sendable {
  let thread: UploadThread

  /// - Parameter jobs: the number of concurrent uploads, 1 to 16; more wait for their turn. With other numbers, uploads end with
  ///   ``UploadError/invalidConfiguration(field:value:allowed:)``.
  public init(_ configuration: Configuration = Configuration(), jobs: Int = 1) {
    thread = UploadThread(configuration, jobs: jobs)
  }

  deinit { thread.stop() }

  /// Uploads one recording, or resumes its upload if the state directory has a record of it. When the task is cancelled, the upload ends
  /// with ``UploadError/cancelled(hasSentAll:)``.
  /// - Returns: the server's confirmation, or the earlier delivery if there was one. GigHive's confirmation must match the size and SHA-256
  ///   of what was read.
  public func upload(_ request: UploadRequest) async throws(UploadError) -> Delivery {
    try await start(request).delivery()
  }

  /// The same, without waiting for the end.
  public func start(_ request: UploadRequest) -> RunningUpload {
    RunningUpload(thread.add(request), of: self)
  }
}

/// The records, on a thread of its own for each call. When the task is cancelled, a request to the server is, too.
extension AsyncUploader {
  /// ``Uploader/records()``
  public func records() async throws(UploadError) -> [RecordedUpload] {
    try await aside { (uploader, _) throws(UploadError) in try uploader.records() }
  }

  /// ``Uploader/cancel(_:cancellation:)``. An upload that is in progress here is cancelled by ``RunningUpload/cancel()`` first.
  public func cancel(_ id: String) async throws(UploadError) -> Ending {
    try await aside { (uploader, cancellation) throws(UploadError) in
      try uploader.cancel(id, cancellation: cancellation)
    }
  }

  /// ``Uploader/delete(_:cancellation:)``
  public func delete(_ id: String) async throws(UploadError) -> Ending {
    try await aside { (uploader, cancellation) throws(UploadError) in
      try uploader.delete(id, cancellation: cancellation)
    }
  }

  /// ``Uploader/forget(_:)``
  public func forget(_ id: String) async throws(UploadError) {
    try await aside { (uploader, _) throws(UploadError) in try uploader.forget(id) }
  }

  private func aside<Value: Sendable>(
    _ body: @escaping @Sendable (Uploader, Cancellation) throws(UploadError) -> Value
  ) async throws(UploadError) -> Value {
    let (configuration, cancellation) = (thread.configuration, Cancellation())
    let result: Result<Value, UploadError> = await withTaskCancellationHandler {
      await withCheckedContinuation { reader in
        let hasBegun = beginThread {
          do throws(UploadError) {
            reader.resume(returning: .success(try body(Uploader(configuration), cancellation)))
          } catch { reader.resume(returning: .failure(error)) }
        }
        if !hasBegun { reader.resume(returning: .failure(.outOfResources("a thread for a record"))) }
      }
    } onCancel: {
      cancellation.cancel()
    }
    return try result.get()
  }
}

/// An upload that was started.
public final class RunningUpload: Sendable {
  private let upload: PendingUpload
  /// Its uploads go on as long as there is one of these.
  private let uploader: AsyncUploader

  init(_ upload: PendingUpload, of uploader: AsyncUploader) {
    self.upload = upload
    self.uploader = uploader
  }

  /// About ten times a second, and once at the end; it ends with the upload. A slow reader misses values, but not the last one. Only one
  /// task can read it.
  public var progress: some AsyncSequence<UploadProgress, Never> & Sendable { upload.progress }

  /// Waits for the end. When the task that waits is cancelled, so is the upload.
  public func delivery() async throws(UploadError) -> Delivery {
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation { upload.onEnd($0) }
    } onCancel: {
      cancel()
    }
    return try result.get()
  }

  /// Cancels the upload. It ends with ``UploadError/cancelled(hasSentAll:)``, usually within milliseconds.
  public func cancel() { upload.cancel() }
}
