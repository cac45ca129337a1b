import Testing
import UploadCore

/// Which end is blamed when sendfile fails.
struct SendfileFailureTests {
  private let problem = FileError.readFailed(offset: 3, SystemError(code: 107))

  @Test(arguments: [false, true])
  func aFileThatCannotBeReadIsToBlame(isConnected: Bool) {
    #expect(SendfileFailure(file: problem, isConnected: isConnected) == .file(problem))
  }

  @Test func aConnectionIsToBlameOnlyIfItTakesNothingMore() {
    #expect(SendfileFailure(file: nil, isConnected: false) == .connection)
    #expect(SendfileFailure(file: nil, isConnected: true) == .direct)
  }
}
