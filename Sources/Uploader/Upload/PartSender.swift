import UploadCore

/// A further connection of an upload: sends one part after the other, each with a machine of its own. What goes wrong ends it, and is no failure
/// of the upload.
final class PartSender: Steppable {
  private let upload: UploadDriver
  private let file: SourceFile
  private let slot: UploadSlot
  private let slots: UploadSlots
  private let shared: SharedResources
  private var part: LentPart.ID
  /// nil before a part is begun.
  private var driver: UploadDriver?
  private var next: (part: LentPart, composer: RequestComposer)?
  /// What has arrived of the part, in bytes.
  private var arrived: Int64 = 0
  /// What the upload was told of it.
  private var told: LentPart.Progress?

  init(
    _ part: LentPart, _ composer: RequestComposer, of file: SourceFile, for upload: UploadDriver, slot: UploadSlot,
    slots: UploadSlots, _ shared: SharedResources
  ) {
    (self.file, self.upload, self.slot, self.slots, self.shared) = (file, upload, slot, slots, shared)
    self.part = part.id
    next = (part, composer)
  }

  /// The upload goes on without the part.
  var isCancelled: Bool { !upload.machine.awaits(part) }

  func extendDeadlines(by milliseconds: Int64) { driver?.extendDeadlines(by: milliseconds) }

  func step(_ ready: Readiness, nowMilliseconds now: Int64) throws(UploadError) -> Wait? {
    if let (part, composer) = next.take() {
      driver = UploadDriver(
        try UploadMachine(.part(part), try shared.partPolicy()), of: TransferSource(file: file, digest: nil),
        slot: slot, shared: shared, composer: composer)
    }
    guard let driver else { return nil }
    let wait = try driver.step(ready, nowMilliseconds: now)
    note(arrived: wait == nil ? 0 : driver.arrivedOfPart, now)
    if let progress = driver.machine.task.progressOfPart, progress != told {
      told = progress
      upload.note(progress, of: part)
    }
    if let wait { return wait }
    next = upload.lendNextPart()
    guard let next else { return nil }
    (part, told) = (next.part.id, nil)
    return Wait(untilMilliseconds: now)
  }

  private func note(arrived bytes: Int64, _ now: Int64) {
    upload.helperProgressed(by: bytes - arrived, nowMilliseconds: now)
    arrived = bytes
  }

  func end() {
    upload.note(.failed, of: part)
    upload.helperEnded(arrived: arrived)
    slots.giveBack(helping: slot)
  }
}
