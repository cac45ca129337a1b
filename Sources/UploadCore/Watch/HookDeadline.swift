/// When a run of the `--on-event` program is ended: SIGTERM after a limit, or when the watcher ends, then SIGKILL.
package struct HookDeadline {
  package enum Step: Equatable { case nothing, terminate, kill }

  /// When there is something to do (monotonic clock, in milliseconds).
  package private(set) var due: Int64
  /// Whether it got SIGTERM.
  package private(set) var isOver = false
  private var grace: Int64

  /// - Parameters:
  ///   - now: of the monotonic clock, in milliseconds, like the others.
  ///   - limit: how long the program may take.
  ///   - grace: how long it then has.
  package init(
    now: Int64, limit: Int64 = Limits.hookMilliseconds, grace: Int64 = Limits.hookGraceMilliseconds
  ) {
    due = now + limit
    self.grace = grace
  }

  /// The watcher ends: the program has less time.
  package mutating func shorten(now: Int64, grace: Int64 = Limits.hookEndGraceMilliseconds) {
    due = min(due, isOver ? now + grace : now)
    self.grace = grace
  }

  /// What to do with a program that is still running.
  package mutating func step(now: Int64) -> Step {
    guard now >= due else { return .nothing }
    due = now + grace
    defer { isOver = true }
    return isOver ? .kill : .terminate
  }
}
