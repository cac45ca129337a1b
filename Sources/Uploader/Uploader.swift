import CShims
@_exported public import UploadCore
import UploadCore

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
    let (rateLimit, livePercent) = (configuration.rateLimit, configuration.livePercent)
    let isShared = problem == nil && (!rateLimit.isUnlimited || livePercent != nil)
    let rateControl = isShared ? RateControl(rateLimit, livePercent: livePercent) : nil
    slots = UploadSlots(count: jobs, rateControl: rateControl)
  }

  /// Uploads one recording, or resumes its upload if the state directory has a record of it.
  /// - Parameters:
  ///   - cancellation: ends the upload early, from another thread or a signal handler.
  ///   - onProgress: called on this thread about ten times a second and once at the end.
  /// - Returns: the server's confirmation, or the earlier delivery if there was one. GigHive's confirmation must match the size and SHA-256
  ///   of what was read.
  public func upload(
    _ request: UploadRequest, cancellation: Cancellation = Cancellation(),
    onProgress: @escaping (UploadProgress) -> Void = { _ in }
  ) throws(UploadError) -> Delivery {
    var observer = UploadObserver()
    observer.onProgress = { onProgress($1) }
    var outcome: Result<Delivery, UploadError> = .failure(.cancelled(hasSentAll: false))
    observer.onEnd = { outcome = $1 }
    var waiting: UploadRequest? = request
    uploadAll(
      hasNext: { waiting != nil }, next: { waiting.take() }, cancellation: cancellation, observer: observer)
    return try outcome.get()
  }

  /// Uploads recordings, each when its turn comes. Each has its own outcome; a failure does not stop the others. Their indices are in the
  /// order in which they are requested. After an early end, requests that were not taken from `next` are not reported.
  /// - Parameters:
  ///   - next: the next request; nil if there is none now. It is asked again as long as other uploads are in progress.
  ///   - mayHaveNext: whether there may be another request. If so, an upload that waits for GigHive to process its recording leaves its
  ///     place to the next one.
  public func uploadAll(
    next: () -> UploadRequest?, mayHaveNext: () -> Bool = { true }, cancellation: Cancellation = Cancellation(),
    observer: UploadObserver
  ) {
    run(isCountExact: false, mayHaveNext, next, cancellation, observer)
  }

  /// The same, but all requests are reported.
  /// - Parameters:
  ///   - hasNext: whether there is another request.
  ///   - next: creates the next request; nil if there are no more.
  package func uploadAll(
    hasNext: () -> Bool, next: () -> UploadRequest?, cancellation: Cancellation = Cancellation(),
    observer: UploadObserver
  ) {
    run(isCountExact: true, hasNext, next, cancellation, observer)
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
      guard let request = upcoming, let end = immediateEnd(of: request) else { return false }
      upcoming = nil
      observer.onBegin(count)
      observer.onEnd(count, end)
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
        onRecord: { observer.onRecord(index, $0) }, isCancelled: { observer.isCancelled(index) })
    } ended: { job, error in
      slots.give(back: job.slot, of: job.recordID)
      observer.onEnd(job.index, job.close(with: error))
    }
    while (upcoming ?? (isCountExact ? next() : nil)) != nil {
      upcoming = nil
      observer.onEnd(count, .failure(.cancelled(hasSentAll: false)))
      count += 1
    }
  }
}

extension Uploader {
  /// What ends an upload before its file is opened: an invalid number, or that nothing has touched the file since its delivery.
  private func immediateEnd(of request: UploadRequest) -> Result<Delivery, UploadError>? {
    if let problem = problem ?? request.problem { return .failure(problem) }
    return shared.untouchedDelivery(of: request).map { .success(.deliveredBefore($0)) }
  }
}

extension Uploader {
  /// Asks GigHive whether it still has a delivered recording.
  /// - Returns: nil if it has.
  func examine(_ recording: StoredRecording, cancellation: Cancellation) throws(CancelDeleteError) -> Absence? {
    let outcome = try run(
      .examine(recording), origin: recording.base.origin, isPatient: false, cancellation: cancellation,
      onRetry: { _, _ in })
    guard case .examined(let absence) = outcome else {
      throw CancelDeleteError(error: .cancelled(hasSentAll: false), answer: nil, mayBeDone: false)
    }
    return absence
  }

  /// Asks a server, by a machine for that purpose.
  /// - Parameters:
  ///   - origin: that of the server. Credentials are sent only there.
  ///   - secret: what nobody may see of the requests.
  ///   - isPatient: whether it is retried as the configuration says.
  ///   - onRetry: a try failed and will be repeated, with the response that led to it.
  package func run(
    _ purpose: UploadMachine.Purpose, origin: String, secret: String? = nil, isPatient: Bool = true,
    cancellation: Cancellation, onRetry: @escaping (Retry, RedactedAnswer?) -> Void
  ) throws(CancelDeleteError) -> Outcome {
    if let problem { throw CancelDeleteError(error: problem, answer: nil, mayBeDone: false) }
    let driver: UploadDriver
    var answer: RedactedAnswer?
    do throws(UploadError) {
      var composer = RequestComposer(shared.configuration, origin: origin)
      if let secret { composer.hide(secret) }
      driver = UploadDriver(
        try UploadMachine(purpose, isPatient ? try shared.policy() : try shared.examinationPolicy()), slot: slots.spare,
        shared: shared, composer: composer,
        hooks: DriverHooks(
          onRetry: {
            onRetry($0, answer)
            answer = nil
          }, onAnswer: { answer = $0 }))
    } catch { throw CancelDeleteError(error: error, answer: nil, mayBeDone: false) }
    let failure = EventLoop(cancellation).run(only: driver)
    if failure == nil, let outcome = driver.outcome { return outcome }
    throw CancelDeleteError(
      error: failure ?? .cancelled(hasSentAll: false), answer: answer,
      mayBeDone: driver.machine.task.mayBeDeleted || driver.hasSentAll)
  }
}

extension Uploader {
  /// Examines a recording and its records, but sends nothing and connects to nothing.
  /// - Throws: what would end its upload at once.
  package func preview(_ request: UploadRequest) throws(UploadError) -> UploadPreview {
    if let problem = problem ?? request.problem { throw problem }
    let file: SourceFile
    do throws(FileError) {
      file = try SourceFile.open(request.file, limit: request.sizeLimit, below: request.foundBelow)
    } catch { throw .file(request.file, error) }
    let directory = try existingStateDirectory()
    let isGuest = shared.configuration.credentials.areGuests
    guard let directory else {
      return .send(size: file.size, usesTus: request.prefersTus(size: file.size, isGuest: isGuest), recordID: nil)
    }
    let usesTus = directory.adapted(request).prefersTus(size: file.size, isGuest: isGuest)
    return switch try finding(of: request, for: file, in: directory) {
    case .none: .send(size: file.size, usesTus: usesTus, recordID: nil)
    case .unfinished(let id): .send(size: file.size, usesTus: usesTus, recordID: id)
    case .delivered(let previous): .deliveredBefore(previous)
    }
  }

  /// The size of a file that could be sent, in bytes.
  package static func size(of file: LocalPath, limit: Int64) throws(UploadError) -> Int64 {
    do throws(FileError) { return try SourceFile.open(file, limit: limit).size } catch {
      throw .file(file, error)
    }
  }

  /// A state directory that does not exist is not created.
  func existingStateDirectory() throws(UploadError) -> StateDirectory? {
    guard let path = shared.configuration.stateDirectory, shim_file_status(at: path) != nil else { return nil }
    do throws(StateError) { return try shared.openState(path) } catch { throw .state(error) }
  }

  private func finding(
    of request: UploadRequest, for file: SourceFile, in directory: StateDirectory
  ) throws(UploadError) -> RecordSearch.Finding? {
    let buffers = slots.spare.buffers
    buffers.clear()
    let identity = try file.identity(using: buffers.ring.writableRun, on: shared.fileSystems.kind(of: file))
    return try RecordSearch.find(for: file, identity, of: request, in: directory)
  }
}
