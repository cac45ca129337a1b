import CShims

/// Ends an upload from another thread or from a signal handler.
public final class Cancellation: Sendable {
  /// An eventfd(2) that the loop polls along with the connection.
  package let descriptor: Int32
  /// The same for ``finish()``.
  package let finishDescriptor: Int32

  /// A cancellation that has not been triggered. If the system has no descriptor left, the upload reports it.
  public init() {
    descriptor = shim_event_create()
    finishDescriptor = shim_event_create()
  }

  deinit {
    for descriptor in [descriptor, finishDescriptor] where descriptor >= 0 { _ = shim_close(descriptor) }
  }

  /// Cancels the uploads. They end with `UploadError.cancelled`, usually within milliseconds, and later ones end at once. Can
  /// be called from any thread and from a signal handler.
  public func cancel() { shim_event_raise(descriptor) }

  /// Ends the uploads where little is lost: a form is completed if any of it was sent, a request over tus if it ends within a minute, and
  /// nothing else begins. What has not ended then is cancelled. Can be called from any thread and from a signal handler.
  public func finish() { shim_event_raise(finishDescriptor) }

  package var isFinishing: Bool { !Readiness.of(finishDescriptor, .readable).isEmpty }

  package var isCancelled: Bool { !Readiness.of(descriptor, .readable).isEmpty }
}
