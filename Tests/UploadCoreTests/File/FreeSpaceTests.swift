import Testing
import UploadCore

struct FreeSpaceTests {
  @Test func withoutFreeInodesNoSpaceIsUsable() {
    #expect(FreeSpace(bytes: 5_000_000, files: 1).usable == 5_000_000)
    #expect(FreeSpace(bytes: 5_000_000, files: 0).usable == 0)
  }

  @Test func aShortageNamesWhatIsMissing() {
    let little = FreeSpace(bytes: 1_200_000, files: 0)
    #expect(little.shortage(ofWanted: 4_000_000_000) == "only 1.2 MB is free instead of 4.0 GB")
    #expect(little.shortage(ofWanted: 1_200_000).hasPrefix("no more files can be created"))
  }
}
