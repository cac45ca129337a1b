/// Why a directory is not watched, or not all of it.
package enum DirectoryProblem: Equatable, Sendable {
  case missing
  /// It is missing now, and was watched before.
  case gone
  /// Why it cannot be watched.
  case unusable(String)
  /// Another watcher has locked it.
  case locked

  /// What is shown of the directory.
  package var state: WatchSnapshot.Directory.State {
    switch self {
    case .missing, .gone: .missing
    case .unusable(let reason): .unreadable(reason)
    case .locked: .unreadable("another watcher has locked it")
    }
  }

  package func notice(of directory: LocalPath) -> WatchNotice {
    let text =
      switch self {
      case .missing:
        "does not exist; it will be watched once it appears."
          + (DirectoryProblem.mayBePrivate(directory) ? " A service with PrivateTmp= has a /tmp of its own." : "")
      case .gone: "is gone; it will be watched again once it is back."
      case .unusable(let reason): "cannot be watched: " + reason + "."
      case .locked: "is watched by another process."
      }
    return .of(directory, .directoryMissing, text, .warning)
  }

  private static func mayBePrivate(_ directory: LocalPath) -> Bool {
    ["/tmp/", "/var/tmp/"].contains { directory.bytes.starts(with: $0.utf8) }
  }
}
