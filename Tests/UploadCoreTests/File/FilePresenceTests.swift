import Testing
import UploadCore

struct FilePresenceTests {
  private func presence(_ observation: FilePresence.Observation) -> FilePresence {
    FilePresence(observation, recorded: FileSystem(device: 2049, id: 0xc92e_5d41))
  }

  private func presence(of fileSystem: FileSystem, recorded: FileSystem) -> FilePresence {
    FilePresence(.missing(.found(on: fileSystem)), recorded: recorded)
  }

  @Test func aFileAtItsPathIsPresent() {
    #expect(presence(.found) == .present)
  }

  @Test func aFileThatIsMissingInItsDirectoryOnItsFileSystemIsGone() {
    #expect(presence(.missing(.found(on: FileSystem(device: 2049, id: 0xc92e_5d41)))) == .gone)
  }

  /// The empty mount point of a stick belongs to another file system.
  @Test func aFileWhoseDirectoryIsOnAnotherFileSystemWaitsForItsMedium() {
    #expect(presence(.missing(.found(on: FileSystem(device: 2065, id: 0xb4e4_af2b)))) == .waitingForMedium)
  }

  /// The number of a device is used again for the next one. A stick in another port gets another one.
  @Test func theIDOfAFileSystemTellsMoreThanItsDevice() {
    #expect(presence(.missing(.found(on: FileSystem(device: 2049, id: 0xb4e4_af2b)))) == .waitingForMedium)
    #expect(presence(.missing(.found(on: FileSystem(device: 2065, id: 0xc92e_5d41)))) == .gone)
  }

  @Test(arguments: [(nil, nil), (7, nil), (nil, 7)] as [(UInt64?, UInt64?)])
  func theDeviceDecidesIfAnIDIsUnknown(now: UInt64?, recorded: UInt64?) {
    let recorded = FileSystem(device: 2049, id: recorded)
    #expect(presence(of: FileSystem(device: 2049, id: now), recorded: recorded) == .gone)
    #expect(presence(of: FileSystem(device: 2065, id: now), recorded: recorded) == .waitingForMedium)
  }

  @Test func aFileWhoseDirectoryIsMissingWaitsForItsMedium() {
    #expect(presence(.missing(.missing)) == .waitingForMedium)
  }

  /// A network share whose server is away.
  @Test func aFileWhoseFileSystemDoesNotAnswerWaitsForItsMedium() {
    #expect(presence(.disconnected) == .waitingForMedium)
  }

  @Test func aFileThatCannotBeExaminedIsNeitherGoneNorWaiting() {
    let refused = SystemError(code: 13)
    #expect(presence(.unreadable(refused)) == .unknown(refused))
    #expect(presence(.missing(.unreadable(refused))) == .unknown(refused))
  }
}
