import CShims

/// Ends an upload from another thread or from a signal handler.
public final class Cancellation: Sendable {
  /// An eventfd(2), which the loop waits for beside the connection.
  package let descriptor: Int32

  /// Cancels nothing yet. If the system has no descriptor left, the upload will say so.
  public init() { descriptor = shim_event_create() }

  deinit { if descriptor >= 0 { _ = shim_close(descriptor) } }

  /// Can be called from any thread and from a signal handler. The upload ends with `UploadError.cancelled`, usually within milliseconds. Further uploads end at once.
  public func cancel() { shim_event_raise(descriptor) }

  var isCancelled: Bool { !Readiness.of(descriptor, .readable).isEmpty }
}
