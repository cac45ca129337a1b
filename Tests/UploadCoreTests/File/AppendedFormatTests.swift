import Testing

@testable import UploadCore

struct AppendedFormatTests {
  private static func box(_ type: String, _ content: [UInt8] = []) -> [UInt8] {
    let length = 8 + content.count
    return [UInt8(length >> 24), UInt8(length >> 16 & 255), UInt8(length >> 8 & 255), UInt8(length & 255)]
      + Array(type.utf8) + content
  }

  private static func packets(_ length: Int, from start: Int, _ count: Int = 5) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: start + length * count)
    for packet in 0..<count { bytes[start + packet * length] = 0x47 }
    return bytes
  }

  private static let brand = box("ftyp", Array("isom".utf8))
  private static let fragments = brand + box("moov", box("mvhd", [1, 2]) + box("mvex"))

  private func matches(_ bytes: [UInt8]) -> Bool { bytes.withUnsafeBytes { AppendedFormat.matches($0) } }

  @Test(arguments: [
    Array("OggS".utf8), packets(188, from: 0), packets(192, from: 4), fragments,
    brand + box("free") + box("moov", box("mvex")),
  ])
  func aFormatIsKnownByItsBeginning(bytes: [UInt8]) {
    for length in bytes.indices {
      // The last packet is needed up to its end, the page and the boxes as a whole.
      #expect(!matches(Array(bytes[..<length])), "\(length)")
    }
    #expect(matches(bytes) && matches(bytes + [0]) && matches(bytes + bytes))
  }

  @Test(arguments: [
    [], Array("RIFF....WAVE".utf8), [0x1A, 0x45, 0xDF, 0xA3], Array("fLaC".utf8), Array("oggs".utf8),
    packets(188, from: 1), packets(188, from: 0, 4), packets(192, from: 0),
    // Its movie box says nothing of fragments, is behind the content, in another box, or is no box.
    brand + box("moov", box("mvhd")), brand + box("mdat"), brand + box("free", box("moov", box("mvex"))),
    box("moov", box("mvex")), brand + [0, 0, 0, 7] + Array("moov".utf8) + box("mvex"),
    brand + [0, 0, 0, 0] + Array("moov".utf8) + box("mvex"), brand + [255, 255, 255, 255] + Array("moov".utf8),
    brand + box("moov", [0, 0, 0, 9] + Array("mvex".utf8)),
  ])
  func othersAreNot(bytes: [UInt8]) {
    #expect(!matches(bytes))
  }
}
