import Testing
import UploadCore

/// Who is blamed where a file could not be passed on to a connection.
struct DirectFailureTests {
  private let problem = FileError.readFailed(offset: 3, SystemError(code: 107))

  @Test(arguments: [false, true])
  func aFileThatCannotBeReadIsToBlame(isConnected: Bool) {
    #expect(DirectFailure(file: problem, isConnected: isConnected) == .file(problem))
  }

  @Test func aConnectionIsToBlameOnlyIfItTakesNothingMore() {
    #expect(DirectFailure(file: nil, isConnected: false) == .connection)
    #expect(DirectFailure(file: nil, isConnected: true) == .direct)
  }
}
