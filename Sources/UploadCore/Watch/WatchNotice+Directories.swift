/// Notices about directories, their file systems and this machine.
extension WatchNotice {
  /// One that begins with the directory's name.
  static func of(_ directory: LocalPath, _ kind: Kind, _ text: String, _ priority: Priority) -> WatchNotice {
    WatchNotice(kind, PrintableText.line(directory.text) + " " + text, priority, path: directory.bytes)
  }

  package static func found(_ directory: LocalPath) -> WatchNotice {
    of(directory, .directoryFound, "is being watched now.", .information)
  }

  /// - Parameter reason: why a place in the directory could not be scanned.
  package static func incomplete(_ directory: LocalPath, _ place: LocalPath, _ reason: String) -> WatchNotice {
    of(
      directory, .warning, "was not scanned completely: " + PrintableText.line(place.text) + " " + reason + ".",
      .warning)
  }

  package static func manyFailures(_ directory: LocalPath) -> WatchNotice {
    of(directory, .warning, "has more places that cannot be scanned; they are not listed.", .warning)
  }

  package static func unlocked(_ directory: LocalPath) -> WatchNotice {
    of(directory, .warning, "cannot be locked; make sure that no other watcher uses it.", .warning)
  }

  package static func shared(_ directory: LocalPath) -> WatchNotice {
    of(
      directory, .warning, "is on a shared file system; changes by other machines are found within five minutes.",
      .warning)
  }

  /// - Parameter reason: the system's.
  package static func fewWatches(_ directory: LocalPath, _ reason: String) -> WatchNotice {
    WatchNotice(
      .warning,
      "not all directories can be watched (" + reason
        + "): changes in the others are found within five minutes. The limit is fs.inotify.max_user_watches.", .warning,
      path: directory.bytes)
  }

  package static func undetectableWriters(_ file: [UInt8]) -> WatchNotice {
    WatchNotice(
      .warning,
      "cannot detect whether a file is still being written (on network file systems, and without CAP_LEASE for files "
        + "of other users): files are sent once they have not changed for five minutes.", .warning, path: file)
  }

  package static func spaceNotFreed(_ directory: LocalPath, _ space: FreeSpace, wanted: Int64) -> WatchNotice {
    let name = PrintableText.line(directory.text)
    return WatchNotice(
      .spaceShort,
      name + ": " + space.shortage(ofWanted: wanted)
        + ", although enough recordings were removed. Perhaps a snapshot still has their content.", .error,
      path: directory.bytes)
  }

  package static func spaceFree(_ directory: LocalPath, free: Int64) -> WatchNotice {
    let text = PrintableText.line(directory.text) + ": " + SizeText.short(free) + " are free again."
    return WatchNotice(.spaceFree, text, path: directory.bytes)
  }

  /// - Parameters:
  ///   - block: nil if there is none any more.
  ///   - former: what was in its place.
  /// - Returns: nil if it is not worth a line: that a reload waits for an upload, it says itself.
  package init?(_ block: WatchMachine.Block?, after former: WatchMachine.Block?) {
    switch block {
    case .clock: self.init(.warning, "nothing is sent until the clock of this machine is set.", .warning)
    case .interface(let name):
      self.init(.warning, "nothing is sent until " + PrintableText.line(name) + " is up.", .warning)
    case .stopped(let process):
      let id = String(process)
      self.init(
        .warning,
        "a signal has stopped process " + id + "; nothing is sent until it continues, with kill -CONT " + id
          + " or when the watcher gets SIGHUP.", .warning)
    case .formerUpload: return nil
    case nil where former == .formerUpload: return nil
    case nil: self.init(.resumed, "recordings are sent again.")
    }
  }
}
