/// What a watcher remembers of a recording that it has set aside, so that the next one does not try it again at once: a line of a file in the
/// state directory.
package struct SetAsideMemory: Equatable, Sendable {
  /// The recording's ``WatchedFile/key``, and so not that of one that has changed since.
  let key: UInt64
  let again: Reattempt
  /// How often it has failed.
  let failures: Int
  /// When it failed last, in seconds since 1970.
  let failedAt: Int64
  /// What people are shown; nil if there are too many.
  let message: String?
  /// The ID of its record.
  let id: String?

  init(_ file: SetAsideFile) {
    (key, again, failures, failedAt) = (file.key, file.again, file.failures, file.failedAt)
    (message, id) = (file.shown?.message, file.shown?.id)
  }

  /// When it is tried, as long as the watcher runs: in milliseconds from now, 0 if it is due, nil for never. A cause that may pass is tried
  /// after an hour at most.
  func delayAtStart(unixSeconds: Int64) -> Int64? {
    guard var delay = again.delay(after: failures) else { return nil }
    if again.mayPass(after: failures) { delay = min(delay, Limits.watchReattemptAtStartMilliseconds) }
    let (passed, overflows) = unixSeconds.subtractingReportingOverflow(failedAt)
    // The clock was wrong then, or is now.
    guard !overflows, passed >= 0 else { return delay }
    return passed >= delay / 1000 ? 0 : delay - passed * 1000
  }
}

extension SetAsideMemory {
  /// - Parameter line: without its end.
  /// - Returns: nil if it is no such line.
  package init?(parsing line: [UInt8]) {
    guard let value = try? JSONReader.read(line), let key = value["key"]?.string, let key = UInt64(key, radix: 16),
      let again = value["again"]?.string.flatMap({ Reattempt(rawValue: $0) }),
      let failures = value["failures"]?.integer, failures > 0, failures < Int32.max,
      let failedAt = value["failed_at"]?.integer
    else { return nil }
    (self.key, self.again, self.failures, self.failedAt) = (key, again, Int(failures), failedAt)
    (message, id) = (value["message"]?.string, value["id"]?.string)
  }

  package var line: String {
    var line = JSONWriter()
    line.add("key", String(key, radix: 16))
    line.add("again", again.rawValue)
    line.add("failures", Int64(failures))
    line.add("failed_at", failedAt)
    if let message { line.add("message", message) }
    if let id { line.add("id", id) }
    return line.finished()
  }
}
