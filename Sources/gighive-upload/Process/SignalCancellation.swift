import CShims
import Uploader

/// SIGINT and SIGTERM, for commands that work on uploads.
enum SignalCancellation {
  /// From here on they end uploads in order; a second one ends the process at once. Nor does a reader hold up the end.
  static func begin() -> Cancellation {
    let cancellation = Cancellation()
    shim_signals_raise_event(cancellation.descriptor)
    Console.waitBriefly()
    return cancellation
  }
}
