import CShims
import Uploader

/// SIGINT and SIGTERM, for commands that work on uploads.
enum SignalCancellation {
  /// From now on, a first signal stops the uploads cleanly and a second one ends the process at once. A slow reader of the
  /// output does not delay the end.
  static func begin() -> Cancellation {
    let cancellation = Cancellation()
    shim_signals_raise_event(cancellation.descriptor)
    Console.waitBriefly()
    return cancellation
  }
}
