import CShims
@_exported public import UploadCore

/// Delivers recordings in a fixed amount of memory.
///
///     let uploader = Uploader(configuration)
///     let delivery = try uploader.upload(request) { print($0.deliveredBytes) }
///
/// A call blocks until the uploads have ended. Connections are kept for the next uploads to the same server. An uploader is
/// for one thread; several uploaders can work in several threads.
public final class Uploader {
  /// The version of this library and program (semver.org).
  public static let version = "0.1.0"

  private let shared: SharedMeans
  /// What is wrong with the configuration or the number of jobs.
  private let problem: UploadError?
  private var lanes: [Lane]

  /// - Parameter jobs: how many uploads at a time share the memory, 1 to 16. Uploads of an uploader with another number end
  ///   with ``UploadError/invalidConfiguration(field:value:allowed:)``.
  public init(_ configuration: Configuration = Configuration(), jobs: Int = 1) {
    problem = configuration.problem(jobs: jobs)
    let jobs = problem == nil ? jobs : 1
    shared = SharedMeans(configuration: configuration, tls: TLSSource(configuration.tls, jobs: jobs))
    let pace = problem == nil ? configuration.rateLimit.map { Pace(bytesPerSecond: $0) } : nil
    lanes = (0..<jobs).map { _ in Lane(jobs: jobs, pace: pace) }
  }

  /// Delivers one recording, or goes on with its upload if the state directory has a record of it.
  /// - Parameters:
  ///   - cancellation: ends the upload early, from another thread or a signal handler.
  ///   - onProgress: is called on this thread about ten times a second and once at the end.
  /// - Returns: the server's confirmation. GigHive's is held against the size and SHA-256 of what was read.
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

  /// Delivers recordings, each with an outcome of its own; one that fails does not stop the others.
  public func upload(
    _ requests: [UploadRequest], cancellation: Cancellation = Cancellation(), observer: UploadObserver
  ) {
    upload(count: requests.count, request: { requests[$0] }, cancellation: cancellation, observer: observer)
  }

  /// The same for very many: each request is asked for when its turn comes.
  /// - Parameter request: makes the request from its place in the list, from 0 to `count` - 1.
  public func upload(
    count: Int, request: (Int) -> UploadRequest, cancellation: Cancellation = Cancellation(), observer: UploadObserver
  ) {
    var waiting = (0..<count).makeIterator()
    var begun = 0
    EventLoop<UploadJob>(cancellation, outlet: observer.outlet).run(lanes.count) {
      begun < count
    } next: {
      guard let (index, request) = nextValid(&waiting, request, observer), let lane = lanes.popLast() else {
        begun = count
        return nil
      }
      begun = index + 1
      observer.onBegin(index)
      let hooks = DriverHooks(
        onProgress: { observer.onProgress(index, $0) }, onRetry: { observer.onRetry(index, $0) })
      return UploadJob(
        request, index: index, lane: lane, shared: shared, hooks: hooks,
        onRecord: { observer.onRecord(index, $0) })
    } ended: { job, error in
      lanes.append(job.lane)
      if let delivery = job.delivery { return observer.onEnd(job.index, .success(delivery)) }
      var error = error ?? .cancelled(hasSentAll: false)
      if case .cancelled = error { error = .cancelled(hasSentAll: job.hasSentAll) }
      job.note(error)
      observer.onEnd(job.index, .failure(error))
    }
    while let index = waiting.next() { observer.onEnd(index, .failure(.cancelled(hasSentAll: false))) }
  }
}

extension Uploader {
  /// The next request whose numbers are in their ranges. Those before it end with what is wrong with them.
  private func nextValid(
    _ waiting: inout Range<Int>.Iterator, _ request: (Int) -> UploadRequest, _ observer: UploadObserver
  ) -> (Int, UploadRequest)? {
    while let index = waiting.next() {
      let request = request(index)
      guard let problem = problem ?? request.problem else { return (index, request) }
      observer.onBegin(index)
      observer.onEnd(index, .failure(problem))
    }
    return nil
  }
}

/// Who is told how uploads go. Each call names the request by its place in the list, and comes on the uploader's thread.
public struct UploadObserver {
  /// The upload begins.
  public var onBegin: (Int) -> Void = { _ in }
  /// The upload has a record with this ID.
  public var onRecord: (Int, String) -> Void = { _, _ in }
  /// About ten times a second, and once at the end.
  public var onProgress: (Int, UploadProgress) -> Void = { _, _ in }
  /// A try has failed; another one will follow.
  public var onRetry: (Int, Retry) -> Void = { _, _ in }
  /// Once for each request.
  public var onEnd: (Int, Result<Delivery, UploadError>) -> Void = { _, _ in }
  /// Where the caller writes what it says.
  package var outlet: (any Outlet)?

  /// Tells nobody.
  public init() {}
}

// MARK: - Removal

/// Why an upload was not ended, or a recording not deleted.
package struct NotRemoved: Error {
  package let error: UploadError
  /// Can the server have done it all the same?
  package let mayBeDone: Bool
}

extension Uploader {
  /// Ends an upload that is under way on a tus server (the termination extension). One that the server says it does not know
  /// has ended, too.
  /// - Parameters:
  ///   - location: the upload's own address.
  ///   - endpoint: where it was created; credentials go to its origin only.
  /// - Returns: true if the server ends no uploads, and keeps what it has until that expires.
  package func cancel(
    _ location: TargetURI, createdAt endpoint: TargetURI, overridesMethod: Bool, cancellation: Cancellation
  ) throws(NotRemoved) -> Bool {
    let outcome = try remove(
      .cancel(location, overridesMethod: overridesMethod), origin: endpoint.origin, cancellation: cancellation)
    return outcome == .cancelled(isKept: true)
  }

  /// Deletes a delivered recording from GigHive. One that GigHive says is not there any more is deleted.
  /// - Parameters:
  ///   - base: the server's base address.
  ///   - isRepeated: may the server have carried out an earlier request? It then refuses a token that it has forgotten (403).
  package func delete(
    assetID: Int64, deleteToken: String, from base: TargetURI, isRepeated: Bool, cancellation: Cancellation
  ) throws(NotRemoved) {
    _ = try remove(
      .delete(assetID: assetID, deleteToken: deleteToken, from: base, isRepeated: isRepeated), origin: base.origin,
      secret: deleteToken, cancellation: cancellation)
  }

  private func remove(
    _ purpose: UploadMachine.Purpose, origin: String, secret: String? = nil, cancellation: Cancellation
  ) throws(NotRemoved) -> Outcome {
    if let problem { throw NotRemoved(error: problem, mayBeDone: false) }
    let driver: UploadDriver
    do throws(UploadError) {
      var composer = RequestComposer(shared.configuration, origin: origin)
      if let secret { composer.hide(secret) }
      driver = UploadDriver(
        try UploadMachine(purpose, try shared.terms()), lane: lanes[0], shared: shared, composer: composer)
    } catch { throw NotRemoved(error: error, mayBeDone: false) }
    var waiting: UploadDriver? = driver
    var failure: UploadError? = .cancelled(hasSentAll: false)
    EventLoop<UploadDriver>(cancellation).run(1) {
      defer { waiting = nil }
      return waiting
    } ended: { _, error in
      failure = error
    }
    if failure == nil, let outcome = driver.outcome { return outcome }
    throw NotRemoved(
      error: failure ?? .cancelled(hasSentAll: false), mayBeDone: driver.machine.mayBeDeleted || driver.hasSentAll)
  }
}
