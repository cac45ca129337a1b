import Uploader

/// An upload between the tasks that wait for it and the thread that runs it.
final class PendingUpload: Sendable {
  typealias Outcome = Result<Delivery, UploadError>

  private enum State {
    case waiting
    case running(isCancelled: Bool)
    case ended(Outcome)
  }

  private struct Shared {
    var state = State.waiting
    var readers: [CheckedContinuation<Outcome, Never>] = []

    /// The first end counts.
    /// - Returns: who is to be told; nil if it had ended before.
    mutating func end(_ outcome: Outcome) -> [CheckedContinuation<Outcome, Never>]? {
      if case .ended = state { return nil }
      state = .ended(outcome)
      defer { readers = [] }
      return readers
    }
  }

  let request: UploadRequest
  let progress: AsyncStream<UploadProgress>
  private let progressInput: AsyncStream<UploadProgress>.Continuation
  private let wakeUp: WakeUp
  private let shared = Locked(Shared())

  init(_ request: UploadRequest, _ wakeUp: WakeUp) {
    self.request = request
    self.wakeUp = wakeUp
    (progress, progressInput) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
  }

  // MARK: Any thread

  func onEnd(_ reader: CheckedContinuation<Outcome, Never>) {
    let outcome: Outcome? = shared.withLock {
      if case .ended(let outcome) = $0.state { return outcome }
      $0.readers.append(reader)
      return nil
    }
    if let outcome { reader.resume(returning: outcome) }
  }

  /// Before its turn, it ends here: nothing was sent.
  func cancel() {
    let end = Outcome.failure(.cancelled(hasSentAll: false))
    let readers = shared.withLock {
      if case .waiting = $0.state { return $0.end(end) }
      if case .running = $0.state { $0.state = .running(isCancelled: true) }
      return nil
    }
    tell(readers, end)
    wakeUp.raise()
  }

  // MARK: The upload's thread

  func begin() {
    shared.withLock { if case .waiting = $0.state { $0.state = .running(isCancelled: false) } }
  }

  /// Whether it is not to be continued.
  var isOver: Bool {
    shared.withLock {
      switch $0.state {
      case .waiting: false
      case .running(let isCancelled): isCancelled
      case .ended: true
      }
    }
  }

  func tell(_ value: UploadProgress) { progressInput.yield(value) }

  func end(_ outcome: Outcome) { tell(shared.withLock { $0.end(outcome) }, outcome) }

  private func tell(_ readers: [CheckedContinuation<Outcome, Never>]?, _ outcome: Outcome) {
    guard let readers else { return }
    progressInput.finish()
    for reader in readers { reader.resume(returning: outcome) }
  }
}
