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
  private let configuration: Configuration
  private let tls: TLSSource
  private let pace: Pace?
  private var lanes: [Lane]

  /// - Parameter jobs: how many uploads at a time share the memory, 1 to 16.
  public init(_ configuration: Configuration = Configuration(), jobs: Int = 1) {
    precondition(jobs >= 1 && jobs <= Limits.jobCount)
    self.configuration = configuration
    tls = TLSSource(configuration.tls, jobs: jobs)
    pace = configuration.rateLimit.map { Pace(bytesPerSecond: $0) }
    lanes = (0..<jobs).map { _ in Lane(jobs: jobs) }
  }

  /// Delivers one recording, or goes on with its upload if the state directory has a record of it.
  /// - Parameters:
  ///   - cancellation: ends the upload early, from another thread or a signal handler.
  ///   - onProgress: is called on this thread about ten times a second and once at the end.
  /// - Returns: the server's confirmation. GigHive's is held against the size and SHA-256 of what was read.
  public func upload(
    _ request: UploadRequest, cancellation: Cancellation = Cancellation(),
    onProgress: @escaping (Progress) -> Void = { _ in }
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
    var waiting = requests.enumerated().makeIterator()
    EventLoop<UploadJob>(cancellation).run(lanes.count) {
      guard let (index, request) = waiting.next(), let lane = lanes.popLast() else { return nil }
      observer.onBegin(index)
      let hooks = SessionHooks(
        onProgress: { observer.onProgress(index, $0) }, onRetry: { observer.onRetry(index, $0) })
      return UploadJob(
        request, index: index, lane: lane, configuration: configuration, tls: tls, pace: pace, hooks: hooks,
        onRecord: { observer.onRecord(index, $0) })
    } ended: { job, error in
      lanes.append(job.lane)
      if let delivery = job.delivery { return observer.onEnd(job.index, .success(delivery)) }
      var error = error ?? .cancelled(hasSentAll: false)
      if case .cancelled = error { error = .cancelled(hasSentAll: job.hasSentAll) }
      job.note(error)
      observer.onEnd(job.index, .failure(error))
    }
    while let (index, _) = waiting.next() { observer.onEnd(index, .failure(.cancelled(hasSentAll: false))) }
  }
}

/// Who is told how uploads go. Each call names the request by its place in the list, and comes on the uploader's thread.
public struct UploadObserver {
  /// The upload begins.
  public var onBegin: (Int) -> Void = { _ in }
  /// The upload has a record with this ID.
  public var onRecord: (Int, String) -> Void = { _, _ in }
  /// About ten times a second, and once at the end.
  public var onProgress: (Int, Progress) -> Void = { _, _ in }
  /// A try has failed; another one will follow.
  public var onRetry: (Int, Retry) -> Void = { _, _ in }
  /// Once for each request.
  public var onEnd: (Int, Result<Delivery, UploadError>) -> Void = { _, _ in }

  /// Tells nobody.
  public init() {}
}

// MARK: - Taking back

/// What kept something from being taken back.
package struct NotTakenBack: Error {
  package let error: UploadError
  /// Can the server have done it all the same?
  package let mayBeDone: Bool
}

extension Uploader {
  /// Ends an upload that is under way on a tus server (the termination extension). One that the server does not know any
  /// more has ended, too.
  /// - Parameters:
  ///   - location: the upload's own address.
  ///   - endpoint: where it was created; credentials go to its origin only.
  package func terminate(
    _ location: TargetURI, createdAt endpoint: TargetURI, overridesMethod: Bool, cancellation: Cancellation
  ) throws(NotTakenBack) {
    let request = TusUpload.termination(of: location, overridesMethod: overridesMethod)
    try ask(
      Request(method: request.method, target: request.target, fields: request.fields, body: RequestBody()),
      origin: endpoint.origin, cancellation: cancellation
    ) { response, _ in
      (response.status >= 200 && response.status < 300) || response.status == 404 || response.status == 410
    }
  }

  /// Deletes a delivered recording from GigHive. One that is not there any more is deleted.
  /// - Parameters:
  ///   - base: the server's base address.
  ///   - isRepeated: may the server have carried out an earlier request? It then refuses a token that it has forgotten (403).
  package func delete(
    assetID: Int64, deleteToken: String, from base: TargetURI, isRepeated: Bool, cancellation: Cancellation
  ) throws(NotTakenBack) {
    let content = GigHiveAPI.deleteContent(assetID: assetID, deleteToken: deleteToken)
    try ask(
      Request(
        method: "POST", target: base.appending(GigHiveAPI.delete), fields: [Field("Content-Type", "application/json")],
        body: RequestBody(header: content), isConfidential: true),
      origin: base.origin, secret: deleteToken, cancellation: cancellation
    ) { (response, mayBeDone) throws(UploadError) in
      if response.status == 403, isRepeated || mayBeDone { return true }
      try response.checkDeletion()
      return true
    }
  }

  private func ask(
    _ request: Request, origin: String, secret: String? = nil, cancellation: Cancellation,
    accepts: @escaping SingleRequest.Accepts
  ) throws(NotTakenBack) {
    let dialogue = SingleRequest(request, accepts: accepts)
    let session = Session(
      dialogue, origin: origin, lane: lanes[0], configuration: configuration, tls: tls, pace: pace, secret: secret)
    var waiting: Session? = session
    var failure: UploadError? = .cancelled(hasSentAll: false)
    EventLoop<Session>(cancellation).run(1) {
      defer { waiting = nil }
      return waiting
    } ended: { _, error in
      failure = error
    }
    if let failure { throw NotTakenBack(error: failure, mayBeDone: dialogue.mayBeDone || session.hasSentAll) }
  }
}
