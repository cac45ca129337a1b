/// Where the file of a record is, as far as this machine can tell.
package enum FilePresence: Equatable, Sendable {
  /// A file is at its path. It may be another one.
  case present
  /// Removed or renamed: its directory is there, on the recorded file system, without it.
  case gone
  /// Its file system does not answer, or its directory is missing or on another file system: a USB stick that was removed,
  /// a network share that is not mounted.
  case waitingForMedium
  /// The file or its directory cannot be examined.
  case unknown(SystemError)

  /// The result of looking up a file's path.
  package enum Observation: Equatable, Sendable {
    case found
    case missing(Directory)
    /// Its file system is mounted, but its server or device is not there.
    case disconnected
    case unreadable(SystemError)
  }

  /// The result of looking up the directory of a missing file.
  package enum Directory: Equatable, Sendable {
    case found(on: FileSystem)
    case missing
    case unreadable(SystemError)
  }

  /// - Parameter recorded: the file system that the file was on.
  package init(_ observation: Observation, recorded: FileSystem) {
    self =
      switch observation {
      case .found: .present
      case .unreadable(let error), .missing(.unreadable(let error)): .unknown(error)
      // An empty mount point is a directory, too, but of another file system.
      case .missing(.found(let fileSystem)): fileSystem.isSame(as: recorded) ? .gone : .waitingForMedium
      // A removed directory looks like a removed mount point: only a person can tell.
      case .missing(.missing), .disconnected: .waitingForMedium
      }
  }
}
