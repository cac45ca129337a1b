import CShims
import Uploader

/// SIGINT, SIGTERM and SIGUSR1, for commands that work on uploads.
enum SignalCancellation {
  /// From now on, a first signal stops the uploads cleanly and a second one ends the process at once. A slow reader of the
  /// output does not delay the end.
  static func begin() -> Cancellation {
    let cancellation = Cancellation()
    shim_signals_raise_event(cancellation.descriptor)
    Console.waitBriefly()
    return cancellation
  }

  /// The same, and SIGUSR1 ends the uploads where little is lost: see ``Cancellation/finish()``.
  static func beginWithFinish() -> Cancellation {
    let cancellation = begin()
    shim_finish_signal_raises_event(cancellation.finishDescriptor)
    return cancellation
  }

  /// The signal that ends the uploads; 0 if none was received.
  static var received: Int32 {
    let signal = shim_signal_received()
    return signal == 0 ? shim_finish_signal_received() : signal
  }
}
