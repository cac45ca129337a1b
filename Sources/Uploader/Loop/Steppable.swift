import UploadCore

/// Non-blocking work: it is stepped when something has happened, and returns what it waits for next.
protocol Steppable: AnyObject {
  /// - Returns: nil when the work is done.
  func step(_ ready: Readiness, nowMilliseconds: Int64) throws(UploadError) -> Wait?
  /// Another machine blocked the thread for this long, for example on a slow disk. Network time limits do not count it.
  func extendDeadlines(by milliseconds: Int64)
  /// It is to end soon, where little is lost. It is stepped next.
  func finish(nowMilliseconds: Int64)
  /// Whether it gives its slot to another machine, because it only waits.
  var isWaitingOnly: Bool { get }
  /// Whether it waits for another machine to end. It is stepped as soon as one has.
  var awaitsAnother: Bool { get }
}

extension Steppable {
  func extendDeadlines(by milliseconds: Int64) {}
  func finish(nowMilliseconds: Int64) {}
  var isWaitingOnly: Bool { false }
  var awaitsAnother: Bool { false }
}
