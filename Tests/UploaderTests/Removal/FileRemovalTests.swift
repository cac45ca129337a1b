import CShims
import Glibc
import Testing

@testable import Uploader

private func delivered(_ path: LocalPath) -> UploadRecord { record(path: path, size: 9, phase: .delivered) }

/// The removal of one file, with the real calls. What another process does in between, and kills at each call: CLITests `test_after_interruptions.py`.
struct FileRemovalTests {
  private final class Bench {
    let directory = TemporaryDirectory()
    let state = StateBench()
    var file: SourceFile
    var record: UploadRecord
    let parent: OpenDirectory

    init() throws {
      let path = directory.file("gig.mp4", bytes("recording"))
      file = try SourceFile.open(path, limit: 100)
      record = delivered(path)
      parent = try OpenDirectory(path.directory)
    }

    var names: [String] {
      var names: [String] = []
      guard let listing = opendir(directory.path) else { return [] }
      while let entry = readdir(listing) {
        let name = withUnsafeBytes(of: entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        if name != ".", name != ".." { names.append(name) }
      }
      closedir(listing)
      return names.sorted()
    }

    var hasEmptyJournal: Bool {
      state.content(of: "removals") == [UInt8](repeating: ASCII.lineFeed, count: Limits.removalJournalReserve)
    }

    /// Its record, locked, but not written.
    func locked() throws -> LockedRecord {
      let directory = try state.open()
      return LockedRecord(record, in: directory, lock: try #require(try directory.lock(record.id)))
    }

    func remove(
      _ removal: AfterDelivery.Removal = .delete, trustsSettle: Bool = false, mayRemove: ((LocalPath) -> Bool)? = nil
    ) -> Result<LocalPath?, KeptReason> {
      do {
        let removal = FileRemoval(
          file, try locked(), removal, at: record.file.path, from: parent, trustsSettle: trustsSettle,
          mayRemove: mayRemove)
        return .success(try removal.run(askedAs: "/rec/gig.mp4"))
      } catch let reason as KeptReason { return .failure(reason) } catch { return .failure(.notRecorded) }
    }

    /// The file as another process opens it.
    func open(_ flags: Int32) -> Int32 { Glibc.open(directory.path(of: "gig.mp4"), flags) }

    func restore(as path: LocalPath? = nil, device: UInt64? = nil) throws -> HiddenRecording.Restoration {
      HiddenRecording.restore(
        RemovalEntry(
          id: record.id, path: path ?? record.file.path,
          fileSystem: FileSystem(device: device ?? file.device, id: nil)),
        of: try locked(), in: try? OpenDirectory(record.file.path.directory))
    }
  }

  private let hidden = ".gighive-upload-5e1f0a77"

  @Test func theFileIsGoneAndNothingElse() throws {
    let bench = try Bench()
    _ = bench.directory.file("other.mp4", [1])
    #expect(bench.remove() == .success(nil))
    #expect(bench.names == ["other.mp4"])
    #expect(bench.hasEmptyJournal)
  }

  @Test func anotherNameOfTheFileKeepsIt() throws {
    let bench = try Bench()
    link(bench.directory.path(of: "gig.mp4"), bench.directory.path(of: "second"))
    #expect(bench.remove() == .failure(.otherNames))
    #expect(bench.names == ["gig.mp4", "second"])
  }

  @Test(arguments: [O_RDONLY, O_WRONLY, O_RDWR])
  func aProgramThatHasTheFileOpenKeepsIt(flags: Int32) throws {
    let bench = try Bench()
    let other = bench.open(flags)
    #expect(bench.remove() == .failure(.open))
    // Trust is for file systems that cannot tell.
    #expect(bench.remove(trustsSettle: true) == .failure(.open))
    close(other)
    #expect(bench.names == ["gig.mp4"] && bench.state.names.contains("removals") == false)
    #expect(bench.remove() == .success(nil))
  }

  /// A lease would delay whoever opens the file while the server is asked.
  @Test func askingWhoUsesTheFileLeavesNoLease() throws {
    let bench = try Bench()
    let removal = FileRemoval(
      bench.file, try bench.locked(), .delete, at: bench.record.file.path, from: bench.parent, trustsSettle: false,
      mayRemove: nil)
    try removal.checkUnused()
    #expect(shim_holds_lease(bench.file.descriptor) == 0)
  }

  @Test func aChangeSinceItWasOpenedKeepsIt() throws {
    let changes: [((Bench) -> Void, KeptReason)] = [
      ({ $0.directory.append([1], to: "gig.mp4") }, .changed), ({ $0.directory.truncate("gig.mp4", to: 3) }, .changed),
      ({ $0.directory.overwrite([1], in: "gig.mp4", at: 2) }, .changed),
      // With the former modification time: only its content can tell.
      ({ $0.directory.rewrite([1], in: "gig.mp4", at: 2) }, .statusChanged),
    ]
    for (change, reason) in changes {
      let bench = try Bench()
      change(bench)
      #expect(bench.remove() == .failure(reason))
      #expect(bench.names == ["gig.mp4"])
    }
  }

  @Test func anotherFileOfThatNameIsKept() throws {
    let bench = try Bench()
    unlink(bench.directory.path(of: "gig.mp4"))
    #expect(bench.remove() == .failure(.gone))
    _ = bench.directory.file("gig.mp4", bytes("recording"))
    #expect(bench.remove() == .failure(.otherFile))
    #expect(bench.names == ["gig.mp4"])
    // It can be found under another name.
    #expect(!KeptReason.gone.endsRemoval && !KeptReason.otherFile.endsRemoval && KeptReason.changed.endsRemoval)
  }

  @Test func theCallerCanKeepItOrBeginAnUploadThatKeepsIt() throws {
    let bench = try Bench()
    #expect(bench.remove { $0 != "/rec/gig.mp4" } == .failure(.perhapsNeeded))
    #expect(bench.names == ["gig.mp4"] && bench.state.names.contains("removals") == false)
    var other: UploadRecord?
    let result = bench.remove { _ in
      other = try? bench.state.openRecord(bench.record.file.path, endpoint: "https://other/").record
      return true
    }
    #expect(result == .failure(KeptReason(neededBy: try #require(other), bench.record)))
  }

  @Test(arguments: [true, false])
  func anUnfinishedUploadToAnotherServerKeepsIt(hasIndex: Bool) throws {
    let bench = try Bench()
    let other = try bench.state.openRecord(bench.record.file.path, endpoint: "https://other/?key=1").record
    bench.record.file = other.file
    if !hasIndex {
      unlink(bench.state.path + "/index")
      mkdir(bench.state.path + "/index", 0o700)
    }
    let reason = KeptReason.needed(
      upload: other.id, destination: "https://other/?key=1", since: other.createdAt, isRenamed: false)
    #expect(bench.remove() == .failure(reason) && reason.isTemporary)
    #expect(bench.names == ["gig.mp4"])
    try bench.state.open().remove(other.id)
    #expect(bench.remove() == .success(nil))
  }

  @Test(arguments: [true, false])
  func anotherRecordingThatGotItsURLKeepsIt(hasIndex: Bool) throws {
    let bench = try Bench()
    let url = "https://store/gig.mp4"
    bench.record = UploadRecord(
      id: bench.record.id, bench.record.file, to: RecordedDestination(endpoint: url, isObject: true))
    bench.record.state = .delivered(RecordedDelivery())
    try bench.state.open().write(bench.record)
    let file = bench.directory.file("other.mp4", bytes("another recording"))
    let destination = Destination.put(try TargetURI(url), isSigned: false, mayReplace: true)
    if !hasIndex {
      unlink(bench.state.path + "/index")
      mkdir(bench.state.path + "/index", 0o700)
    }
    // Its first bytes may already destroy what is there.
    let other = try bench.state.openRecord(file, to: destination)
    #expect(bench.remove() == .failure(.replaced) && KeptReason.replaced.endsRemoval)
    try other.remove()
    #expect(bench.remove() == .failure(.replaced) && bench.names == ["gig.mp4", "other.mp4"])
    // The mark goes with the record.
    try bench.state.open().remove(bench.record.id)
    #expect(bench.remove() == .success(nil))
  }

  @Test func aProcessThatLooksForARecordKeepsItForTheMoment() throws {
    let bench = try Bench()
    let search = try RecordSearch.locked(bench.state.open(), usesIndex: false)
    #expect(bench.remove() == .failure(.state(.locked(LocalPath(bench.state.path)))))
    withExtendedLifetime(search) {}
  }

  @Test func onlyTheSidecarThatWasReadGoesWithIt() throws {
    let changes: [(isSame: Bool, (Bench) -> Void)] = [
      (true, { _ in }), (false, { $0.directory.append([1], to: "gig.mp4.upload") }),
      (true, { $0.directory.touch("gig.mp4.upload") }), (false, { $0.record.file.sidecar = nil }),
    ]
    for (isSame, change) in changes {
      let bench = try Bench()
      bench.record.file.sidecar = FileSighting(at: bench.directory.file("gig.mp4.upload", bytes("label = A")))
      change(bench)
      #expect(bench.remove() == .success(nil))
      #expect(bench.names == (isSame ? [] : ["gig.mp4.upload"]))
      #expect(bench.state.warnings.count == (isSame ? 0 : 1))
    }
  }

  /// Its path leads to another directory with the same names, even to the same recording.
  @Test func aDirectoryThatWasReplacedByALinkLosesItsFileAndNoOther() throws {
    let (bench, outside) = (try Bench(), TemporaryDirectory())
    for name in ["gig.mp4", "gig.mp4.upload"] { _ = outside.file(name, bytes("recording")) }
    let path = bench.directory.path
    rename(path, path + ".away")
    symlink(outside.path, path)
    defer {
      unlink(path)
      rename(path + ".away", path)
    }
    #expect(bench.remove() == .success(nil))
    #expect(access(outside.path(of: "gig.mp4"), F_OK) == 0 && access(outside.path(of: "gig.mp4.upload"), F_OK) == 0)
    #expect(access(path + ".away/gig.mp4", F_OK) != 0)
  }

  @Test func theHiddenNameIsNeverReplaced() throws {
    let bench = try Bench()
    _ = bench.directory.file(hidden, [1])
    #expect(bench.remove() == .failure(.refused(SystemError(code: EEXIST))))
    #expect(bench.names == [hidden, "gig.mp4"] && bench.hasEmptyJournal)
  }

  @Test func oneRemovalAtATime() throws {
    let bench = try Bench()
    let journal = try #require(try RemovalJournal.open(in: bench.state.open()))
    #expect(bench.remove() == .failure(.busy))
    withExtendedLifetime(journal) {}
    #expect(bench.names == ["gig.mp4"])
  }

  @Test func aJournalThatCannotBeWrittenKeepsIt() throws {
    let bench = try Bench()
    _ = try bench.state.open()
    mkdir(bench.state.path + "/removals", 0o700)
    guard case .failure(.state) = bench.remove() else {
      Issue.record("removed without a note")
      return
    }
    rmdir(bench.state.path + "/removals")
    #expect(bench.names == ["gig.mp4"])
    bench.state.put([UInt8](repeating: 1, count: Limits.removalJournalLength), at: "removals")
    guard case .failure(.state(let error)) = bench.remove() else {
      Issue.record("removed without a note")
      return
    }
    #expect(error.problem.hasSuffix("/removals: File too large.") && bench.names == ["gig.mp4"])
  }

  // MARK: Moving

  @Test func aMovedFileGetsTheFirstFreeName() throws {
    let (bench, target) = (try Bench(), TemporaryDirectory())
    _ = target.file("gig.mp4", [1])
    let moved = bench.remove(.move(LocalPath(target.path)))
    #expect(moved == .success(LocalPath(target.path(of: "gig.1.mp4"))))
    #expect(bench.names == [])
    #expect(access(target.path(of: "gig.1.mp4"), F_OK) == 0 && bench.hasEmptyJournal)
  }

  @Test func aFileForWhichNoNameIsFreeIsBackAndItsNoteIsGone() throws {
    let (bench, target) = (try Bench(), TemporaryDirectory())
    _ = target.file("gig.mp4", [1])
    for number in 1...999 { _ = target.file("gig.\(number).mp4", []) }
    let path = LocalPath(target.path)
    #expect(bench.remove(.move(path)) == .failure(.noFreeName(path)))
    #expect(bench.names == ["gig.mp4"] && bench.hasEmptyJournal)
  }

  @Test func aNameThatIsTooLongWithANumberIsNotFree() throws {
    let bench = try Bench()
    let longest = LocalPath(String(repeating: "g", count: Int(NAME_MAX)))
    _ = bench.directory.file(longest.text, [])
    #expect(throws: SystemError(code: EEXIST)) {
      try HiddenRecording.number(free: longest, in: bench.parent) { number in
        bench.parent.rename("gig.mp4", to: bench.parent, longest.numbered(number))
      }
    }
  }

  @Test func aTargetThatIsNotThereKeepsIt() throws {
    let bench = try Bench()
    let missing = LocalPath(bench.directory.path(of: "missing"))
    #expect(
      bench.remove(.move(missing)) == .failure(.unusableDirectory(missing, SystemError(code: ENOENT))))
    let file = LocalPath(bench.directory.path(of: "gig.mp4"))
    #expect(bench.remove(.move(file)) == .failure(.unusableDirectory(file, SystemError(code: ENOTDIR))))
    #expect(bench.remove(.move("/proc")) == .failure(.otherFileSystem("/proc")))
    #expect(bench.names == ["gig.mp4"])
  }

  // MARK: After an interruption

  @Test func aHiddenFileGetsItsNameBack() throws {
    let bench = try Bench()
    rename(bench.directory.path(of: "gig.mp4"), bench.directory.path(of: hidden))
    #expect(try bench.restore() == .restored(LocalPath(bench.directory.path(of: "gig.mp4"))))
    #expect(bench.names == ["gig.mp4"])
    #expect(try bench.restore() == .nothing)
  }

  @Test func aNameThatIsTakenIsNotReplaced() throws {
    let bench = try Bench()
    rename(bench.directory.path(of: "gig.mp4"), bench.directory.path(of: hidden))
    _ = bench.directory.file("gig.mp4", [1])
    _ = bench.directory.file("gig.1.mp4", [1])
    #expect(try bench.restore() == .restored(LocalPath(bench.directory.path(of: "gig.2.mp4"))))
    #expect(bench.names == ["gig.1.mp4", "gig.2.mp4", "gig.mp4"])
  }

  /// Where inodes are not stable, only the path says that it was delivered, to whatever destination. What has its name now was not.
  @Test func theDeliveriesOfARecordingFollowItToAnotherName() throws {
    let bench = try Bench()
    let state = try bench.state.open()
    let path = bench.record.file.path
    for (id, size) in [("5e1f0a77", Int64(9)), ("00000002", 9), ("00000003", 8)] {
      try state.write(record(id, path: path, size: size, phase: .delivered))
    }
    rename(path.text, bench.directory.path(of: hidden))
    _ = bench.directory.file("gig.mp4", [1])
    let numbered = LocalPath(bench.directory.path(of: "gig.1.mp4"))
    #expect(try bench.restore() == .restored(numbered))
    let paths = try ["5e1f0a77", "00000002", "00000003"].map { try #require(try state.current($0)).file.path }
    #expect(paths == [numbered, numbered, path])
    // It was killed before it could be renamed, and the name is free again.
    rename(numbered.text, bench.directory.path(of: hidden))
    unlink(path.text)
    bench.record.file.path = numbered
    #expect(try bench.restore(as: path) == .restored(path))
    #expect(try ["5e1f0a77", "00000002"].allSatisfy { try state.current($0)?.file.path == path })
  }

  /// Where the file system cannot rename without replacing, it has both names for a moment.
  @Test func theHiddenOneOfTwoNamesIsRemoved() throws {
    let bench = try Bench()
    link(bench.directory.path(of: "gig.mp4"), bench.directory.path(of: hidden))
    #expect(try bench.restore() == .restored(LocalPath(bench.directory.path(of: "gig.mp4"))))
    #expect(bench.names == ["gig.mp4"])
  }

  @Test func aMediumThatIsNotThereIsWaitedFor() throws {
    let bench = try Bench()
    unlink(bench.directory.path(of: "gig.mp4"))
    #expect(try bench.restore(device: bench.file.device + 1) == .waiting)
    // Another medium can have a file of that name.
    let other = bench.directory.file("gig.mp4", [1])
    #expect(try bench.restore(device: bench.file.device + 1) == .waiting)
    unlink(other.text)
    #expect(try bench.restore() == .nothing)
  }
}
