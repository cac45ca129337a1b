import Uploader

/// Writes output during uploads, and lets no further one start while the results of others are not read.
final class ConsoleOutput: CallerOutput {
  /// The time limit of an upload (`--max-time`), which includes waiting to start; nil if there is no limit.
  private let limitMilliseconds: Int64?
  /// Since when the output was not read; nil if it is being read. Shared, because uploads resumed one after the other wait for
  /// the same reader.
  nonisolated(unsafe) private static var heldSince: Int64?

  init(limitMilliseconds: Int64?) { self.limitMilliseconds = limitMilliseconds }

  var blocked: [Int32] { Console.blocked }

  func write() { Console.write() }

  func admission(nowMilliseconds now: Int64) -> UploadAdmission {
    if Console.admitsWork {
      ConsoleOutput.heldSince = nil
      return .open
    }
    let since = ConsoleOutput.heldSince ?? now
    ConsoleOutput.heldSince = since
    guard let limitMilliseconds else { return .held(untilMilliseconds: .max) }
    let until = since + limitMilliseconds
    return now < until ? .held(untilMilliseconds: until) : .closed
  }
}
