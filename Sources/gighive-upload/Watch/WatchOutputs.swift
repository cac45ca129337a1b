import Uploader

/// Tells the world what a watcher does: one line on standard error for each notice.
final class WatchOutputs {
  init(_ options: [GivenOption], stateDirectory: LocalPath?) throws(UsageError) {}

  /// Something that is shown has changed.
  /// - Parameter now: of the monotonic clock, in milliseconds.
  func changed(_ snapshot: WatchSnapshot, now: Int64) {}

  func tell(_ notice: WatchNotice) { Console.error("gighive-upload: " + notice.message + "\n") }

  /// Does what is due.
  func step(now: Int64) { Console.write() }

  /// What it must be woken for.
  var wait: (descriptors: [Int32], until: Int64?) { ([], nil) }

  /// The configuration is being read again.
  func reloading() {}

  func ended() {}
}
