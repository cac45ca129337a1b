/// What the state of this machine means for uploads.
package enum MachineChecks {
  /// - Parameters:
  ///   - now: by this machine's clock, in seconds since 1970.
  ///   - usesTLS: whether certificates are checked against the clock.
  ///   - datesEvents: whether the event of a recording gets today's date unless another is given.
  package static func clock(now: Int64, usesTLS: Bool, datesEvents: Bool) -> Finding {
    let text = Timestamp.minuteText(seconds: now)
    guard now < Limits.builtOn else { return Finding(.clock, .ok("the clock says " + text)) }
    let problem = "the clock says " + text + ", before this version was released"
    let remedy = "Set the clock, or start the time service (NTP)."
    if !usesTLS, datesEvents {
      return Finding(.clock, .failure(.form(.unknownToday), about: problem))
    }
    if !usesTLS { return Finding(.clock, .warning(problem + "; records and events get wrong dates.", remedy: remedy)) }
    let error = UploadError.tls(
      .certificate(code: TLSError.notYetValid, reason: "certificate is not yet valid"), host: "any server")
    return Finding(.clock, .failure(error, about: problem, remedy: remedy))
  }

  /// - Parameter isReady: whether the kernel has gathered enough randomness since it started.
  package static func entropy(isReady: Bool) -> Finding {
    Finding(
      .entropy,
      isReady
        ? .ok("the kernel has randomness")
        : .warning(
          "the kernel has not gathered enough randomness yet; TLS waits for it.",
          remedy: "Wait a minute after the start, or enable the hardware's generator (rng-tools, jitterentropy)."))
  }

  /// - Parameter available: MemAvailable, in bytes; nil if it is not known.
  package static func memory(available: Int64?) -> Finding {
    guard let available else {
      return Finding(.memory, .notExamined("the kernel does not say how much memory is available"))
    }
    let text = SizeText.short(available) + " of memory is available"
    if available >= Limits.memoryNeeded { return Finding(.memory, .ok(text)) }
    return Finding(
      .memory,
      .failure(
        .outOfResources("memory"), about: "only " + text,
        remedy: "Uploads need up to " + SizeText.short(Limits.memoryNeeded) + ". End other programs, or add swap."))
  }

  /// - Parameter error: why fewer than `count` more files can be opened; nil if they can.
  package static func openFiles(_ count: Int, error: SystemError?) -> Finding {
    if error == nil { return Finding(.openFiles, .ok("enough files can be opened")) }
    return Finding(
      .openFiles,
      .failure(
        .outOfResources("file descriptors"), about: String(count) + " more open files are needed",
        remedy: "Raise the limit (ulimit -n, or LimitNOFILE= of the service)."))
  }

  /// - Parameters:
  ///   - path: the state directory.
  ///   - error: why nothing can be written there; nil if it can.
  ///   - space: nil if it is not known.
  ///   - isNeeded: whether a recording is not sent without a record. A form is.
  package static func stateDirectory(
    _ path: LocalPath, error: SystemError?, noSpace: SystemError, space: FreeSpace?, isNeeded: Bool
  ) -> Finding {
    let name = "the state directory " + PrintableText.line(path.text)
    func failure(_ error: SystemError, _ about: String, remedy: String?) -> Finding {
      if isNeeded {
        return Finding(.stateDirectory, .failure(.state(.unusable(path, error)), about: about, remedy: remedy))
      }
      let problem = about.isEmpty ? name + " cannot be written" : about
      return Finding(
        .stateDirectory,
        .warning(
          problem + ": the recording is sent as a form, but without a record.",
          remedy: remedy ?? "Choose another one with --state-dir."))
    }
    if let error { return failure(error, "", remedy: nil) }
    guard let space else { return Finding(.stateDirectory, .ok(name + " can be written")) }
    let remedy = "Free some space, or choose another directory with --state-dir."
    if space.files < 1 {
      return failure(
        noSpace, "no more files can be created (the file system has no free inodes) in " + name,
        remedy: "Remove files that are not needed (df -i counts), or choose another directory with --state-dir.")
    }
    let text = SizeText.short(space.bytes) + " is free for " + name
    if space.bytes >= Limits.stateSpaceComfortable { return Finding(.stateDirectory, .ok(text)) }
    if space.bytes < Limits.stateSpaceNeeded { return failure(noSpace, "only " + text, remedy: remedy) }
    return Finding(.stateDirectory, .warning("only " + text + ".", remedy: remedy))
  }

  /// Parts on the server that no upload continues: they take space, and can cost money.
  /// - Parameters:
  ///   - ids: those of the first uploads.
  ///   - count: how many there are.
  package static func leftovers(_ ids: [String], of count: Int) -> Finding {
    Finding(
      .leftovers,
      .warning(
        "the server may have parts of " + String(count) + (count == 1 ? " upload" : " uploads")
          + " that failed or whose file is gone.",
        remedy: "To delete them: gighive-upload cancel " + ids.joined(separator: " ")
          + (ids.count < count ? " (gighive-upload list shows the others)" : "")))
  }

  /// What the server did not delete when it was asked to.
  package static func undeleted(_ count: Int) -> Finding {
    Finding(
      .leftovers,
      .warning(
        "the server has not deleted " + String(count) + (count == 1 ? " upload" : " uploads")
          + " that are no longer needed.", remedy: "The next send or watch to it tries again."))
  }
}

extension Limits {
  /// What uploads need, in bytes: the memory that --max-memory suggests; the space for a record, and for some with their index.
  package static let memoryNeeded: Int64 = 12 << 20
  package static let stateSpaceNeeded: Int64 = 1 << 20
  package static let stateSpaceComfortable: Int64 = 16 << 20
}
