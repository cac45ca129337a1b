import CShims
import Uploader

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

/// `resume --all --server URL`, `clean DIR --server URL` and the like: only uploads to that destination.
struct DestinationFilter {
  private let option: Option
  /// What the endpoint is, or, with a template, begins with; nil for any.
  private let endpoint: String?
  private let isTemplate: Bool

  /// - Returns: nil if no destination was given.
  init?(_ options: [GivenOption], isAll: Bool) throws(UsageError) {
    let destinations = options.filter { $0.option.has(.destination) }
    guard let given = destinations.last else { return nil }
    guard isAll else { throw UsageError(given.label + " works only with --all, not with upload IDs.") }
    guard destinations.allSatisfy({ $0.option == given.option }) else {
      throw UsageError(SendArguments.destinations)
    }
    option = given.option
    if let template = try given.template(), template.constant == nil {
      let isForS3 = option == .s3
      endpoint =
        isForS3 ? try ObjectURL(s3: given, options).beginning : String(decoding: template.prefix, as: UTF8.self)
      isTemplate = true
    } else if option == .s3 {
      (endpoint, isTemplate) = (try ObjectURL(s3: given, options).beginning, false)
    } else {
      (endpoint, isTemplate) = (option == .putURLFile || option == .uploadURLFile ? nil : try given.uri().text, false)
    }
  }

  func includes(_ record: UploadRecord) -> Bool {
    guard StoredOptions.name(option, in: record.note) else { return false }
    guard let endpoint else { return true }
    let own = record.destination.endpoint
    return isTemplate ? own.utf8.starts(with: endpoint.utf8) : own == endpoint
  }
}
