import Glibc
import Testing

@testable import Uploader

struct LocatingFilesTests {
  private let directory = TemporaryDirectory()

  /// What is said of a file that was on the device of the directory, or another one.
  private func presence(of path: String, onOtherDevice: Bool = false) -> FilePresence {
    var status = stat()
    stat(directory.path, &status)
    let device = UInt64(status.st_dev) + (onOtherDevice ? 1 : 0)
    return record(path: LocalPath(path), device: device).locateFile()
  }

  @Test func anythingAtThePathIsPresent() {
    _ = directory.file("set.wav", bytes("x"))
    #expect(presence(of: directory.path(of: "set.wav")) == .present)
    #expect(presence(of: directory.path(of: "set.wav"), onOtherDevice: true) == .present)
    #expect(presence(of: directory.path) == .present)
  }

  @Test func aFileThatWasRemovedIsGone() {
    #expect(presence(of: directory.path(of: "set.wav")) == .gone)
    symlink("nowhere", directory.path(of: "link"))
    #expect(presence(of: directory.path(of: "link")) == .gone)
  }

  @Test func aFileOfAnotherDeviceWaitsForIt() {
    #expect(presence(of: directory.path(of: "set.wav"), onOtherDevice: true) == .waitingForMedium)
  }

  @Test func aFileWhoseDirectoryIsMissingWaits() {
    #expect(presence(of: directory.path(of: "stick/set.wav")) == .waitingForMedium)
    #expect(presence(of: directory.path(of: "stick/2026/set.wav")) == .waitingForMedium)
    _ = directory.file("file", bytes("x"))
    #expect(presence(of: directory.path(of: "file/set.wav")) == .waitingForMedium)
  }

  @Test func aPathThatLeadsNowhereIsUnknown() {
    symlink("loop", directory.path(of: "loop"))
    #expect(presence(of: directory.path(of: "loop")) == .unknown(SystemError(code: ELOOP)))
    #expect(presence(of: directory.path(of: "loop/set.wav")) == .unknown(SystemError(code: ELOOP)))
  }

  @Test func aPathHasADirectory() {
    let directories = ["/srv/set.wav": "/srv", "/set.wav": "/", "set.wav": ".", "a/b/set.wav": "a/b", "//set.wav": "/"]
    for (path, directory) in directories { #expect(LocalPath(path).directory == LocalPath(directory)) }
  }
}
