import Foundation
import Glibc
import Testing

@testable import Uploader

struct SourceFileTests {
  private let directory = TemporaryDirectory()

  private func openFile(_ path: LocalPath, limit: Int64 = .max) throws(FileError) -> SourceFile {
    try SourceFile.open(path, limit: limit)
  }

  private func read(_ file: SourceFile, _ length: Int, at offset: Int64) throws(FileError) -> [UInt8] {
    let space = UnsafeMutableRawBufferPointer.allocate(byteCount: length, alignment: 1)
    defer { space.deallocate() }
    let count = try file.read(into: space, at: offset)
    return Array(space[..<count])
  }

  /// Reserved for it, or lost in a power cut.
  @Test func whatWasNeverWrittenAtTheEndIsNoticed() throws {
    let block = 65_536
    let path = directory.file("file", [UInt8](repeating: 1, count: block))
    #expect(try openFile(path).unwrittenTail == 0)
    directory.truncate("file", to: 4 * block)
    #expect(try openFile(path).unwrittenTail == Int64(3 * block))
    directory.overwrite([0], in: "file", at: 3 * block - 1)
    #expect(try openFile(path).unwrittenTail == Int64(block))
    directory.overwrite([0], in: "file", at: 4 * block - 1)
    #expect(try openFile(path).unwrittenTail == 0)
  }

  @Test func whatWasReadOfReservedSpaceIsStillUnwritten() throws {
    let block = 65_536
    let reserved = directory.file("reserved", [1])
    let descriptor = open(reserved.text, O_RDWR)
    #expect(posix_fallocate(descriptor, 0, 4 * block) == 0)
    close(descriptor)
    let file = try openFile(reserved)
    _ = try file.identity()
    _ = try read(file, block, at: Int64(3 * block))
    #expect(file.unwrittenTail > Int64(3 * block))
  }

  @Test func onlyAnUnwrittenEndOfSomeLengthIsTold() throws {
    let block = 65_536
    let path = directory.file("file", [UInt8](repeating: 1, count: block))
    directory.truncate("file", to: 2 * block - 1)
    #expect(try openFile(path).unwrittenWarning == nil)
    directory.truncate("file", to: 2 * block)
    #expect(
      try openFile(path).unwrittenWarning == path.text + ": its last 65.5 kB were never written (a power cut, or a "
        + "program that reserves space). They are sent as zeros.")
  }

  @Test func amongManyHolesTheLastIsFound() throws {
    let block = 65_536
    let path = directory.file("file", [])
    directory.truncate("file", to: 1000 * block)
    #expect(try openFile(path).unwrittenTail == Int64(1000 * block))
    // Each byte takes a block of the file system.
    for number in [900, 3, 700, 4, 5] + stride(from: 0, to: 600, by: 2) {
      directory.overwrite([1], in: "file", at: (number + 1) * block - 1)
    }
    #expect(try openFile(path).unwrittenTail == Int64(99 * block))
  }

  /// The kernel says "new (deleted)", and of a file system that is not mounted any more a path below its root.
  @Test func aNameThatLeadsNowhereIsNoPath() throws {
    let path = directory.file("old", bytes("x"))
    let file = try openFile(path)
    rename(directory.path(of: "old"), directory.path(of: "new"))
    #expect(file.currentPath == LocalPath(directory.path(of: "new")))
    link(directory.path(of: "new"), directory.path(of: "other"))
    unlink(directory.path(of: "new"))
    #expect(file.currentPath == path)
  }

  // MARK: Opening

  @Test func aMissingFileIsMissing() {
    _ = directory.file("file", bytes("x"))
    for path in [directory.path(of: "none"), directory.path(of: "file/below"), "", "/no\0thing"] {
      #expect(throws: FileError.missing) { try openFile(LocalPath(path)) }
    }
  }

  @Test func aDirectoryIsNoRecording() {
    #expect(throws: FileError.notRegular(kind: "a directory")) { try openFile(LocalPath(directory.path)) }
  }

  @Test func aFIFOIsRefusedWithoutWaitingForItsWriter() {
    mkfifo(directory.path(of: "fifo"), 0o600)
    #expect(throws: FileError.notRegular(kind: "a FIFO")) { try openFile(LocalPath(directory.path(of: "fifo"))) }
  }

  @Test func aDeviceIsNoRecording() {
    #expect(throws: FileError.notRegular(kind: "a device")) { try openFile("/dev/null") }
  }

  @Test func anEmptyFileIsRefused() {
    #expect(throws: FileError.empty) { try openFile(directory.file("empty", [])) }
  }

  @Test func aFileAtTheLimitIsTakenAndALargerOneIsNot() throws {
    let path = directory.file("set.wav", bytes("12345"))
    #expect(try openFile(path, limit: 5).size == 5)
    #expect(throws: FileError.tooLarge(size: 5, limit: 4)) { try openFile(path, limit: 4) }
  }

  @Test func aPathThatLeadsNowhereIsUnreadable() {
    symlink("loop", directory.path(of: "loop"))
    #expect(throws: FileError.unreadable(SystemError(code: ELOOP))) {
      try openFile(LocalPath(directory.path(of: "loop")))
    }
    let long = directory.path(of: String(repeating: "x", count: 256))
    #expect(throws: FileError.unreadable(SystemError(code: ENAMETOOLONG))) { try openFile(LocalPath(long)) }
  }

  @Test func aSymbolicLinkIsFollowed() throws {
    _ = directory.file("set.wav", bytes("12345"))
    symlink("set.wav", directory.path(of: "link"))
    #expect(try openFile(LocalPath(directory.path(of: "link"))).size == 5)
  }

  @Test func noSymbolicLinkIsFollowedBelowTheDirectoryWhereItWasFound() throws {
    let outside = TemporaryDirectory()
    _ = outside.file("set.wav", bytes("12345"))
    symlink(outside.path(of: "set.wav"), directory.path(of: "link"))
    symlink(outside.path, directory.path(of: "linked"))
    func open(_ name: String) throws -> Int64 {
      let root = LocalPath(directory.path)
      return try SourceFile.open(root.appendingName(bytes(name)), limit: 10, below: root).size
    }
    #expect(throws: FileError.notRegular(kind: "a symbolic link")) { try open("link") }
    #expect(throws: FileError.notRegular(kind: "behind a symbolic link")) { try open("linked/set.wav") }
    #expect(throws: FileError.missing) { try open("missing/set.wav") }
  }

  /// A second close could close a file that another thread has just opened. Runs in a separate process, where the only other
  /// descriptors are those of one thread that opens and closes.
  @Test func aRefusedFileIsClosedOnlyOnce() async {
    await #expect(processExitsWith: .success) {
      Thread.detachNewThread {
        while true {
          let descriptor = open("/dev/zero", O_RDONLY)
          var status = stat()
          guard fstat(descriptor, &status) == 0, close(descriptor) == 0 else { exit(EXIT_FAILURE) }
        }
      }
      for _ in 0..<20_000 { _ = try? SourceFile.open("/dev/null", limit: 1) }
      exit(EXIT_SUCCESS)
    }
  }

  // MARK: Reading

  @Test func bytesComeFromTheirOffset() throws {
    let file = try openFile(directory.file("set.wav", bytes("0123456789")))
    #expect(try read(file, 4, at: 0) == bytes("0123"))
    #expect(try read(file, 4, at: 8) == bytes("89"))
    #expect(try read(file, 1, at: 5) == bytes("5"))
  }

  @Test func offsetsOverFourGibibytesAreExact() throws {
    let path = directory.file("large.wav", bytes("x"))
    directory.truncate("large.wav", to: 5_000_000_000)
    directory.append(bytes("end"), to: "large.wav")
    let file = try openFile(path)
    #expect(file.size == 5_000_000_003)
    #expect(try read(file, 10, at: 4_999_999_999) == [0] + bytes("end"))
  }

  @Test func anEndBeforeTheEndIsAFileThatShrank() throws {
    let file = try openFile(directory.file("set.wav", bytes("0123456789")))
    directory.truncate("set.wav", to: 4)
    #expect(try read(file, 10, at: 0) == bytes("0123"))
    #expect(throws: FileError.shrank(size: 10, to: 4)) { try read(file, 10, at: 4) }
  }

  // MARK: Changes

  @Test func anUntouchedFileIsUnchanged() throws {
    let file = try openFile(directory.file("set.wav", bytes("0123456789")))
    _ = try read(file, 10, at: 0)
    #expect(try !file.verifyUnchanged())
  }

  @Test func aStatusChangeIsReportedUntilItIsSettled() throws {
    let path = directory.file("set.wav", bytes("0123456789"))
    let file = try openFile(path)
    directory.touch("set.wav")
    #expect(try file.verifyUnchanged())
    file.confirmUnchanged(at: try file.statusTime())
    #expect(try !file.verifyUnchanged())
    directory.rewrite(bytes("X"), in: "set.wav", at: 3)
    #expect(try file.verifyUnchanged())
  }

  @Test func timesProveNothingAboutAFileThatAProgramWritesTo() throws {
    let file = try openFile(directory.file("set.wav", bytes("0123456789")))
    let past = StatusTime(seconds: Limits.clocksAreSetSince, nanoseconds: 0)
    let writer = open(directory.path(of: "set.wav"), O_WRONLY)
    file.noteWriters()
    close(writer)
    file.confirmUnchanged(at: past)
    #expect(file.mayBeWritten && file.provenStatusTime == nil)
    file.noteWriters()
    #expect(file.mayBeWritten)
    let other = try openFile(LocalPath(directory.path(of: "set.wav")))
    other.noteWriters()
    other.confirmUnchanged(at: past)
    #expect(!other.mayBeWritten && other.provenStatusTime == past)
  }

  @Test func theFileSaysWhetherItCanBeRead() throws {
    let file = try openFile(directory.file("set.wav", bytes("0123456789")))
    try file.verifyReadable(at: 9)
    #expect(throws: FileError.shrank(size: 10, to: 10)) { try file.verifyReadable(at: 10) }
  }

  @Test func everyChangeIsNoticed() throws {
    let path = directory.file("set.wav", bytes("0123456789"))
    let rewritten = try openFile(path)
    directory.overwrite(bytes("X"), in: "set.wav", at: 3)
    #expect(throws: FileError.rewritten) { _ = try rewritten.verifyUnchanged() }
    let grown = try openFile(path)
    directory.append(bytes("ab"), to: "set.wav")
    #expect(throws: FileError.grew(from: 10, to: 12)) { _ = try grown.verifyUnchanged() }
    let shrunk = try openFile(path)
    directory.truncate("set.wav", to: 7)
    #expect(throws: FileError.shrank(size: 12, to: 7)) { _ = try shrunk.verifyUnchanged() }
  }
}
