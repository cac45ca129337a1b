import CShims

/// Ends an upload from another thread or from a signal handler.
public final class Cancellation: Sendable {
  /// An eventfd(2) that the loop polls along with the connection.
  package let descriptor: Int32

  /// A cancellation that has not been triggered. If the system has no descriptor left, the upload reports it.
  public init() { descriptor = shim_event_create() }

  deinit { if descriptor >= 0 { _ = shim_close(descriptor) } }

  /// Cancels the uploads. They end with `UploadError.cancelled`, usually within milliseconds, and later ones end at once. Can
  /// be called from any thread and from a signal handler.
  public func cancel() { shim_event_raise(descriptor) }

  package var isCancelled: Bool { !Readiness.of(descriptor, .readable).isEmpty }
}
