import CShims
import Uploader

/// Keeps space free on the file systems of a group's directories (`--keep-free`): starts `clean` when it runs short, which removes the
/// oldest delivered recordings. Uploads continue in the meantime.
final class WatchSpace {
  private struct Run {
    let worker: WatchWorker
    let index: Int
    /// The first recording that was kept, and why.
    var kept: String?
    /// Why there is not enough space.
    var problem: String?
  }

  /// How much is to be free, in bytes.
  private let wanted: Int64
  private let arguments: [[UInt8]]
  private let statePath: LocalPath
  private let directories: [WatchedDirectory]
  private var keepers: [SpaceKeeper]
  private var run: Run?

  /// - Returns: nil without `--keep-free`.
  init?(_ arguments: WatchArguments, _ directories: [WatchedDirectory]) {
    guard let wanted = arguments.keepFree else { return nil }
    self.wanted = wanted
    self.arguments = arguments.cleanerArguments
    statePath = arguments.statePath
    self.directories = directories
    keepers = directories.map { _ in SpaceKeeper(wanted: wanted) }
  }

  var isCleaning: Bool { run != nil }

  var waits: [shim_poll_entry] { run?.worker.waits ?? [] }

  /// The process that removes recordings, if it is stopped.
  var stopped: Int32? { run?.worker.stopped }

  func proceed() { run?.worker.proceed() }

  /// When to step again (monotonic clock).
  var due: Int64 { keepers.reduce(.max) { min($0, run == nil ? $1.due ?? .max : .max) } }

  func isShort(_ index: Int) -> Bool { keepers[index].isShort }

  func checkSoon() { for index in keepers.indices { keepers[index].checkSoon() } }

  func noteDelivery() { for index in keepers.indices { keepers[index].noteDelivery() } }

  func end(atOnce: Bool) { run?.worker.end(atOnce: atOnce) }

  /// Does what is possible without waiting.
  /// - Parameters:
  ///   - mayClean: whether a process may be started; only one at a time removes recordings. Asked when space is short.
  ///   - mayRemove: asked before a recording is removed.
  ///   - event: called with each recording that was removed.
  /// - Returns: what must be reported.
  func step(
    now: Int64, mayClean: () -> Bool, mayRemove: ([UInt8]) -> Bool, _ event: (WorkerEvent) -> Void
  ) -> [WatchNotice] {
    var notices = follow(now, mayRemove, event)
    guard run == nil else { return notices }
    for index in keepers.indices where keepers[index].due.map({ $0 <= now }) ?? false {
      let directory = directories[index]
      let space = directory.freeSpace
      // While there is space: removing recordings needs some.
      if space != nil, keepers[index].takeReservation(now: now) {
        StateDirectory.reserveForRemovals(at: statePath, in: directory.path)
      }
      let free = space?.usable
      let isShort = free.map { $0 < wanted } ?? false
      switch keepers[index].check(free: free, mayClean: isShort && run == nil && mayClean(), now: now) {
      case .nothing: break
      case .clean: notices += start(index, now)
      case .notFreed:
        if let space { notices.append(.spaceNotFreed(directory.path, space, wanted: wanted)) }
      case .isOver: notices.append(.spaceFree(directory.path, free: free ?? 0))
      }
    }
    return notices
  }

  private func start(_ index: Int, _ now: Int64) -> [WatchNotice] {
    do throws(SystemError) {
      let worker = try WatchWorker(arguments + [Array("--".utf8), directories[index].path.bytes])
      worker.closeInput()
      run = Run(worker: worker, index: index)
      return []
    } catch {
      return end(index, "the cleanup process could not be started: " + error.text + ".", nil, now)
    }
  }

  private func follow(
    _ now: Int64, _ mayRemove: ([UInt8]) -> Bool, _ event: (WorkerEvent) -> Void
  ) -> [WatchNotice] {
    guard var current = run else { return [] }
    let end = current.worker.step(mayRemove: mayRemove) {
      switch $0.kind {
      case .removed: event($0)
      case .kept(let message, _, _): if current.kept == nil { current.kept = message }
      case .failed(let failure): current.problem = failure.message
      default: break
      }
    }
    run = end == nil ? current : nil
    guard let end else { return [] }
    let problem = end == .exited(0) ? nil : current.problem ?? "the cleanup process ended unexpectedly."
    return self.end(current.index, problem, current.kept, now)
  }

  /// - Parameter problem: why there is not enough space; nil if there is.
  private func end(_ index: Int, _ problem: String?, _ kept: String?, _ now: Int64) -> [WatchNotice] {
    let freesAtOnce = directories[index].freeSpace?.freesAtOnce ?? false
    guard keepers[index].ended(isEnough: problem == nil, freesAtOnce: freesAtOnce, now: now), let problem else {
      return []
    }
    let text = [problem, kept].compactMap { $0 }.joined(separator: " ")
    return [WatchNotice(.spaceShort, text, .error, path: directories[index].path.bytes)]
  }
}
