import Testing
import UploadCore

struct FileSightingTests {
  private func sighting(
    device: UInt64 = 1, inode: UInt64 = 2, size: Int64 = 300, seconds: Int64 = 4, changed: Int64 = 5
  ) -> FileSighting {
    FileSighting(
      identity: identity(device: device, inode: inode, size: size, seconds: seconds, edges: ""),
      changed: StatusTime(seconds: changed, nanoseconds: 0))
  }

  @Test func aFileIsTheSameWhileNothingHasWrittenToIt() {
    for same in [sighting(), sighting(device: 9), sighting(changed: 6)] { #expect(sighting().isSame(as: same)) }
    for other in [sighting(inode: 3), sighting(size: 301), sighting(seconds: 5)] {
      #expect(!sighting().isSame(as: other))
    }
  }

  /// Its number and its status time change with each mount.
  @Test func sizeAndTimeDecideIfInodesAreNotStable() {
    #expect(sighting(inode: 0).isSame(as: sighting(inode: 3, changed: 6)))
    #expect(
      !sighting(inode: 0).isSame(as: sighting(size: 301)) && !sighting(inode: 0).isSame(as: sighting(seconds: 60)))
  }
}
