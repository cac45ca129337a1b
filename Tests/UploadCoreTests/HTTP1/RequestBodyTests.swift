import Testing
import UploadCore

/// Reads a whole body through buffers of at most `spaceLength` bytes. The file's byte at an offset is `offset % 251`.
private func drain(_ body: inout RequestBody, spaceLength: Int, limit: Int64 = .max) -> [UInt8] {
  let space = UnsafeMutableRawBufferPointer.allocate(byteCount: spaceLength, alignment: 1)
  defer { space.deallocate() }
  var output: [UInt8] = []
  while body.phase != .complete, Int64(output.count) < limit {
    if case .file(let offset) = body.phase {
      let count = Int(min(Int64(spaceLength), body.fileLength - offset))
      output.append(contentsOf: (0..<Int64(count)).map { UInt8((offset + $0) % 251) })
      body.advanceFile(by: count)
    } else {
      let count = body.writeFraming(into: space)
      output.append(contentsOf: space[..<count])
    }
  }
  return output
}

private func fileBytes(_ length: Int) -> [UInt8] { (0..<length).map { UInt8($0 % 251) } }

struct RequestBodyTests {
  @Test(arguments: [0, 1, 2, 250, 4096], [1, 2, 3, 7, 64, 5000])
  func theBytesAreHeaderFileAndFooterWhateverTheSpaces(fileLength: Int, spaceLength: Int) {
    var body = RequestBody(header: bytes("<header>"), fileLength: Int64(fileLength), footer: bytes("<footer>"))
    let expected = bytes("<header>") + fileBytes(fileLength) + bytes("<footer>")
    #expect(body.length == Int64(expected.count))
    #expect(drain(&body, spaceLength: spaceLength) == expected)
    #expect(body.phase == .complete)
  }

  @Test func aFileOverFourGibibytesIsCountedInFull() {
    var body = RequestBody(header: bytes("h"), fileLength: 5_000_000_000, footer: bytes("f"))
    #expect(body.length == 5_000_000_002)
    _ = drain(&body, spaceLength: 1, limit: 1)
    body.advanceFile(by: 4_294_967_296)
    #expect(body.phase == .file(sent: 4_294_967_296))
    body.advanceFile(by: 705_032_703)
    #expect(body.phase == .file(sent: 4_999_999_999))
    body.advanceFile(by: 1)
    #expect(body.phase == .footer(sent: 0))
  }

  @Test func phasesAreLeftAsSoonAsTheyAreDone() {
    var body = RequestBody(header: bytes("ab"), fileLength: 1, footer: bytes("c"))
    #expect(body.phase == .header(sent: 0))
    let space = UnsafeMutableRawBufferPointer.allocate(byteCount: 1, alignment: 1)
    defer { space.deallocate() }
    #expect(body.writeFraming(into: space) == 1 && space[0] == UInt8(ascii: "a"))
    #expect(body.phase == .header(sent: 1))
    #expect(body.writeFraming(into: space) == 1 && space[0] == UInt8(ascii: "b"))
    #expect(body.phase == .file(sent: 0))
    #expect(body.writeFraming(into: space) == 0)
    body.advanceFile(by: 1)
    #expect(body.phase == .footer(sent: 0))
    #expect(body.writeFraming(into: space) == 1 && space[0] == UInt8(ascii: "c"))
    #expect(body.phase == .complete)
    #expect(body.writeFraming(into: space) == 0)
  }

  @Test func noSpaceTakesNothing() {
    var body = RequestBody(header: bytes("ab"), fileLength: 1, footer: [])
    #expect(body.writeFraming(into: UnsafeMutableRawBufferPointer(start: nil, count: 0)) == 0)
    #expect(body.phase == .header(sent: 0))
  }

  @Test func aBodyWithoutFramingIsTheFileAlone() {
    var body = RequestBody(header: [], fileLength: 300, footer: [])
    #expect(body.phase == .file(sent: 0) && body.length == 300)
    #expect(drain(&body, spaceLength: 7) == fileBytes(300))
    #expect(RequestBody(header: [], fileLength: 0, footer: []).phase == .complete)
  }

  @Test func takingMoreOfTheFileThanThereIsIsABug() async {
    await #expect(processExitsWith: .failure) {
      var body = RequestBody(header: [], fileLength: 3, footer: [])
      body.advanceFile(by: 4)
    }
  }
}
