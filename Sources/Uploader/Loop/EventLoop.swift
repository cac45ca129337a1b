import CShims
import UploadCore

/// The only loop: polls for all machines, and steps those that can continue.
final class EventLoop<Worker: Steppable> {
  private struct Entry {
    let machine: any Steppable
    /// Whom it helps; itself for a worker.
    let worker: Worker
    var wait: Wait
    var ready: Readiness = []

    var isHelper: Bool { machine !== worker }
  }

  private let cancellation: Cancellation
  private let output: (any CallerOutput)?
  /// Helpers come after their workers.
  private var entries: [Entry] = []
  /// First the two of the cancellation, then those of each machine, then the output.
  private var polled: [shim_poll_entry] = []
  /// When to look for another machine again, because the output refused one or because the running ones must be stepped first; nil if
  /// neither.
  private var heldUntil: Int64?
  /// Whether no other machine starts.
  private var isFinishing = false

  /// Runs one machine to its end.
  /// - Returns: how it failed; nil if it has ended by itself.
  func run(only worker: Worker) -> UploadError? {
    var next: Worker? = worker
    var failure: UploadError? = .cancelled(hasSentAll: false)
    run(1) {
      defer { next = nil }
      return next
    } ended: { _, error in
      failure = error
    }
    return failure
  }

  /// - Parameter output: decides when another machine may start, and is written to as soon as possible.
  init(_ cancellation: Cancellation, output: (any CallerOutput)? = nil) {
    let most = Int(Limits.jobCount + Limits.connectionCount) + Limits.waitingUploadCount
    precondition(most * Limits.addressCount + EventLoop.standardStreamCount < SHIM_POLL_MOST)
    self.cancellation = cancellation
    self.output = output
  }

  private static var standardStreamCount: Int { 3 }

  /// Runs machines until there are no more.
  /// - Parameters:
  ///   - count: the number of concurrent machines, without their helpers.
  ///   - hasNext: whether there is another machine. Called only if there is output of the caller.
  ///   - skip: ends the next machine before it exists. Returns false if that is not possible.
  ///   - next: returns the next machine; nil if there are no more.
  ///   - ended: called with the outcome of each machine.
  func run(
    _ count: Int, hasNext: () -> Bool = { true }, skip: () -> Bool = { false }, next: () -> Worker?,
    ended: (Worker, UploadError?) -> Void
  ) {
    isFinishing = cancellation.isFinishing
    while true {
      begin(count, hasNext, skip, next)
      if entries.isEmpty, heldUntil == nil { return }
      let failure = poll()
      if entries.isEmpty, failure != nil { return }
      output?.write()
      for index in entries.indices.reversed() { step(index, failure, ended) }
    }
  }

  /// How many machines there are besides helpers, and those that only wait.
  private var activeCount: Int {
    entries.reduce(0) { $1.isHelper || $1.machine.isWaitingOnly ? $0 : $0 + 1 }
  }

  /// Starts the machines that may start.
  private func begin(_ count: Int, _ hasNext: () -> Bool, _ skip: () -> Bool, _ next: () -> Worker?) {
    heldUntil = nil
    guard activeCount < count, !isFinishing else { return }
    // Looking for the next machine can take long, for example on a slow disk.
    let began = shim_monotonic_milliseconds()
    defer { extendDeadlines(ofOthersThan: nil, since: began) }
    var skipped = 0
    while activeCount < count {
      if skipped % Limits.skippedFileCount == 0, cancellation.isCancelled { return }
      if let output, hasNext() {
        switch output.admission(nowMilliseconds: shim_monotonic_milliseconds()) {
        case .open: break
        case .held(let until):
          heldUntil = until
          return
        case .closed: return
        }
      }
      if skip() {
        skipped += 1
        let now = shim_monotonic_milliseconds()
        if !entries.isEmpty, now - began >= Limits.longStepMilliseconds {
          heldUntil = now
          return
        }
        continue
      }
      skipped = 0
      guard let machine = next() else { return }
      add(machine, for: machine)
    }
  }

  private func add(_ machine: any Steppable, for worker: Worker) {
    entries.append(Entry(machine: machine, worker: worker, wait: Wait(untilMilliseconds: 0)))
    // What transfers wait for, so that nothing is allocated while content is sent: two of the cancellation, up to three
    // of each machine, and two of the output. Only a race of many addresses needs more, before that.
    polled.reserveCapacity(2 + 3 * entries.count + 2)
  }

  /// - Returns: an error that ends all machines.
  private func poll() -> UploadError? {
    var until = heldUntil ?? Int64.max
    polled.removeAll(keepingCapacity: true)
    polled.append(shim_poll_entry(descriptor: cancellation.descriptor, events: Readiness.readable.rawValue, ready: 0))
    let finishDescriptor = isFinishing ? -1 : cancellation.finishDescriptor
    polled.append(shim_poll_entry(descriptor: finishDescriptor, events: Readiness.readable.rawValue, ready: 0))
    for entry in entries {
      let wait = entry.wait
      until = min(until, wait.untilMilliseconds)
      polled.append(shim_poll_entry(descriptor: wait.descriptor, events: wait.readiness.rawValue, ready: 0))
      for descriptor in wait.others {
        polled.append(shim_poll_entry(descriptor: descriptor, events: wait.readiness.rawValue, ready: 0))
      }
    }
    if let output {
      for descriptor in output.blocked {
        polled.append(shim_poll_entry(descriptor: descriptor, events: Readiness.writable.rawValue, ready: 0))
      }
    }
    let milliseconds = max(0, until - shim_monotonic_milliseconds())
    guard shim_poll(&polled, Int32(polled.count), milliseconds) == 0 else {
      return .outOfResources("memory for poll")
    }
    var place = 2
    for index in entries.indices {
      entries[index].ready = []
      for _ in 0...entries[index].wait.others.count {
        entries[index].ready.formUnion(Readiness(rawValue: polled[place].ready))
        place += 1
      }
    }
    if polled[1].ready != 0 { finish() }
    return polled[0].ready != 0 ? .cancelled(hasSentAll: false) : nil
  }

  private func finish() {
    isFinishing = true
    let now = shim_monotonic_milliseconds()
    for index in entries.indices {
      entries[index].machine.finish(nowMilliseconds: now)
      entries[index].wait = Wait(untilMilliseconds: now)
    }
  }

  private func step(_ index: Int, _ failure: UploadError?, _ ended: (Worker, UploadError?) -> Void) {
    let entry = entries[index]
    let machine = entry.machine
    var error = failure
    if error == nil, machine.isCancelled { error = .cancelled(hasSentAll: false) }
    if error == nil {
      let now = shim_monotonic_milliseconds()
      if entry.ready.isEmpty, now < entry.wait.untilMilliseconds { return }
      defer { extendDeadlines(ofOthersThan: machine, since: now) }
      do throws(UploadError) {
        if let wait = try machine.step(entry.ready, nowMilliseconds: now) {
          entries[index].wait = wait
          while let helper = machine.takeHelper(nowMilliseconds: now) { add(helper, for: entry.worker) }
          return
        }
      } catch let thrown { error = thrown }
    }
    end(entry, error, ended)
  }

  private func end(_ ended: Entry, _ error: UploadError?, _ report: (Worker, UploadError?) -> Void) {
    if ended.isHelper {
      entries.removeAll { $0.machine === ended.machine }
      ended.machine.end()
      wake { $0.machine === ended.worker }
      return
    }
    for entry in entries where entry.isHelper && entry.worker === ended.worker { entry.machine.end() }
    entries.removeAll { $0.worker === ended.worker }
    report(ended.worker, error)
    wake { $0.machine.awaitsAnother }
  }

  private func wake(_ isMeant: (Entry) -> Bool) {
    for index in entries.indices where isMeant(entries[index]) { entries[index].wait = Wait(untilMilliseconds: 0) }
  }

  private func extendDeadlines(ofOthersThan machine: (any Steppable)?, since began: Int64) {
    guard entries.contains(where: { $0.machine !== machine }) else { return }
    let milliseconds = shim_monotonic_milliseconds() - began
    guard milliseconds >= Limits.longStepMilliseconds else { return }
    for entry in entries where entry.machine !== machine { entry.machine.extendDeadlines(by: milliseconds) }
  }
}

/// Whether a descriptor is readable or writable.
struct Readiness: OptionSet {
  let rawValue: Int32
  static let readable = Readiness(rawValue: Int32(SHIM_POLL_READABLE))
  static let writable = Readiness(rawValue: Int32(SHIM_POLL_WRITABLE))

  static func of(_ descriptor: Int32, _ wanted: Readiness) -> Readiness {
    var entry = shim_poll_entry(descriptor: descriptor, events: wanted.rawValue, ready: 0)
    return shim_poll(&entry, 1, 0) == 0 ? Readiness(rawValue: entry.ready) : []
  }
}

/// Non-blocking work: it is stepped when something has happened, and returns what it waits for next.
protocol Steppable: AnyObject {
  /// - Returns: nil when the work is done.
  func step(_ ready: Readiness, nowMilliseconds: Int64) throws(UploadError) -> Wait?
  /// Another machine blocked the thread for this long, for example on a slow disk. Network time limits do not count it.
  func extendDeadlines(by milliseconds: Int64)
  /// It is to end soon, where little is lost. It is stepped next.
  func finish(nowMilliseconds: Int64)
  /// Whether it is to be cancelled. Asked whenever the loop wakes up.
  var isCancelled: Bool { get }
  /// Whether it gives its slot to another machine, because it only waits.
  var isWaitingOnly: Bool { get }
  /// Whether it waits for another machine to end. It is stepped as soon as one has.
  var awaitsAnother: Bool { get }
  /// Another machine, that works for this one until either of them has ended; nil if it needs none now. Asked after each step.
  func takeHelper(nowMilliseconds: Int64) -> (any Steppable)?
  /// It helps another machine, and is not stepped any more.
  func end()
}

extension Steppable {
  func extendDeadlines(by milliseconds: Int64) {}
  func finish(nowMilliseconds: Int64) {}
  var isCancelled: Bool { false }
  var isWaitingOnly: Bool { false }
  var awaitsAnother: Bool { false }
  func takeHelper(nowMilliseconds: Int64) -> (any Steppable)? { nil }
  func end() {}
}

/// What a machine waits for before its next step.
struct Wait {
  /// -1 to wait only for a time.
  var descriptor: Int32 = -1
  /// Other descriptors to wait for in the same way. The machine checks by itself which one is ready.
  var others: [Int32] = []
  var readiness: Readiness = []
  /// On the monotonic clock. A time in the past polls without waiting.
  var untilMilliseconds: Int64
}

extension Limits {
  /// Delivered files skipped before the cancellation is checked again.
  static let skippedFileCount = 32
  /// A step of one upload that takes at least this long does not count towards the time limits of the others, because it has
  /// waited for its disk; in milliseconds.
  static let longStepMilliseconds: Int64 = 100
}
