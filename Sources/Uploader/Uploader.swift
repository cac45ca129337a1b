import CShims
@_exported public import UploadCore

/// Uploads recordings in a fixed amount of memory.
///
///     let uploader = Uploader(configuration)
///     let delivery = try uploader.upload(request) { print($0.deliveredBytes) }
///
/// A call blocks until the uploads have ended. Connections are kept for later uploads to the same server. Use an uploader on
/// one thread only; several uploaders can work on several threads.
public final class Uploader {
  /// The version of this library and program (semver.org).
  public static let version = "0.1.0"

  let shared: SharedResources
  /// The error in the configuration or the number of jobs; nil if there is none.
  let problem: UploadError?
  let slots: UploadSlots

  /// - Parameter jobs: the number of concurrent uploads that share the memory, 1 to 16. With other numbers, uploads end with
  ///   ``UploadError/invalidConfiguration(field:value:allowed:)``.
  public init(_ configuration: Configuration = Configuration(), jobs: Int = 1) {
    problem = configuration.problem(jobs: jobs)
    let jobs = problem == nil ? jobs : 1
    shared = SharedResources(configuration: configuration, tls: TLSContextCache(configuration.tls, jobs: jobs))
    let rateControl =
      problem == nil && !configuration.rateLimit.isUnlimited ? RateControl(configuration.rateLimit) : nil
    slots = UploadSlots(count: jobs, rateControl: rateControl)
  }

  /// Uploads one recording, or resumes its upload if the state directory has a record of it.
  /// - Parameters:
  ///   - cancellation: ends the upload early, from another thread or a signal handler.
  ///   - onProgress: called on this thread about ten times a second and once at the end.
  /// - Returns: the server's confirmation. GigHive's must match the size and SHA-256 of what was read.
  public func upload(
    _ request: UploadRequest, cancellation: Cancellation = Cancellation(),
    onProgress: @escaping (UploadProgress) -> Void = { _ in }
  ) throws(UploadError) -> Delivery {
    var observer = UploadObserver()
    observer.onProgress = { onProgress($1) }
    var outcome: Result<Delivery, UploadError> = .failure(.cancelled(hasSentAll: false))
    observer.onEnd = { outcome = $1 }
    upload([request], cancellation: cancellation, observer: observer)
    return try outcome.get()
  }

  /// Uploads recordings. Each has its own outcome; a failure does not stop the others.
  public func upload(
    _ requests: [UploadRequest], cancellation: Cancellation = Cancellation(), observer: UploadObserver
  ) {
    upload(count: requests.count, request: { requests[$0] }, cancellation: cancellation, observer: observer)
  }

  /// The same for very many recordings: each request is created when its turn comes.
  /// - Parameter request: creates the request from its index, 0 to `count` - 1.
  public func upload(
    count: Int, request: (Int) -> UploadRequest, cancellation: Cancellation = Cancellation(), observer: UploadObserver
  ) {
    var next = 0
    upload(
      hasNext: { next < count },
      next: {
        guard next < count else { return nil }
        defer { next += 1 }
        return request(next)
      }, cancellation: cancellation, observer: observer)
  }

  /// The same for recordings whose number is not known. Their indices are in the order in which they are requested.
  /// - Parameters:
  ///   - hasNext: whether there is another request.
  ///   - next: creates the next request; nil if there are no more.
  package func upload(
    hasNext: () -> Bool, next: () -> UploadRequest?, cancellation: Cancellation = Cancellation(),
    observer: UploadObserver
  ) {
    run(isCountExact: true, hasNext, next, cancellation, observer)
  }

  /// The same for recordings that are found on the way. After an early end, requests that were not taken from `next` are not reported.
  /// - Parameters:
  ///   - next: the next request, when its turn comes; nil if there is none now. It is asked again as long as other uploads are in
  ///     progress.
  ///   - mayHaveNext: whether there may be another request. If so, an upload that waits for GigHive to process its recording leaves its
  ///     place to the next one.
  public func upload(
    next: () -> UploadRequest?, mayHaveNext: () -> Bool = { true }, cancellation: Cancellation = Cancellation(),
    observer: UploadObserver
  ) {
    run(isCountExact: false, mayHaveNext, next, cancellation, observer)
  }

  /// - Parameter isCountExact: whether `hasNext` is exact. Otherwise only `next` can tell, and is not asked any more at an early end.
  private func run(
    isCountExact: Bool, _ hasNext: () -> Bool, _ next: () -> UploadRequest?, _ cancellation: Cancellation,
    _ observer: UploadObserver
  ) {
    var upcoming: UploadRequest?
    var count = 0
    shared.state.cancellation = cancellation
    defer { shared.state.cancellation = nil }
    EventLoop<UploadJob>(cancellation, output: observer.output).run(slots.count) {
      if upcoming == nil {
        if isCountExact { return hasNext() }
        upcoming = next()
      }
      return upcoming != nil
    } skip: {
      upcoming = upcoming ?? next()
      guard let request = upcoming, let error = immediateError(of: request) else { return false }
      upcoming = nil
      observer.onBegin(count)
      observer.onEnd(count, .failure(error))
      count += 1
      return true
    } next: {
      guard let request = upcoming, let slot = slots.take() else { return nil }
      upcoming = nil
      let index = count
      count += 1
      slots.hasNext = hasNext()
      observer.onBegin(index)
      let hooks = DriverHooks(
        onProgress: { observer.onProgress(index, $0) }, onRetry: { observer.onRetry(index, $0) },
        onAnswer: { observer.onAnswer(index, $0) })
      return UploadJob(
        request, index: index, slot: slot, of: slots, shared: shared, hooks: hooks,
        onRecord: { observer.onRecord(index, $0) })
    } ended: { job, error in
      slots.give(back: job.slot, of: job.recordID)
      if let delivery = job.delivery { return observer.onEnd(job.index, .success(delivery)) }
      var error = error ?? .cancelled(hasSentAll: false)
      if case .cancelled = error { error = .cancelled(hasSentAll: job.hasSentAll) }
      job.recordFailure(error)
      observer.onEnd(job.index, .failure(error))
    }
    while (upcoming ?? (isCountExact ? next() : nil)) != nil {
      upcoming = nil
      observer.onEnd(count, .failure(.cancelled(hasSentAll: false)))
      count += 1
    }
  }
}

extension Uploader {
  /// The error that ends an upload before its file is opened: an invalid number, or that nothing has touched the file since its
  /// delivery.
  private func immediateError(of request: UploadRequest) -> UploadError? {
    problem ?? request.problem ?? shared.untouchedDelivery(of: request).map { .delivered($0) }
  }
}
