import Foundation
import Testing

@testable import Uploader

/// The start of an upload while another process has locked the state directory.
struct UploadJobTests {
  private let state = StateBench()
  private let directory = TemporaryDirectory()

  private let told = Told()

  private final class Told: @unchecked Sendable {
    var warnings: [String] = []
    var records: [String] = []
  }

  private func job(
    _ uploadProtocol: UploadProtocol, to destination: Destination? = nil, resumes upload: String? = nil,
    defersComparison: Bool = false, slots: UploadSlots = UploadSlots(count: 1, rateControl: nil)
  ) throws -> UploadJob {
    let told = told
    var configuration = Configuration()
    configuration.stateDirectory = LocalPath(state.path)
    configuration.warnings = { told.warnings.append($0) }
    var form = EventForm()
    form.label = "Set 1"
    form.eventDate = "2026-11-20"
    var request = UploadRequest(
      file: directory.file("set.wav", recording(300)),
      destination: try destination ?? .gigHive(TargetURI("http://127.0.0.1:9"), form))
    request.uploadProtocol = uploadProtocol
    request.upload = upload
    request.defersComparison = defersComparison
    return UploadJob(
      request, index: 0, slot: try #require(slots.take()), of: slots,
      shared: SharedResources(configuration: configuration, tls: TLSContextCache(configuration.tls, jobs: 1)),
      hooks: DriverHooks(), onRecord: { told.records.append($0) })
  }

  /// Nothing blocks: the loop can be cancelled at any time.
  @Test func aDirectoryThatIsLockedIsLookedAtAgain() throws {
    let job = try job(.tus)
    var holder = try state.open().lockForCreation()
    let changed = state.changed("directory.lock")
    for now in stride(from: Int64(1000), to: 1000 + Limits.stateLockMilliseconds, by: 100) {
      let wait = try #require(try job.step([], nowMilliseconds: now))
      #expect(wait.descriptor == -1 && wait.untilMilliseconds == now + Limits.stateLockPauseMilliseconds)
    }
    #expect(told.records.isEmpty && told.warnings.isEmpty && holder != nil)
    // A card wears out with every write.
    #expect(state.changed("directory.lock") == changed)
    holder = nil
    // The name is being resolved now.
    let wait = try #require(try job.step([], nowMilliseconds: 999 + Limits.stateLockMilliseconds))
    #expect(wait.descriptor >= 0 && told.records.count == 1 && told.warnings.isEmpty)
    #expect(try state.open().records(.all).map { $0.id } == told.records)
  }

  /// The server may lose the first one while it waits for its recording: then it needs the slot again.
  @Test(arguments: [1, 2])
  func aFileThatIsInProgressWaitsForItsEndAndKeepsNoSlot(count: Int) throws {
    let slots = UploadSlots(count: count, rateControl: nil)
    var first: UploadJob? = try job(.tus, slots: slots)
    _ = try first?.step([], nowMilliseconds: 1000)
    if count == 1 {
      // It waits for its recording.
      slots.hasNext = true
      #expect(first.flatMap { slots.exchange($0.slot) }?.isForWaiting == true)
      slots.hasNext = false
    }
    let second = try job(.tus, slots: slots)
    for now in [1000, 2000] {
      let wait = try #require(try second.step([], nowMilliseconds: Int64(now)))
      #expect(wait.descriptor == -1 && wait.untilMilliseconds == .max && second.awaitsAnother)
    }
    #expect(second.slot.isForWaiting && second.isWaitingOnly && told.records.count == 1)
    #expect(slots.take() != nil)
    slots.give(back: UploadSlot(jobs: count), of: first?.recordID)
    first = nil
    let wait = try #require(try unlocked { try second.step([], nowMilliseconds: 3000) })
    // The name is being resolved now, with a slot for sending.
    #expect(wait.descriptor >= 0 && !second.awaitsAnother && !second.slot.isForWaiting)
    #expect(told.records.count == 2 && Set(told.records).count == 1)
  }

  /// A child process of another test holds this process's locks until it has executed its program.
  private func unlocked<Value>(_ step: () throws -> Value) throws -> Value {
    for _ in 0..<1000 {
      do { return try step() } catch UploadError.conflict { usleep(5000) }
    }
    return try step()
  }

  /// Another server than GigHive would store a form twice.
  @Test(arguments: [false, true])
  func anUploadByTusAndAFormToAPlainEndpointNeedTheirRecord(isPlain: Bool) throws {
    let job = try isPlain ? job(.multipart, to: plain) : job(.tus)
    let holder = try state.open().lockForCreation()
    _ = try job.step([], nowMilliseconds: 1000)
    #expect(throws: UploadError.state(.locked(LocalPath(state.path)))) {
      try job.step([], nowMilliseconds: 1000 + Limits.stateLockMilliseconds)
    }
    withExtendedLifetime(holder) {}
  }

  /// As when it was cancelled while `resume --all` was sending another one.
  @Test func anUploadWhoseRecordIsGoneIsNotResumed() throws {
    let job = try job(.multipart, resumes: "5e1f0a77")
    #expect(throws: UploadError.state(.noSuchRecord("5e1f0a77"))) { try job.step([], nowMilliseconds: 1000) }
    #expect(told.warnings.isEmpty && told.records.isEmpty)
  }

  @Test func aFormGoesWithoutARecordIfNoneCanBeMade() throws {
    let job = try job(.multipart)
    let holder = try state.open().lockForCreation()
    _ = try job.step([], nowMilliseconds: 1000)
    let wait = try #require(try job.step([], nowMilliseconds: 1000 + Limits.stateLockMilliseconds))
    #expect(wait.descriptor >= 0 && told.warnings.count == 1 && told.records.isEmpty)
    withExtendedLifetime(holder) {}
  }

  private var plain: Destination { get throws { .multipart(try TargetURI("http://127.0.0.1:9/")) } }

  /// As on a file system that has become read-only.
  @Test func aDeliveryIsFoundWhereNothingCanBeWritten() throws {
    let job = try job(.multipart, to: plain, defersComparison: true)
    let kept = try state.openRecord(LocalPath(directory.path(of: "set.wav")), endpoint: "http://127.0.0.1:9/")
    try kept.noteDelivery(size: 300)
    let lock = state.path + "/directory.lock"
    #expect(unlink(lock) == 0 && mkdir(lock, 0o700) == 0)
    #expect(try job.step([], nowMilliseconds: 1000) == nil)
    guard case .deliveredBefore(PreviousDelivery(kept.record, .comparable)) = job.delivery else {
      Issue.record("\(String(describing: job.delivery))")
      return
    }
  }

  @Test func aRecordThatCannotBeReadHoldsUpItsForm() throws {
    let job = try job(.multipart, to: plain)
    let kept = try state.openRecord(LocalPath(directory.path(of: "set.wav")), endpoint: "http://127.0.0.1:9/")
    // A link to itself, because root may read everything.
    let path = state.path + "/" + kept.record.id + ".record"
    #expect(unlink(path) == 0 && symlink(path, path) == 0)
    #expect(throws: UploadError.state(.unusable(LocalPath(path), SystemError(code: ELOOP)))) {
      try job.step([], nowMilliseconds: 1000)
    }
  }

  @Test func aFormGoesWithoutARecordIfNothingIsKnownAboutIt() throws {
    let lock = state.path + "/directory.lock"
    _ = try state.open()
    #expect(mkdir(lock, 0o700) == 0)
    let wait = try #require(try job(.multipart, to: plain).step([], nowMilliseconds: 1000))
    #expect(wait.descriptor >= 0 && told.warnings.count == 1 && told.records.isEmpty)
  }
}
