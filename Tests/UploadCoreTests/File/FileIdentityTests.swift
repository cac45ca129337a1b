import Testing
import UploadCore

struct FileIdentityTests {
  private func identity(
    device: UInt64 = 1, inode: UInt64 = 2, size: Int64 = 300, seconds: Int64 = 1_795_000_000, nanoseconds: Int64 = 5,
    edges: String = "ab"
  ) -> FileIdentity {
    FileIdentity(
      device: device, inode: inode, size: size, modifiedSeconds: seconds, modifiedNanoseconds: nanoseconds, edges: edges
    )
  }

  @Test func anUntouchedFileHasNotChanged() {
    #expect(identity().change(since: identity()) == nil)
  }

  /// As on a stick that was taken out and put back.
  @Test func otherNumbersOnTheDiskAreNoChange() {
    #expect(identity(device: 9, inode: 8).change(since: identity()) == nil)
    #expect(!identity(device: 9).isSameFile(as: identity()) && !identity(inode: 9).isSameFile(as: identity()))
    #expect(identity(size: 1, seconds: 0, edges: "cd").isSameFile(as: identity()))
  }

  @Test func aChangeSaysWhatHasChanged() {
    #expect(identity(size: 301).change(since: identity()) == .size(from: 300, to: 301))
    #expect(identity(edges: "cd").change(since: identity()) == .content)
    #expect(identity(seconds: 0).change(since: identity()) == .modificationTime)
    #expect(identity(nanoseconds: 6).change(since: identity()) == .modificationTime)
  }

  @Test func theSizeTellsMoreThanTheContentAndThatMoreThanTheTime() {
    #expect(identity(size: 1, seconds: 0, edges: "cd").change(since: identity()) == .size(from: 300, to: 1))
    #expect(identity(seconds: 0, edges: "cd").change(since: identity()) == .content)
  }
}
