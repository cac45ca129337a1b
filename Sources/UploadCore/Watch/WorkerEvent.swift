/// A line that a worker writes: an event of `send --json` (docs/json.md).
package struct WorkerEvent: Equatable, Sendable {
  package struct Failure: Equatable, Sendable {
    package var message: String
    package var exitCode: Int64
    /// nil if the event does not say it.
    package var concern: FailureConcern?
    /// That of the server's answer; nil if there was none.
    package var status: Int64?
    /// How long it must not be tried again, in milliseconds; nil if it may be.
    var waitMilliseconds: Int64?
    /// When it is tried again if the recording is the cause.
    package var again: Reattempt

    package init(
      _ message: String, exitCode: Int64, _ concern: FailureConcern? = nil, status: Int64? = nil,
      waitMilliseconds: Int64? = nil, again: Reattempt = .soon
    ) {
      self.message = message
      self.exitCode = exitCode
      self.concern = concern
      self.status = status
      self.waitMilliseconds = waitMilliseconds
      self.again = again
    }

    /// Another process is working on the upload, or the server has locked it.
    var isConflict: Bool { exitCode == ExitCode.conflict && again == .soon }
    /// The server answered that it does not want the recording.
    var isRefusal: Bool { status.map { $0 >= 400 && $0 < 500 && !RetryPolicy.isTransient(status: Int($0)) } ?? false }
    /// The server answered, and failed.
    var isServerFailure: Bool { exitCode == ExitCode.serverFailure }
  }

  package enum Kind: Equatable, Sendable {
    case start
    /// In bytes. `behindSeconds` is how long ago the first byte was written that has not arrived; nil for a finished recording.
    case progress(bytes: Int64, total: Int64, behindSeconds: Int64? = nil)
    /// `size` is nil if another process has delivered it in the meantime.
    case delivered(assetID: Int64?, size: Int64?)
    /// Delivered before; `isRemovalDue` if its file is still to be removed, `isCertain` unless it may have been changed since.
    case skipped(isRemovalDue: Bool, isCertain: Bool = true, otherEvent: String? = nil)
    /// Delivered before, but only its content can tell whether it has been changed since.
    case comparisonDue
    case failed(Failure)
    /// Not sent: it is not, or no longer, the finished recording that was given.
    case unsettled
    /// It is about to be removed. The worker waits for the answer whether it may be.
    case removing
    /// Removed after its delivery, or moved to this path.
    case removed(to: String?)
    /// Not removed although it was delivered; `isTemporary` if another attempt may succeed, `isUnanswered` if the server did not answer.
    case kept(String, isTemporary: Bool, isUnanswered: Bool = false)
    /// Irrelevant here.
    case other
  }

  package var kind: Kind
  /// The file, as bytes; nil if it concerns none.
  package var path: [UInt8]?
  /// The ID of the upload's record.
  package var id: String?

  package init(_ kind: Kind, path: [UInt8]?, id: String? = nil) {
    self.kind = kind
    self.path = path
    self.id = id
  }

  /// - Parameter line: without its end.
  /// - Returns: nil if it is no event.
  package init?(parsing line: [UInt8]) {
    guard let value = try? JSONReader.read(line), let kind = value["event"]?.string else { return nil }
    path = value["file"]?.string.map { Array($0.utf8) }
    if let exact = value["file_percent"]?.string {
      guard let bytes = Percent.decode(exact) else { return nil }
      path = bytes
    }
    id = value["id"]?.string
    let message = value["message"]?.string ?? ""
    switch kind {
    case "start": self.kind = .start
    case "progress":
      self.kind = .progress(
        bytes: WorkerEvent.size(value["bytes"]) ?? 0, total: WorkerEvent.size(value["total"]) ?? 0,
        behindSeconds: value["behind_seconds"]?.integer.map { max(0, $0) })
    case "delivered":
      self.kind = .delivered(assetID: value["asset_id"]?.integer, size: WorkerEvent.size(value["total"]))
    case "skipped":
      self.kind = .skipped(
        isRemovalDue: value["removal_due"] == .bool(true), isCertain: value["compared"] != .bool(false),
        otherEvent: value["other_event"]?.string)
    case "comparison_due": self.kind = .comparisonDue
    case "failed":
      self.kind = .failed(
        Failure(
          message, exitCode: value["exit_code"]?.integer ?? Int64(ExitCode.internalError),
          value["concerns"]?.string.flatMap { FailureConcern(rawValue: $0) },
          status: value["answer"]?["status"]?.integer, waitMilliseconds: WorkerEvent.wait(value["wait_seconds"]),
          again: value["again"]?.string.flatMap { Reattempt(rawValue: $0) } ?? .soon))
    case "unsettled": self.kind = .unsettled
    case "removing": self.kind = .removing
    case "removed": self.kind = .removed(to: value["to"]?.string)
    case "kept":
      self.kind = .kept(
        message, isTemporary: value["temporary"] == .bool(true), isUnanswered: value["unanswered"] == .bool(true))
    default: self.kind = .other
    }
  }
}

extension WorkerEvent {
  /// Seconds in milliseconds, at most a day: a watcher tries everything once a day.
  private static func wait(_ value: JSONValue?) -> Int64? {
    value?.integer.flatMap { $0 < 0 ? nil : min($0, Limits.fullSendSeconds) * 1000 }
  }

  /// In bytes; nil if no file can have it.
  private static func size(_ value: JSONValue?) -> Int64? {
    value?.integer.flatMap { (0...Limits.fileSize).contains($0) ? $0 : nil }
  }
}

/// Splits what a worker writes into lines. One that is too long is dropped.
package struct WorkerLines: Sendable {
  private var line: [UInt8] = []
  private var isDropping = false

  package init() {}

  package mutating func add(_ bytes: some Sequence<UInt8>, _ body: ([UInt8]) -> Void) {
    for byte in bytes {
      if byte == ASCII.lineFeed {
        if !isDropping { body(line) }
        line.removeAll(keepingCapacity: line.capacity <= 4096)
        isDropping = false
      } else if line.count < Limits.workerLineLength, !isDropping {
        line.append(byte)
      } else {
        isDropping = true
        line = []
      }
    }
  }
}

extension Limits {
  /// The longest line of a worker, in bytes: an event with an answer and the longest path, escaped.
  package static let workerLineLength = 64 << 10
}
