import Testing
import UploadCore

struct ExitCodeTests {
  /// After 4, 9, 11, 130 and 143, another try is worth it; after 14, everything else has succeeded.
  @Test(arguments: Int32(1)...16) func failuresThatNeedNobodyComeLast(code: Int32) {
    #expect(ExitCode.yields(code) == [4, 9, 11, 14].contains(code))
    #expect(ExitCode.yields(130) && ExitCode.yields(143))
  }

  @Test(
    arguments: [
      (0, 4, 4), (4, 0, 4), (4, 9, 4), (4, 16, 16), (9, 16, 16), (16, 4, 16), (4, 6, 6), (6, 16, 6), (16, 6, 16),
      (130, 7, 7),
    ] as [(Int32, Int32, Int32)])
  func aFailureThatNeedsAPersonComesBeforeOneThatPasses(earlier: Int32, later: Int32, code: Int32) {
    #expect(ExitCode.combined(earlier, later) == code)
  }
}
