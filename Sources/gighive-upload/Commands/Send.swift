import CShims
import Uploader

/// `gighive-upload send FILE... [options]`
enum Send {
  /// Delivers the files one after the other.
  /// - Returns: the exit code: of the first failure, or 0.
  static func run(_ arguments: SendArguments) throws(UsageError) -> Int32 {
    if let ceiling = arguments.memoryCeiling {
      guard MemoryCeiling.set(ceiling, isJSON: arguments.isJSON) else { return ExitCode.memoryCeiling }
    }
    var configuration = arguments.configuration
    configuration.credentials = try arguments.credentials.load(host: arguments.target.host)
    let report = Report(arguments)
    if arguments.isVerbose { configuration.diagnostics = { report.diagnose($0) } }
    if configuration.tls.isInsecure {
      Console.error("gighive-upload: warning: --insecure: the server's certificate is not checked.\n")
    }
    let cancellation = Cancellation()
    shim_signals_raise_event(cancellation.descriptor)

    let uploader = Uploader(configuration)
    var exitCode = ExitCode.delivered
    for file in arguments.files {
      let code = send(arguments.request(for: file), with: uploader, cancellation, report)
      if exitCode == ExitCode.delivered { exitCode = code }
    }
    if arguments.isVerbose {
      Console.error("* peak memory (VmHWM) " + String(shim_peak_memory_kib()) + " KiB\n")
    }
    return exitCode
  }

  private static func send(
    _ request: UploadRequest, with uploader: Uploader, _ cancellation: Cancellation, _ report: Report
  ) -> Int32 {
    report.begin(request.file)
    do throws(UploadError) {
      let delivery = try uploader.upload(request, cancellation: cancellation) { report.progress($0) }
      report.delivered(delivery)
      return ExitCode.delivered
    } catch {
      let code = ExitCode.of(error, signal: shim_signal_received())
      report.failed(error, exitCode: code)
      return code
    }
  }
}
