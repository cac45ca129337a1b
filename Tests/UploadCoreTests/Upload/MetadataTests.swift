import Testing

@testable import UploadCore

struct MetadataTests {
  private func request(_ metadata: [FormField], isForGigHive: Bool = false) throws -> UploadRequest {
    let base = try TargetURI("https://hive/files/")
    var request = UploadRequest(
      file: "/srv/set.wav", destination: isForGigHive ? .gigHive(base, EventForm()) : .tus(base))
    request.extraMetadata = metadata
    return request
  }

  @Test func theCallersMetadataComesLastAndReplacesWhatHasTheSameName() throws {
    let request = try request([FormField("name", "A"), FormField("filename", "b.wav")])
    #expect(request.problem == nil)
    #expect(try TusFields.metadata(request.metadata) == "filetype YXVkaW8vd2F2,name QQ==,filename Yi53YXY=")
  }

  @Test(arguments: ["", "a b", "a,b", "é", "a\n", "a\u{7F}"])
  func aNameThatTusDoesNotAllowIsRefusedBeforeAnythingIsSent(name: String) throws {
    guard case .tus(.invalidMetadataKey) = try request([FormField(name, "1")]).problem else {
      Issue.record("accepted: \(name)")
      return
    }
  }

  @Test func theLengthIsLimited() throws {
    let limit = Limits.metadataLength
    #expect(try request([FormField("a", String(repeating: "b", count: limit - 1))]).problem == nil)
    #expect(
      try request([FormField("a", ""), FormField("b", String(repeating: "b", count: limit - 1))]).problem
        == .requestHead(.metadataTooLong(limit: limit)))
  }

  @Test func gigHivesFormMakesRoomForIt() throws {
    var request = try request([FormField("a", String(repeating: "b", count: 4000))], isForGigHive: true)
    request.extraFields = [FormField("notes", String(repeating: "n", count: 200))]
    #expect(!request.metadata.contains { $0.name == "notes" })
    request.extraMetadata = []
    #expect(request.metadata.contains { $0.name == "notes" })
  }
}
