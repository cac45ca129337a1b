import Uploader

/// Writes beside the uploads, and lets no further one begin while nobody takes what became of the others.
final class ConsoleOutlet: Outlet {
  /// The most time for an upload (`--max-time`), which counts for its beginning too; nil if there is no limit.
  private let limitMilliseconds: Int64?
  /// Since when nobody has taken the output; nil if it is taken. Uploads that are resumed one after the other wait for the same
  /// reader, and so have this in common.
  nonisolated(unsafe) private static var heldSince: Int64?

  init(limitMilliseconds: Int64?) { self.limitMilliseconds = limitMilliseconds }

  var blocked: [Int32] { Console.blocked }

  func write() { Console.write() }

  func admission(nowMilliseconds now: Int64) -> Admission {
    if Console.admitsWork {
      ConsoleOutlet.heldSince = nil
      return .open
    }
    let since = ConsoleOutlet.heldSince ?? now
    ConsoleOutlet.heldSince = since
    guard let limitMilliseconds else { return .held(untilMilliseconds: .max) }
    let until = since + limitMilliseconds
    return now < until ? .held(untilMilliseconds: until) : .closed
  }
}
