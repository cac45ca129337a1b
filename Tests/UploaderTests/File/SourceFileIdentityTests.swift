import Glibc
import Testing

@testable import Uploader

/// What a file's identity is made of.
struct SourceFileIdentityTests {
  private let directory = TemporaryDirectory()

  private func identity(_ name: String = "set.wav", room: Int = 64 << 10) throws -> FileIdentity {
    try SourceFile.open(LocalPath(directory.path(of: name)), limit: .max).identity(room: room)
  }

  /// SHA-256 of the first and the last 64 KiB, concatenated. In a short file they overlap.
  private func edges(_ content: [UInt8]) -> String {
    sha256(Array(content.prefix(65_536)) + Array(content.suffix(65_536)))
  }

  @Test(arguments: [1, 100, 65_535, 65_536, 65_537, 100_000, 131_072, 131_073, 3_000_000])
  func theEdgesOfAFileAreItsFirstAndLastBytes(length: Int) throws {
    let content = recording(length)
    _ = directory.file("set.wav", content)
    let identity = try identity()
    #expect(identity.size == length && identity.edges == edges(content))
  }

  @Test(arguments: [1, 7, 4096, 1 << 20])
  func theRoomToReadIntoDoesNotCount(room: Int) throws {
    let content = recording(room == 1 ? 3000 : 200_000)
    _ = directory.file("set.wav", content)
    #expect(try identity(room: room).edges == edges(content))
  }

  @Test func theFilesystemsNumbersAndTimesAreTaken() throws {
    _ = directory.file("set.wav", recording(10))
    directory.overwrite([0], in: "set.wav", at: 0)
    var status = stat()
    #expect(stat(directory.path(of: "set.wav"), &status) == 0)
    let identity = try identity()
    #expect(identity.device == UInt64(status.st_dev) && identity.inode == UInt64(status.st_ino))
    #expect(identity.modifiedSeconds == 1_000_000_000 && identity.modifiedNanoseconds == 7)
  }

  @Test func anUntouchedFileIsTheSame() throws {
    _ = directory.file("set.wav", recording(200_000))
    let before = try identity()
    #expect(try identity().change(since: before) == nil && identity().isSameFile(as: before))
    rename(directory.path(of: "set.wav"), directory.path(of: "other.wav"))
    #expect(try identity("other.wav") == before)
  }

  @Test func everyChangeIsSeen() throws {
    let content = recording(200_000)
    _ = directory.file("set.wav", content)
    let before = try identity()
    for offset in [0, 65_535, 134_464, 199_999] {
      _ = directory.file("set.wav", content)
      directory.overwrite([content[offset] ^ 0x80], in: "set.wav", at: offset)
      #expect(try identity().change(since: before) == .content, "byte \(offset)")
    }
    _ = directory.file("set.wav", content)
    directory.overwrite([content[100_000] ^ 0x80], in: "set.wav", at: 100_000)
    #expect(try identity().change(since: before) == .modificationTime)
    directory.truncate("set.wav", to: 199_999)
    #expect(try identity().change(since: before) == .size(from: 200_000, to: 199_999))
  }

  @Test func aCopyIsAnotherFileWithTheSameContent() throws {
    let content = recording(1000)
    _ = directory.file("set.wav", content)
    _ = directory.file("copy.wav", content)
    #expect(try !identity("copy.wav").isSameFile(as: identity()))
    #expect(try identity("copy.wav").edges == identity().edges)
  }

  @Test func aFileThatShrinksInTheMeantimeIsAnError() throws {
    _ = directory.file("set.wav", recording(1000))
    let file = try SourceFile.open(LocalPath(directory.path(of: "set.wav")), limit: .max)
    directory.truncate("set.wav", to: 10)
    #expect(throws: UploadError.file(file.path, .shrank(size: 1000, to: 10))) { try file.identity() }
  }

  /// Only then does the same time prove that nothing was written since.
  @Test func aTimeIsPastAfterASecondIfTheClockIsSet() {
    let now = Int64(time(nil))
    for (seconds, isPast): (Int64, Bool) in [
      (now - 3, true), (now + 1, false), (.max, false), (.min, false), (0, false), (Limits.clocksAreSetSince, true),
      (Limits.clocksAreSetSince - 1, false),
    ] {
      #expect(StatusTime(seconds: seconds, nanoseconds: 0).isPast == isPast, "\(seconds)")
    }
  }
}
