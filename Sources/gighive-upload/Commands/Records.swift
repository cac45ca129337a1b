import Uploader

/// The records that a command works on.
struct Records {
  let directory: StateDirectory

  /// - Returns: nil if the state directory cannot be used. That has been reported.
  init?(_ arguments: CommonArguments, _ report: Report) {
    do throws(StateError) {
      guard let path = arguments.statePath else { throw .noDirectory }
      directory = try StateDirectory(path, creates: false, warn: { report.warn($0) })
    } catch {
      Records.fail(error, report)
      return nil
    }
  }

  /// The records with these IDs, which can be abbreviated.
  func named(_ operands: Operands) throws(StateError) -> [UploadRecord] {
    var records: [UploadRecord] = []
    for operand in operands {
      let record = try directory.record(operand.text)
      if !records.contains(where: { $0.id == record.id }) { records.append(record) }
    }
    return records
  }

  /// Reports an error of the state directory.
  /// - Parameter record: the one that it concerns, if any.
  /// - Returns: the exit code.
  @discardableResult
  static func fail(_ error: StateError, _ report: Report, about record: UploadRecord? = nil) -> Int32 {
    var message = UploadError.state(error).explanation
    // Another user's records are elsewhere.
    if case .noSuchRecord(let id) = error {
      message = "there is no upload \"" + PrintableText.line(id) + "\" in " + report.stateName + "."
    }
    let code = UploadError.state(error).exitCode()
    report.failed(message, exitCode: code, about: record)
    return code
  }
}
