/// Decides when delivered recordings are removed because space runs short on the file system of a directory (`--keep-free`). Times
/// are milliseconds of the monotonic clock.
package struct SpaceKeeper: Sendable {
  package enum Step: Equatable, Sendable {
    case nothing
    /// Remove delivered recordings now, and call ``ended(isEnough:now:)``.
    case clean
    /// Report a shortage: enough recordings were removed, and yet their space is not free.
    case notFreed
    /// The space that was reported as short is sufficient again.
    case isOver
  }

  /// Whether the file system has freed the space of what was removed.
  private enum Freeing {
    /// It has, or nothing was removed.
    case done
    /// Not yet: some free it only seconds later.
    case pending
    /// It has not in time, for example because a snapshot has the same content.
    case failed
  }

  /// Bytes.
  private let wanted: Int64
  /// Whether there is too little space, and removing recordings could not change that.
  package private(set) var isShort = false
  private var isCleaning = false
  private var freeing = Freeing.done
  /// What was free before the last attempt, in bytes.
  private var freeBefore: Int64 = 0
  /// Whether a recording was delivered since the last attempt began.
  private var hasMore = false
  /// When to check the free space; nil: with the next scan, change or delivery.
  private var checkAt: Int64? = .min
  /// When the next attempt may begin.
  private var cleanAt = Int64.min
  /// When what removals need may be reserved again.
  private var reserveAt = Int64.min

  /// - Parameter wanted: how much is to be free, in bytes.
  package init(wanted: Int64) { self.wanted = wanted }

  /// When to check the free space; nil if nothing is known to have changed.
  package var due: Int64? { isCleaning ? nil : checkAt }

  /// Something has changed, or everything is being scanned.
  package mutating func checkSoon() { checkAt = .min }

  /// Whether to reserve now what removals need. Not at every check: if that fails, what it leaves and removes again is a change itself.
  package mutating func takeReservation(now: Int64) -> Bool {
    guard now >= reserveAt else { return false }
    reserveAt = now + Limits.spaceCheckMilliseconds
    return true
  }

  /// A recording was delivered, which may be one that can be removed.
  package mutating func noteDelivery() {
    hasMore = true
    // Without freed space, it is no use to remove more.
    if freeing == .done { cleanAt = .min }
    checkSoon()
  }

  /// - Parameters:
  ///   - free: in bytes; nil if it is not known, as while a card is not there.
  ///   - mayClean: whether no other directory is being cleaned.
  package mutating func check(free: Int64?, mayClean: Bool, now: Int64) -> Step {
    checkAt = nil
    guard let free else {
      freeing = .done
      return .nothing
    }
    guard free < wanted else {
      freeing = .done
      cleanAt = .min
      defer { isShort = false }
      return isShort ? .isOver : .nothing
    }
    // At least half of it: recordings that are being written may have taken the rest.
    if 2 * (free - freeBefore) >= wanted - freeBefore {
      if freeing == .failed { cleanAt = now }
      freeing = .done
    }
    let next = now + (freeing == .pending ? Limits.spaceFreeingMilliseconds : Limits.spaceCheckMilliseconds)
    guard now >= cleanAt else {
      checkAt = min(next, cleanAt)
      return .nothing
    }
    checkAt = next
    if freeing == .pending {
      freeing = .failed
      cleanAt = now + Limits.spaceRetryMilliseconds
      defer { isShort = true }
      return isShort ? .nothing : .notFreed
    }
    guard mayClean else { return .nothing }
    freeing = .done
    freeBefore = free
    isCleaning = true
    hasMore = false
    return .clean
  }

  /// The attempt has ended.
  /// - Parameters:
  ///   - isEnough: whether there is enough space now, or soon.
  ///   - freesAtOnce: whether there is, because this file system frees it at once (``FileSystem/freesAtOnce(type:)``). What is missing afterwards
  ///     was taken since.
  /// - Returns: whether a shortage must be reported.
  package mutating func ended(isEnough: Bool, freesAtOnce: Bool, now: Int64) -> Bool {
    isCleaning = false
    checkAt = now + (isEnough || hasMore ? 0 : Limits.spaceCheckMilliseconds)
    if isEnough, freesAtOnce {
      cleanAt = now + Limits.spaceCleanMilliseconds
      return false
    }
    if isEnough {
      freeing = .pending
      cleanAt = now + Limits.spaceCheckMilliseconds
      return false
    }
    cleanAt = hasMore ? now : now + Limits.spaceRetryMilliseconds
    defer { isShort = true }
    return !isShort
  }
}

extension Limits {
  /// How often free space is checked while it is short, and how often it is tried again to make room although nothing was delivered
  /// meanwhile, in milliseconds: each attempt asks the server about what it would remove.
  static let spaceCheckMilliseconds: Int64 = 60_000
  static let spaceRetryMilliseconds: Int64 = 600_000
  /// How often it is checked while a file system may still free the space of what was removed, in milliseconds.
  static let spaceFreeingMilliseconds: Int64 = 5_000
  /// The shortest time between two attempts, in milliseconds: what is free can vary around what is wanted.
  static let spaceCleanMilliseconds: Int64 = 1_000
}
