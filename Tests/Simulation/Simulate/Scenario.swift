import Uploader
import World

/// The starts of the program that one seed has, each with the uploader as the command line uses it.
enum Scenario {
  static func run(_ seed: UInt64, traces: Bool) {
    world_create(seed, traces ? 1 : 0)
    if world_is_watched() != 0 { return world_watch { Program.run() } }
    world_set_second_sender { Scenario.send(world_get_plan().pointee) }
    while world_begin_start() != 0 {
      let plan = world_get_plan().pointee
      for index in 0..<plan.file_count where world_must_cancel(index) != 0 { cancel(index, plan) }
      if Int(plan.resumes) != WORLD_SENDS { resume(plan) }
      if Int(plan.resumes) != WORLD_RESUMES { send(plan) }
      if plan.removal != WORLD_KEEPS { remove(plan, isDue: true) }
      if plan.cleans != 0 { remove(plan, isDue: false) }
      world_end_start()
    }
  }

  // MARK: The commands

  /// `send`, of what is not delivered yet.
  private static func send(_ plan: world_plan) {
    recoverRemovals(plan)
    let indices = (0..<plan.file_count).filter { world_file_is_delivered($0) == 0 }
    for index in indices { world_upload_again(index) }
    upload(indices.map { ($0, request($0, plan)) }, plan)
  }

  private static func open(in directory: StateDirectory) throws(StateError) -> [UploadRecord] {
    var records: [UploadRecord] = []
    try directory.walk(.open) { records.append($0) }
    return records
  }

  /// `resume --all`
  private static func resume(_ plan: world_plan) {
    do throws(StateError) {
      let directory = try StateDirectory(LocalPath(cString: plan.state_directory), warn: warn)
      recoverRemovals(plan)
      for record in try open(in: directory) {
        let index = index(record, plan)
        guard index >= 0, world_file_is_delivered(index) == 0 else { continue }
        // A file may have two: while the first could not be read, a second one was started.
        world_upload_again(index)
        var request = request(index, plan)
        request.upload = record.id
        upload([(index, request)], plan)
      }
    } catch { warn(UploadError.state(error).message) }
  }

  /// `cancel` of the upload of the file as it was before.
  private static func cancel(_ index: Int32, _ plan: world_plan) {
    let cancellation = Cancellation()
    do throws(StateError) {
      let directory = try StateDirectory(LocalPath(cString: plan.state_directory), warn: warn)
      for record in try open(in: directory)
      where self.index(record, plan) == index {
        guard let lock = try directory.lock(record.id) else { continue }
        defer { withExtendedLifetime(lock) {} }
        do throws(CancelDeleteError) {
          if let location = record.remote.flatMap({ try? TargetURI($0.url) }),
            let endpoint = try? TargetURI(record.destination.endpoint)
          {
            let outcome = try Uploader(configuration(plan)).run(
              .cancel(location, overridesMethod: plan.overrides_method != 0), origin: endpoint.origin,
              cancellation: cancellation,
              onRetry: { retry, _ in world_upload_retries(index, retry.error.message) })
            if outcome != .cancelled(isKept: true) { location.text.withCString { world_upload_terminated($0) } }
          }
        } catch {
          // The command would say so and leave the record; whoever does not mind the server's space removes it.
          warn("not terminated: " + error.error.message)
        }
        try directory.remove(record.id)
      }
    } catch { warn(UploadError.state(error).message) }
  }

  /// `clean`, or what `send --after` does at its end with what an earlier one could not remove.
  private static func remove(_ plan: world_plan, isDue: Bool) {
    guard world_is_dead() == 0 else { return }
    recoverRemovals(plan)
    var plan = plan
    if !isDue { plan.removal = Int32(WORLD_DELETES) }
    let after = afterDelivery(plan)
    guard let removal = after.removal else { return }
    let uploader = Uploader(configuration(plan))
    do throws(StateError) {
      let directory = try StateDirectory(LocalPath(cString: plan.state_directory), warn: warn)
      let walk = directory.walkDeliveries {
        let index = index($0, plan)
        return index >= 0 && world_file_is_there(index) != 0 && (!isDue || directory.isRemovalDue($0.id))
      }
      while world_is_dead() == 0, let known = try walk.next() {
        let path = known.file.path
        directory.reserveForRemovals(in: path.directory)
        guard case .locked(let lock, let record) = try directory.lockRecord(known.id) else { continue }
        defer { withExtendedLifetime(lock) {} }
        defer { directory.removeLock(known.id) }
        do throws(KeptReason) {
          _ = try uploader.removeFile(
            of: LockedRecord(record, in: directory, lock: lock), removal, after,
            isForGigHive: Int(plan.destination) == WORLD_GIGHIVE && world_asks() != 0, isDryRun: false, named: path,
            at: path,
            below: nil, askedAs: path, cancellation: Cancellation())
        } catch {
          if isDue, error.endsRemoval { directory.clearRemovalDue(record.id) }
          kept(index(record, plan), error)
        }
      }
    } catch { warn(UploadError.state(error).message) }
  }

  private static func kept(_ index: Int32, _ reason: KeptReason) {
    world_recording_kept(index, world_traces() != 0 ? reason.text : "")
  }

  /// The file of a record; negative if its upload goes to another server.
  private static func index(_ record: UploadRecord, _ plan: world_plan) -> Int32 {
    let (url, endpoint) = (try? TargetURI(String(cString: plan.url)), try? TargetURI(record.destination.endpoint))
    return url?.origin == endpoint?.origin ? record.file.path.withCString { world_file_at($0) } : -1
  }

  private static func recoverRemovals(_ plan: world_plan) {
    StateDirectory.recoverRemovals(at: LocalPath(cString: plan.state_directory), warn: warn)
  }

  private static func afterDelivery(_ plan: world_plan) -> AfterDelivery {
    var after = AfterDelivery()
    switch Int(plan.removal) {
    case WORLD_DELETES: after.removal = .delete
    case WORLD_MOVES: after.removal = .move(LocalPath(cString: plan.target))
    default: break
    }
    after.trustsServer = plan.trusts_server != 0 || world_asks() == 0
    after.trustsSettle = plan.trusts_settle != 0
    return after
  }

  // MARK: Uploads

  private typealias Upload = (index: Int32, request: UploadRequest)

  private static func upload(_ uploads: [Upload], _ plan: world_plan) {
    let cancellation = Cancellation()
    world_may_cancel(cancellation.descriptor)
    let uploader = Uploader(configuration(plan), jobs: Int(plan.jobs))
    let receipts = Receipts()
    for calls in plan.one_by_one != 0 ? uploads.map({ [$0] }) : [uploads] {
      var waiting = calls[...]
      uploader.uploadAll(
        hasNext: { !waiting.isEmpty }, next: { waiting.popFirst()?.request }, cancellation: cancellation,
        observer: observer(of: calls, receipts))
    }
    if plan.deletes != 0 { delete(receipts.list, uploader, plan) }
  }

  /// What the server has given for what it has.
  private final class Receipts { var list: [(index: Int32, receipt: Receipt)] = [] }

  /// `delete` of what was delivered.
  private static func delete(_ receipts: [(index: Int32, receipt: Receipt)], _ uploader: Uploader, _ plan: world_plan) {
    for (index, receipt) in receipts where world_is_dead() == 0 {
      guard let asset = receipt.assetID, let token = receipt.deleteToken,
        let base = try? TargetURI(String(cString: plan.url))
      else { continue }
      do throws(CancelDeleteError) {
        _ = try uploader.run(
          .delete(assetID: asset, deleteToken: token, from: base, isRepeated: false), origin: base.origin,
          secret: token,
          cancellation: Cancellation(),
          onRetry: { retry, _ in world_upload_retries(index, retry.error.message) })
        if world_is_dead() == 0 { world_recording_deleted(asset) }
      } catch { warn("not deleted: " + error.error.message) }
    }
  }

  private static func observer(of uploads: [Upload], _ receipts: Receipts) -> UploadObserver {
    var observer = UploadObserver()
    observer.onRecord = { index, _ in world_upload_recorded(uploads[index].index) }
    observer.onProgress = { world_upload_progress(uploads[$0].index, $1.deliveredBytes, $1.totalBytes) }
    observer.onRetry = { world_upload_retries(uploads[$0].index, $1.error.message) }
    observer.onEnd = { index, result in
      switch result {
      case .success(.sent(let recording)):
        receipts.list.append((uploads[index].index, recording.receipt))
        if case .kept(let reason)? = recording.aftermath { kept(uploads[index].index, reason) }
        world_upload_ended(uploads[index].index, Int32(WORLD_DELIVERED), "delivered")
      case .success(.deliveredBefore(let previous)):
        let text = "already delivered (upload " + previous.upload + ")"
        world_upload_ended(uploads[index].index, Int32(WORLD_DELIVERED_BEFORE), text)
      case .failure(let error): world_upload_ended(uploads[index].index, error.outcome, error.message)
      }
    }
    return observer
  }

  private static func warn(_ text: String) {
    if world_traces() != 0 { world_note(text) }
  }

  private static func configuration(_ plan: world_plan) -> Configuration {
    var configuration = Configuration()
    configuration.retryLimit =
      plan.retry_milliseconds > 0 ? .time(milliseconds: plan.retry_milliseconds) : .failures(plan.retries)
    configuration.retryMaximumDelayMilliseconds = plan.retry_maximum_delay_milliseconds
    configuration.timeouts.resolveMilliseconds = plan.connect_milliseconds
    configuration.timeouts.connectMilliseconds = plan.connect_milliseconds
    configuration.timeouts.stallMilliseconds = plan.stall_milliseconds
    configuration.timeouts.responseMilliseconds = plan.response_milliseconds
    if plan.total_milliseconds > 0 { configuration.timeouts.totalMilliseconds = plan.total_milliseconds }
    if plan.rate_limit > 0 { configuration.rateLimit = RateSchedule(.bytesPerSecond(plan.rate_limit)) }
    configuration.stateDirectory = LocalPath(cString: plan.state_directory)
    if let proxy = plan.proxy, let address = try? TargetURI(String(cString: proxy)) {
      configuration.proxies.http = Proxy(address, user: nil)
    }
    if let user = plan.user.map({ String(cString: $0) }) {
      let credentials = { @Sendable in Credentials.basic(user: user, password: String(cString: world_password())) }
      configuration.credentials = credentials()
      if plan.refreshes != 0 { configuration.refreshCredentials = credentials }
    }
    if world_has_diagnostics() != 0 { configuration.diagnostics = { warn($0) } }
    configuration.warnings = { warn($0) }
    return configuration
  }

  private static func request(_ index: Int32, _ plan: world_plan) -> UploadRequest {
    guard let url = try? TargetURI(String(cString: plan.url)) else { preconditionFailure("a plan without a URL") }
    var form = EventForm()
    form.label = "A night out"
    form.orgName = "The Band"
    let destination: Destination =
      switch Int(plan.destination) {
      case WORLD_GIGHIVE: .gigHive(url, form)
      case WORLD_MULTIPART: .multipart(url)
      default: .tus(url)
      }
    var request = UploadRequest(file: LocalPath(cString: world_file_path(index)), destination: destination)
    switch Int(plan.protocol) {
    case WORLD_PROTOCOL_MULTIPART: request.uploadProtocol = .multipart
    case WORLD_PROTOCOL_TUS: request.uploadProtocol = .tus
    default: break
    }
    request.tusThreshold = plan.tus_threshold
    request.chunkLength = plan.chunk_length > 0 ? plan.chunk_length : nil
    request.overridesMethod = plan.overrides_method != 0
    request.defersLength = plan.defers_length != 0
    request.computesDigest = plan.computes_digest != 0
    request.afterDelivery = afterDelivery(plan)
    return request
  }
}

extension LocalPath {
  fileprivate func withCString<Result>(_ body: (UnsafePointer<CChar>) -> Result) -> Result {
    body(cString ?? [0])
  }
}

extension UploadError {
  /// What an upload's end means to the world.
  fileprivate var outcome: Int32 {
    let outcome =
      switch self {
      case .postponed(let cause, _, _): Int(cause.outcome)
      case .cancelled: WORLD_CANCELLED
      case .changed: WORLD_CHANGED
      case .file: WORLD_FILE
      case .state: WORLD_STATE
      case .conflict, .objectExists, .objectRecorded, .objectReplaced: WORLD_CONFLICT
      case .outOfResources: WORLD_RESOURCES
      case .mayBeStored, .uncertain: WORLD_MAY_BE_STORED
      case .checksumDiffers, .sizeDiffers, .tus(.offsetBeyond), .tus(.startsOver), .tus(.lengthTruncated):
        WORLD_INTEGRITY
      case .unconfirmed, .prematureSuccess, .tus(.unproved), .tus(.notSupported), .tus(.noLocation), .tus(.noOffset),
        .tus(.cachedOffset):
        WORLD_NOT_THE_SERVER
      case .invalidResponse(.incomplete, _), .tus(.locked), .tus(.refused), .tus(.interrupted), .tus(.checksumMismatch),
        .tus(.contentRefused), .tus(.requestsStopped):
        WORLD_FAILED
      case .form, .formData, .requestHead, .invalidResponse, .redirected, .redirectionRefused, .tus, .tls,
        .internalError:
        WORLD_PROTOCOL_BROKEN
      default: WORLD_FAILED
      }
    return Int32(outcome)
  }
}
