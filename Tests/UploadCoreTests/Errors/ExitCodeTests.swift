import Testing
import UploadCore

struct ExitCodeTests {
  /// 4, 9, 11, 130 and 143 mean that another try is worth it.
  @Test(arguments: Int32(1)...16) func whatPassesIsTriedAgain(code: Int32) {
    #expect(ExitCode.passes(code) == [4, 9, 11].contains(code))
    #expect(ExitCode.passes(130) && ExitCode.passes(143))
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
