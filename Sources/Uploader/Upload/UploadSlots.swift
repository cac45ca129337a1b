import CShims
import UploadCore

/// The slots of an ``Uploader``. An upload that only waits for the server to turn it into a recording gives its slot to the next
/// upload, and moves to one with little memory.
final class UploadSlots {
  let count: Int
  /// Whether another upload follows those that have begun.
  var hasNext = false
  private(set) var recordIDs: [String] = []
  private var free: [UploadSlot]
  private var freeToWait: [UploadSlot] = []
  private var waiting: [UploadSlot] = []
  /// Slots whose uploads wait in them for the server, because no place to wait was free.
  private var kept: [UploadSlot] = []
  private var freeToHelp: [UploadSlot] = []
  /// How many slots are for further connections of uploads.
  private var helping = 0
  private let rateControl: RateControl?

  init(count: Int, rateControl: RateControl?) {
    self.count = count
    self.rateControl = rateControl
    free = (0..<count).map { _ in UploadSlot(jobs: count, rateControl: rateControl) }
  }

  func begin(recordID: String) { recordIDs.append(recordID) }

  /// The upload has ended, or is opened again.
  func end(recordID: String) { recordIDs.removeAll { $0 == recordID } }

  /// A slot for something else than an upload: one that stays free, or while all are in use, as in a callback, one with little memory.
  var spare: UploadSlot { free.first ?? UploadSlot(forWaiting: rateControl) }

  func take() -> UploadSlot? { free.popLast() }

  /// - Parameter recordID: the ID of the upload that has ended; nil if it has no record.
  func give(back slot: UploadSlot, of recordID: String?) {
    if let recordID { end(recordID: recordID) }
    kept.removeAll { $0 === slot }
    slot.connectingSinceMilliseconds = nil
    if slot.isForWaiting { endWaiting(slot) } else { free.append(slot) }
  }

  private func endWaiting(_ slot: UploadSlot) {
    waiting.removeAll { $0 === slot }
    freeToWait.append(slot)
  }

  /// Exchanges the slot of an upload that waits for the server, or for another upload.
  /// - Parameter isQueued: whether it waits for another upload, which may need its slot to be sent again.
  /// - Returns: nil if it must keep its own: nobody needs that, or too many are waiting.
  func exchange(_ slot: UploadSlot, isQueued: Bool = false) -> UploadSlot? {
    guard hasNext || isQueued, !slot.isForWaiting, waiting.count < Limits.waitingUploadCount,
      let other = freeToWait.popLast() ?? slotForWaiting()
    else { return nil }
    waiting.append(other)
    kept.removeAll { $0 === slot }
    free.append(slot)
    return other
  }

  /// Exchanges the slot of an upload that waited for the server, and must send its file again.
  /// - Returns: nil while all others are in use.
  func exchangeForSending(_ slot: UploadSlot) -> UploadSlot? {
    guard let other = free.popLast() else { return nil }
    endWaiting(slot)
    return other
  }

  /// Whether an upload that waits for the server, and has no other slot for that, may keep its own. The last slot stays free for the
  /// next upload, so that the line is not idle until the server has made the recording.
  func mayKeep(_ slot: UploadSlot) -> Bool {
    guard hasNext, !slot.isForWaiting, waiting.count >= Limits.waitingUploadCount else { return true }
    if kept.contains(where: { $0 === slot }) { return true }
    guard kept.count + 1 < count else { return false }
    kept.append(slot)
    return true
  }

  /// Whether an upload may connect now. Those that wait for the server do so one after the other: a name lookup and a TLS handshake take
  /// more memory than what follows.
  func mayConnect(_ slot: UploadSlot, nowMilliseconds now: Int64) -> Bool {
    if !slot.isForWaiting || slot.hasConnection { return true }
    return !waiting.contains { other in
      other.connectingSinceMilliseconds.map { now - $0 < Limits.connectingTurnMilliseconds } ?? false
    }
  }

  /// How many connections all uploads have, or may have.
  var connectionCount: Int { count - free.count + helping }

  func takeToHelp() -> UploadSlot? {
    guard let slot = freeToHelp.popLast() ?? slotToHelp() else { return nil }
    helping += 1
    return slot
  }

  func giveBack(helping slot: UploadSlot) {
    helping -= 1
    freeToHelp.append(slot)
  }

  private func slotToHelp() -> UploadSlot? {
    mayAdd && shim_can_map(Limits.connectionMemory) == 0 ? UploadSlot(forHelping: rateControl) : nil
  }

  private func slotForWaiting() -> UploadSlot? { mayAdd ? UploadSlot(forWaiting: rateControl) : nil }

  /// Whether the limit on open files leaves room for one more upload at a time.
  private var mayAdd: Bool {
    shim_can_open(Int32(Limits.descriptorCount + (count + helping + 1) * Limits.jobDescriptorCount)) == 0
  }
}

/// A slot for one upload at a time, with its part of the memory, and the connection left by the last request.
final class UploadSlot {
  private struct IdleConnection {
    var connection: Connection
    let origin: String
    /// Whether the server promised to keep it open.
    let isPromised: Bool
  }

  let buffers: TransferBuffers
  /// Whether its upload only waits for the server (``UploadSlots/exchange(_:isQueued:)``). It then has little memory.
  let isForWaiting: Bool
  /// Since when its upload has been connecting, on the monotonic clock; nil if it is not.
  var connectingSinceMilliseconds: Int64?
  /// Its share of the rate, and of the line; nil if nothing is shared.
  let rateShare: RateShare?
  private var idle: IdleConnection?
  /// Origins whose servers close connections without notice.
  private var avoided: [String] = []

  /// - Parameter jobs: the number of slots that share the memory.
  init(jobs: Int, rateControl: RateControl? = nil) {
    isForWaiting = false
    buffers = TransferBuffers(jobs: jobs)
    rateShare = rateControl.map { RateShare(of: $0) }
  }

  init(forHelping rateControl: RateControl?) {
    isForWaiting = false
    buffers = TransferBuffers(forHelping: ())
    rateShare = rateControl.map { RateShare(of: $0) }
  }

  /// A slot for an upload that only waits for the server.
  init(forWaiting rateControl: RateControl?) {
    isForWaiting = true
    buffers = TransferBuffers(forWaiting: ())
    rateShare = rateControl.map { RateShare(of: $0) }
  }

  deinit { idle?.connection.stream.closeNotify() }

  var hasConnection: Bool { idle != nil }

  /// The upload waits for its next attempt. Where many do, they keep no connection meanwhile.
  func rest() {
    guard isForWaiting else { return }
    idle?.connection.stream.closeNotify()
    idle = nil
  }

  func keep(_ connection: Connection, to target: TargetURI, isPromised: Bool) {
    guard !avoided.contains(target.origin) else { return connection.stream.closeNotify() }
    idle = IdleConnection(connection: connection, origin: target.origin, isPromised: isPromised)
  }

  /// Takes the kept connection, unless it leads elsewhere, does not suit the request, or the server has sent something or closed
  /// it.
  func takeConnection(to target: TargetURI, _ choice: ConnectionChoice) -> Connection? {
    if choice == .fresh { avoid(target.origin) }
    guard var idle else { return nil }
    self.idle = nil
    let isGood: Bool =
      switch choice {
      case .reused: true
      case .reusedIfPromised: idle.isPromised
      case .fresh: false
      }
    if isGood, idle.origin == target.origin, Readiness.of(idle.connection.stream.descriptor, .readable).isEmpty {
      idle.connection.isReused = true
      return idle.connection
    }
    idle.connection.stream.closeNotify()
    return nil
  }

  private func avoid(_ origin: String) {
    guard !avoided.contains(origin) else { return }
    // The oldest is forgotten. If needed, it will be detected again.
    if avoided.count == Limits.avoidedOriginCount { avoided.removeFirst() }
    avoided.append(origin)
  }
}

extension Limits {
  /// How long an upload that waits may connect before the next one may, too, in milliseconds: nobody may answer. A
  /// name lookup takes 30 s at most, so three of them may have a stack at a time.
  static let connectingTurnMilliseconds: Int64 = 10_000
  /// Origins remembered for closing connections without notice.
  static let avoidedOriginCount = 8
}
