import Glibc
import Testing

@testable import Uploader

struct FileWritersTests {
  private let directory = TemporaryDirectory()

  @Test func aProgramThatHasTheFileOpenOrMappedIsAWriter() throws {
    let path = directory.file("gig.mp4", bytes("recording"))
    let file = try SourceFile.open(path, limit: 100)
    #expect(file.writers() == .noWriter)
    let other = open(directory.path(of: "gig.mp4"), O_RDWR)
    #expect(file.writers() == .writer)
    let mapped = mmap(nil, 9, PROT_WRITE, MAP_SHARED, other, 0)
    close(other)
    #expect(file.writers() == .writer)
    munmap(mapped, 9)
    #expect(file.writers() == .noWriter)
  }

  @Test func theQuestionStopsNobody() throws {
    let file = try SourceFile.open(directory.file("gig.mp4", bytes("recording")), limit: 100)
    _ = file.writers()
    let other = open(directory.path(of: "gig.mp4"), O_WRONLY | O_NONBLOCK)
    #expect(other >= 0)
    close(other)
  }

  @Test func onlyPassingFaultsAreAskedAboutAgain() {
    let device = open("/dev/null", O_RDONLY)
    defer { close(device) }
    #expect(FileWriters(of: device) == .undetectable(SystemError(code: EINVAL)))
    for code in [EMFILE, ENFILE, EIO, ENOMEM, EAGAIN] { #expect(SystemError(code: code).isPassing) }
    for code in [EINVAL, EOPNOTSUPP, EACCES] { #expect(!SystemError(code: code).isPassing) }
  }
}
