import Testing
import UploadCore

struct FileIdentityTests {
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

  // MARK: Without stable inodes

  @Test func timesOfFATAreTheSameWithinTwoSecondsAndQuartersOfAnHour() {
    let seconds: Int64 = 1_795_000_000
    let recorded = identity(inode: 0, seconds: seconds, nanoseconds: 0, hasLocalTimes: true)
    for shift: Int64 in [0, 900, -900, 3600, -7200, 26 * 3600, -26 * 3600] {
      for inexact: Int64 in shift.magnitude < 26 * 3600 ? [-2, -1, 0, 1, 2] : [0] {
        #expect(identity(inode: 0, seconds: seconds + shift + inexact).change(since: recorded) == nil)
      }
    }
    for difference: Int64 in [3, -3, 897, 903, 450, 27 * 3600, -1_795_000_000, .min, .max - 1_795_000_000] {
      let other = identity(inode: 0, seconds: seconds &+ difference)
      #expect(other.change(since: recorded) == .modificationTime)
    }
  }

  /// FUSE and network file systems may round them, but have no local time: there, the next day's recording is another one.
  @Test func elsewhereTimesDoNotShift() {
    let shifted = identity(inode: 0, seconds: 1_795_000_000 + 86_400)
    #expect(shifted.change(since: identity(inode: 0)) == .modificationTime)
    #expect(identity(inode: 0, seconds: 1_795_000_002).change(since: identity(inode: 0)) == nil)
    #expect(identity(seconds: 1_795_000_002).change(since: identity()) == .modificationTime)
    // A record of an earlier version does not say what kind of times it has.
    let onFAT = identity(inode: 0, seconds: 1_795_003_600, hasLocalTimes: true)
    #expect(onFAT.change(since: identity(inode: 0)) == nil)
  }

  @Test func theSizeAndTheEdgesStillCount() {
    #expect(identity(inode: 0, size: 301).change(since: identity(inode: 0)) == .size(from: 300, to: 301))
    #expect(identity(inode: 0, edges: "cd").change(since: identity(inode: 0)) == .content)
  }

  @Test func withoutNumbersNoFileIsRecognizedByThem() {
    #expect(!identity(inode: 0).isSameFile(as: identity(inode: 0)))
  }

  @Test func fileSystemsOfSticksAndNetworksHaveNoStableInodes() {
    // ext4, btrfs, xfs, f2fs, tmpfs, overlayfs
    for type: UInt64 in [0xef53, 0x9123_683e, 0x5846_5342, 0xf2f5_2010, 0x0102_1994, 0x794c_7630] {
      #expect(FileSystem.kind(type: type) == .stable)
    }
    // vfat, exfat, NFS, CIFS, SMB 2, FUSE, and one that is not known
    for type: UInt64 in [0x4d44, 0x2011_bab0, 0x6969, 0xff53_4d42, 0xfe53_4d42, 0x6573_5546, 0] {
      #expect(FileSystem.kind(type: type) == ([0x4d44, 0x2011_bab0].contains(type) ? .fat : .unstable))
    }
  }

  @Test func onFATARenameIsSeveralWrites() {
    // ext4, f2fs, overlayfs, NFS, and one that is not known; vfat, exfat, FUSE
    let journals: [UInt64] = [0xef53, 0xf2f5_2010, 0x794c_7630, 0x6969, 0]
    #expect(journals.allSatisfy { FileSystem.hasAtomicRename(type: $0) })
    #expect(![0x4d44, 0x2011_bab0, 0x6573_5546].contains { FileSystem.hasAtomicRename(type: $0) })
  }
}
