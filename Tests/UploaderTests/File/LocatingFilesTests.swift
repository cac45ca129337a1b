import Glibc
import Testing

@testable import Uploader

struct LocatingFilesTests {
  private let directory = TemporaryDirectory()

  /// The record of a file on the device of the directory, or another one.
  private func record(_ path: String, onOtherDevice: Bool = false) -> UploadRecord {
    var status = stat()
    stat(directory.path, &status)
    let identity = FileIdentity(
      device: UInt64(status.st_dev) + (onOtherDevice ? 1 : 0), inode: 2, size: 300, modifiedSeconds: 4,
      modifiedNanoseconds: 5, edges: "ab")
    return UploadRecord(
      id: "5e1f0a77", RecordedFile(path: LocalPath(path), identity: identity),
      to: RecordedDestination(endpoint: "https://hive/"))
  }

  @Test func whateverIsAtThePathIsPresent() {
    _ = directory.file("set.wav", bytes("x"))
    #expect(record(directory.path(of: "set.wav")).locateFile() == .present)
    #expect(record(directory.path(of: "set.wav"), onOtherDevice: true).locateFile() == .present)
    #expect(record(directory.path).locateFile() == .present)
  }

  @Test func aFileThatWasRemovedIsGone() {
    #expect(record(directory.path(of: "set.wav")).locateFile() == .gone)
    symlink("nowhere", directory.path(of: "link"))
    #expect(record(directory.path(of: "link")).locateFile() == .gone)
  }

  @Test func aFileOfAnotherDeviceWaitsForIt() {
    #expect(record(directory.path(of: "set.wav"), onOtherDevice: true).locateFile() == .waitingForMedium)
  }

  @Test func aFileWhoseDirectoryIsMissingWaits() {
    #expect(record(directory.path(of: "stick/set.wav")).locateFile() == .waitingForMedium)
    #expect(record(directory.path(of: "stick/2026/set.wav")).locateFile() == .waitingForMedium)
    _ = directory.file("file", bytes("x"))
    #expect(record(directory.path(of: "file/set.wav")).locateFile() == .waitingForMedium)
  }

  @Test func aPathThatLeadsNowhereIsUnknown() {
    symlink("loop", directory.path(of: "loop"))
    #expect(record(directory.path(of: "loop")).locateFile() == .unknown(SystemError(code: ELOOP)))
    #expect(record(directory.path(of: "loop/set.wav")).locateFile() == .unknown(SystemError(code: ELOOP)))
  }

  @Test(.enabled(if: geteuid() != 0, "the superuser may read everything"))
  func aDirectoryWithoutPermissionIsUnknown() {
    mkdir(directory.path(of: "private"), 0)
    #expect(record(directory.path(of: "private/set.wav")).locateFile() == .unknown(SystemError(code: EACCES)))
    chmod(directory.path(of: "private"), 0o700)
  }

  @Test func aPathHasADirectory() {
    let directories = ["/srv/set.wav": "/srv", "/set.wav": "/", "set.wav": ".", "a/b/set.wav": "a/b", "//set.wav": "/"]
    for (path, directory) in directories { #expect(LocalPath(path).directory == LocalPath(directory)) }
  }
}
