import CShims
import Uploader

/// What a process of a watcher asks before it removes a recording: whether another section still needs it. The question is an event in
/// its output, the answer a byte from the descriptor `SHIM_ANSWERS`.
enum WatcherQuestion {
  static let yes = UInt8(ascii: "y")

  /// - Returns: false also if nobody answers, because the watcher has ended or this process is to end.
  static func mayRemove(_ file: LocalPath, _ report: Report) -> Bool {
    for attempt in 0..<Limits.removalQuestionCount {
      // Another process may have the lock that the other section needs.
      if attempt > 0 { _ = shim_poll(nil, 0, Limits.removalQuestionPauseMilliseconds) }
      report.removing(file)
      guard let answer = answer() else { return false }
      if answer == yes { return true }
    }
    return false
  }

  private static func answer() -> UInt8? {
    while shim_signal_received() == 0 {
      var entries = [
        shim_poll_entry(descriptor: Int32(SHIM_ANSWERS), events: Int32(SHIM_POLL_READABLE), ready: 0)
      ]
      for blocked in Console.blocked {
        entries.append(shim_poll_entry(descriptor: blocked, events: Int32(SHIM_POLL_WRITABLE), ready: 0))
      }
      // A signal that comes a moment before the wait is noticed after it.
      _ = shim_poll(&entries, Int32(entries.count), 1000)
      Console.write()
      guard entries[0].ready != 0 else { continue }
      var answer: UInt8 = 0
      return shim_read(Int32(SHIM_ANSWERS), &answer, 1) == 1 ? answer : nil
    }
    return nil
  }
}

extension Limits {
  /// How often a process asks its watcher whether it may remove a recording, and the pause before it asks again, in milliseconds.
  static let removalQuestionCount = 3
  static let removalQuestionPauseMilliseconds: Int64 = 200
}
