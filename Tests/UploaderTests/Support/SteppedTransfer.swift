import CShims
import Testing

@testable import Uploader

/// The reports of a transfer, and the replies of its driver.
final class TransferStory {
  var progress: [UploadProgress] = []
  /// The reported changes of the file's status.
  var statusChanges: [StatusChange] = []
  /// How many bytes were written at the last of them.
  var writtenAtStatusChange = 0
  /// The responses to requests with pipelined successors, and their response times from the request's last byte, in
  /// milliseconds.
  var earlier: [(response: Response, milliseconds: Int64)] = []
  /// The response that ended the transfer.
  var last: (response: Response, sent: ContentSent, milliseconds: Int64)?
  /// How it ended without a response.
  var interruption: Interruption?
  /// Requests to pipeline as soon as possible.
  var following: ArraySlice<WireRequest> = []
  /// The number of requests in flight.
  var inFlightCount = 1
}

/// A transfer over a scripted stream, in virtual time. The bench acts as the driver: requests are pipelined as soon as possible,
/// and a response other than a success ends the transfer.
protocol SteppedTransfer: AnyObject {
  var transfer: Transfer { get }
  var stream: ScriptedStream { get }
  var story: TransferStory { get }
  /// The time of the last step, in milliseconds.
  var now: Int64 { get set }
}

extension SteppedTransfer {
  /// The response that ended the transfer.
  var response: Response? { story.last?.response }
  /// How much of the request was sent when it arrived.
  var answeredWhen: ContentSent? { story.last?.sent }
  var interruption: Interruption? { story.interruption }
  var progress: [UploadProgress] { story.progress }
  /// The interruption if it ended now.
  var endNow: Interruption { transfer.interruption(.uploadLost) }

  /// One step, and the next one if another request is pipelined or unanswered.
  /// - Returns: nil if the transfer has ended with a response.
  /// - Throws: the interruption, or the error of the file.
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
          story.inFlightCount += 1
        }
      case .answered(let response, let sent, let milliseconds):
        story.inFlightCount -= 1
        guard story.inFlightCount > 0, response.status < 300 else {
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
      // The hash thread takes real time, which does not count.
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
