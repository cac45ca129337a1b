/// The formats of which no recorder writes the beginning again when it closes the file.
package enum AppendedFormat {
  /// - Parameter bytes: the beginning of a file.
  /// - Returns: whether it is MPEG-TS (ISO/IEC 13818-1; in packets of 192 bytes, M2TS, on cameras and Blu-ray discs), Ogg (RFC 3533), or
  ///   MP4 in fragments (ISO/IEC 14496-12, 8.8: its movie box, which must be there as a whole, says that they follow).
  package static func matches(_ bytes: UnsafeRawBufferPointer) -> Bool {
    if bytes.starts(with: Array("OggS".utf8)) || hasPackets(bytes, of: 188, from: 0)
      || hasPackets(bytes, of: 192, from: 4)
    {
      return true
    }
    let boxes = boxes(bytes[...])
    guard boxes.first?.type == "ftyp", let movie = boxes.first(where: { $0.type == "moov" }) else { return false }
    return AppendedFormat.boxes(movie.content).contains { $0.type == "mvex" }
  }

  private static func hasPackets(_ bytes: UnsafeRawBufferPointer, of length: Int, from start: Int) -> Bool {
    let sync: UInt8 = 0x47
    let count = 5
    return bytes.count >= start + count * length && (0..<count).allSatisfy { bytes[start + $0 * length] == sync }
  }

  private struct Box {
    let type: String
    let content: Slice<UnsafeRawBufferPointer>
  }

  /// Those that are whole, and not longer than 32 bits can say.
  private static func boxes(_ bytes: Slice<UnsafeRawBufferPointer>) -> [Box] {
    var boxes: [Box] = []
    var rest = bytes
    while rest.count >= 8 {
      let length = rest.prefix(4).reduce(0) { $0 << 8 | Int($1) }
      guard length >= 8, length <= rest.count else { break }
      let type = String(decoding: rest.dropFirst(4).prefix(4), as: UTF8.self)
      boxes.append(Box(type: type, content: rest.prefix(length).dropFirst(8)))
      rest = rest.dropFirst(length)
    }
    return boxes
  }
}
