import CShims
import Uploader

/// Examines this machine.
enum MachineExamination {
  /// - Parameter needsRecords: whether there are recordings that are not sent without a record.
  static func run(_ arguments: DoctorArguments, needsRecords: Bool, _ findings: Findings) {
    let request = arguments.request
    findings.add(
      MachineChecks.clock(
        now: shim_unix_seconds(), usesTLS: request.base.scheme == .https,
        datesEvents: request.isForGigHive && !arguments.givesEventDate))
    findings.add(MachineChecks.entropy(isReady: shim_has_entropy() != 0))
    let memory = shim_available_memory()
    findings.add(MachineChecks.memory(available: memory < 0 ? nil : memory))
    let count = Limits.descriptorCount + Limits.jobDescriptorCount
    let result = shim_can_open(Int32(count))
    findings.add(MachineChecks.openFiles(count, error: result == 0 ? nil : SystemError(result: result)))
    if let user = StateOwner.user {
      findings.add(Finding(.user, .ok("this runs as " + user)))
    } else if shim_is_root() != 0 {
      findings.add(Finding(.user, .ok("this runs as root; a watcher needs only a user of its own")))
    }
    examineState(arguments.common.statePath, isNeeded: needsRecords, findings)
  }

  /// A directory that does not exist is not created.
  private static func examineState(_ path: LocalPath?, isNeeded: Bool, _ findings: Findings) {
    guard let path else { return findings.add(Finding(.stateDirectory, .failure(.state(.noDirectory)))) }
    let (existing, missing) = nearest(to: path)
    var error = missing
    var space: FreeSpace?
    if error == nil, let name = existing.cString {
      let result = shim_may_create_in(name)
      if result < 0 { error = SystemError(result: result) }
      space = FreeSpace(at: existing)
    }
    let noSpace = SystemError(code: SHIM_ENOSPC)
    findings.add(
      MachineChecks.stateDirectory(path, error: error, noSpace: noSpace, space: space, isNeeded: isNeeded))
  }

  /// The directory, or the nearest one above it that exists.
  private static func nearest(to path: LocalPath) -> (LocalPath, SystemError?) {
    var path = path
    while true {
      var status = shim_file_status()
      guard let name = path.cString else { return (path, SystemError(code: SHIM_EINVAL)) }
      let result = shim_stat(name, &status)
      if result == 0 {
        return (path, Int(status.kind) == SHIM_KIND_DIRECTORY ? nil : SystemError(code: SHIM_ENOTDIR))
      }
      guard -result == SHIM_ENOENT, path.bytes.count > 1 else { return (path, SystemError(result: result)) }
      guard let slash = path.bytes.lastIndex(of: ASCII.slash) else { return (".", nil) }
      path = LocalPath(bytes: slash == 0 ? [ASCII.slash] : Array(path.bytes[..<slash]))
    }
  }
}
