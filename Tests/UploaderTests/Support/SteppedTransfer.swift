import CShims
import Testing

@testable import Uploader

/// What a transfer has told of itself, and what its driver answers.
final class TransferStory {
  var progress: [UploadProgress] = []
  /// What was told of changes of the file's status.
  var statusChanges: [StatusChange] = []
  /// How many bytes had been written at the last of them.
  var writtenAtStatusChange = 0
  /// The answers to requests that others have followed, and how long each took from the request's last byte, in milliseconds.
  var earlier: [(response: Response, milliseconds: Int64)] = []
  /// The answer that the transfer ended with.
  var last: (response: Response, sent: ContentSent, milliseconds: Int64)?
  /// How it ended without an answer.
  var interruption: Interruption?
  /// Requests that follow as soon as they may.
  var following: ArraySlice<WireRequest> = []
  /// How many requests are under way.
  var underWayCount = 1
}

/// A transfer over a scripted stream, with a clock that the test owns. The bench plays the driver's part: requests follow as
/// soon as they may, and an answer that is no success ends the transfer.
protocol SteppedTransfer: AnyObject {
  var transfer: Transfer { get }
  var stream: ScriptedStream { get }
  var story: TransferStory { get }
  /// What the last step took as the time, in milliseconds.
  var now: Int64 { get set }
}

extension SteppedTransfer {
  /// The answer that the transfer ended with.
  var response: Response? { story.last?.response }
  /// How much of the request had gone out when that came.
  var answeredWhen: ContentSent? { story.last?.sent }
  var interruption: Interruption? { story.interruption }
  var progress: [UploadProgress] { story.progress }
  /// What an end at this moment would be.
  var endNow: Interruption { transfer.interruption(.uploadLost) }

  /// One step, and the next one where another request follows or another one is still unanswered.
  /// - Returns: nil if the transfer has ended with an answer.
  /// - Throws: what it was interrupted by, or what is wrong with the file.
  @discardableResult
  func step(_ ready: Readiness = [.readable, .writable], at milliseconds: Int64? = nil) throws(UploadError) -> Wait? {
    now = milliseconds ?? now
    if response != nil { return nil }
    while true {
      let step = try transfer.step(ready, nowMilliseconds: now)
      if let progress = transfer.takeProgress() { story.progress.append(progress) }
      switch step {
      case .wait(let wait): return wait
      case .sent:
        if let request = story.following.popFirst() {
          transfer.append(request)
          story.underWayCount += 1
        }
      case .answered(let response, let sent, let milliseconds):
        story.underWayCount -= 1
        guard story.underWayCount > 0, response.status < 300 else {
          story.last = (response, sent, milliseconds)
          return nil
        }
        story.earlier.append((response, milliseconds))
      case .statusChanged(let statusChange):
        story.statusChanges.append(statusChange)
        story.writtenAtStatusChange = stream.written.count
      case .interrupted(let interruption):
        story.interruption = interruption
        throw interruption.error
      }
    }
  }

  /// Steps until the transfer ends, as the loop does: time passes only when nothing else can happen.
  func run() throws(UploadError) {
    var ready: Readiness = []
    for _ in 0..<1_000_000 {
      guard let wait = try step(ready) else { return }
      // A second thread digests: that takes time, but none that counts.
      for descriptor in wait.others {
        var entry = shim_poll_entry(descriptor: descriptor, events: wait.readiness.rawValue, ready: 0)
        _ = shim_poll(&entry, 1, -1)
      }
      if !wait.others.isEmpty {
        ready = .readable
        continue
      }
      ready = stream.isReadable ? wait.readiness : wait.readiness.subtracting(.readable)
      if ready.isEmpty { now = max(now, wait.untilMilliseconds) }
    }
    Issue.record("the transfer does not end")
  }
}
