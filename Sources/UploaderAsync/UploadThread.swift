import CShims
import Uploader

/// The thread that runs the uploads of one ``AsyncUploader``, one after the other or several at a time.
final class UploadThread: Sendable {
  private struct Shared {
    var queue: [PendingUpload] = []
    /// Why there is no thread.
    var failure: UploadError?
    var isStopping = false
  }

  let wakeUp = WakeUp()
  let cancellation = Cancellation()
  let configuration: Configuration
  private let jobs: Int
  private let shared = Locked(Shared())

  init(_ configuration: Configuration, jobs: Int) {
    self.configuration = configuration
    self.jobs = jobs
    if wakeUp.descriptor < 0 || !beginThread({ self.run() }) {
      shared.withLock { $0.failure = .outOfResources("a thread for uploads") }
    }
  }

  func add(_ request: UploadRequest) -> PendingUpload {
    let upload = PendingUpload(request, wakeUp)
    let failure = shared.withLock {
      if $0.failure == nil { $0.queue.append(upload) }
      return $0.failure
    }
    if let failure { upload.end(.failure(failure)) }
    wakeUp.raise()
    return upload
  }

  /// Cancels the uploads and ends the thread, without waiting for it. Nothing may be added afterwards.
  func stop() {
    shared.withLock { $0.isStopping = true }
    cancellation.cancel()
    wakeUp.raise()
  }

  // MARK: On the thread

  private func run() {
    let uploader = Uploader(configuration, jobs: jobs)
    while !shared.withLock({ $0.isStopping }) {
      run(uploader)
      // The loop may have taken note of what ended it.
      if shared.withLock({ !$0.isStopping && $0.queue.isEmpty }) { wakeUp.wait() }
    }
    while let upload = next() { upload.end(.failure(.cancelled(hasSentAll: false))) }
  }

  /// Runs uploads until there are no more for now.
  private func run(_ uploader: Uploader) {
    var uploads: [Int: PendingUpload] = [:]
    var count = 0
    var observer = UploadObserver()
    observer.output = wakeUp
    observer.onBegin = { uploads[$0]?.begin() }
    observer.onProgress = { uploads[$0]?.tell($1) }
    observer.isCancelled = { uploads[$0]?.isOver ?? false }
    observer.onEnd = { uploads.removeValue(forKey: $0)?.end($1) }
    uploader.uploadAll(
      next: {
        guard let upload = next() else { return nil }
        uploads[count] = upload
        count += 1
        return upload.request
      }, mayHaveNext: { shared.withLock { !$0.queue.isEmpty } }, cancellation: cancellation, observer: observer)
  }

  /// The next upload that was not cancelled before its turn.
  private func next() -> PendingUpload? {
    shared.withLock {
      while !$0.queue.isEmpty {
        let upload = $0.queue.removeFirst()
        if !upload.isOver { return upload }
      }
      return nil
    }
  }
}

/// Runs a function on a thread of its own. Signals are left to the program's other threads.
/// - Returns: false if the system has no thread left.
func beginThread(_ body: @escaping @Sendable () -> Void) -> Bool {
  final class Body: Sendable {
    let run: @Sendable () -> Void
    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
  }
  let context = Unmanaged.passRetained(Body(body))
  let error = shim_thread_start(
    {
      // The reference ends here.
      if let context = $0 { Unmanaged<Body>.fromOpaque(context).takeRetainedValue().run() }
      return nil
    }, context.toOpaque())
  if error != 0 { context.release() }
  return error == 0
}
