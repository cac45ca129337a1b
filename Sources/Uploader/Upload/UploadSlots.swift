import CShims
import UploadCore

/// The slots of an ``Uploader``. An upload that only waits for the server to turn it into a recording gives its slot to the next
/// upload, and moves to one with little memory.
final class UploadSlots {
  let count: Int
  /// Whether another upload follows those that have begun.
  var hasNext = false
  /// The IDs of the uploads in progress.
  private(set) var recordIDs: [String] = []
  private var free: [UploadSlot]
  private var freeToWait: [UploadSlot] = []
  private var waiting: [UploadSlot] = []
  /// Slots whose uploads wait in them for the server, because no place to wait was free.
  private var kept: [UploadSlot] = []
  private let rateControl: RateControl?

  init(count: Int, rateControl: RateControl?) {
    self.count = count
    self.rateControl = rateControl
    free = (0..<count).map { _ in UploadSlot(jobs: count, rateControl: rateControl) }
  }

  func begin(recordID: String) { recordIDs.append(recordID) }

  /// A slot for something else than an upload: one that stays free, or while all are in use, as in a callback, one with little memory.
  var spare: UploadSlot { free.first ?? UploadSlot(forWaiting: rateControl) }

  func take() -> UploadSlot? { free.popLast() }

  /// - Parameter recordID: the ID of the upload that has ended; nil if it has no record.
  func give(back slot: UploadSlot, of recordID: String?) {
    recordIDs.removeAll { $0 == recordID }
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

  /// - Returns: nil if the limit on open files leaves no room for one more upload at a time.
  private func slotForWaiting() -> UploadSlot? {
    let descriptors = Limits.descriptorCount + (count + 1) * Limits.jobDescriptorCount
    guard shim_can_open(Int32(descriptors)) == 0 else { return nil }
    return UploadSlot(forWaiting: rateControl)
  }
}
