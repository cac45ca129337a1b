import Uploader

/// The records that a command is about.
struct Records {
  let directory: StateDirectory

  /// - Returns: nil if there is no state directory to be had; that has then been said.
  init?(_ arguments: CommonArguments, _ report: Report) {
    do throws(StateError) {
      guard let path = arguments.statePath else { throw .noDirectory }
      directory = try StateDirectory(path, warn: { report.warn($0) })
    } catch {
      Records.fail(error, report)
      return nil
    }
  }

  /// The records with these IDs, or beginnings of IDs.
  func named(_ operands: Operands) throws(StateError) -> [UploadRecord] {
    var records: [UploadRecord] = []
    for operand in operands {
      let record = try directory.record(operand.text)
      if !records.contains(where: { $0.id == record.id }) { records.append(record) }
    }
    return records
  }

  /// Says what is wrong with the state directory.
  @discardableResult
  static func fail(_ error: StateError, _ report: Report) -> Int32 {
    let error = UploadError.state(error)
    let code = ExitCode.of(error, signal: 0)
    report.failed(error, exitCode: code)
    return code
  }
}
