/// The formats of which no recorder writes the beginning again when it closes the file.
package enum AppendedFormat: Equatable, Sendable {
  /// ISO/IEC 13818-1; in packets of 192 bytes on cameras and Blu-ray discs (M2TS).
  case transportStream
  /// RFC 3533.
  case ogg
  /// ISO/IEC 14496-12, 8.8: its movie box says that fragments follow.
  case fragmentedMP4

  /// - Parameter bytes: the beginning of the file. A movie box must be in it as a whole.
  /// - Returns: nil for all other formats, and if that is not enough.
  package init?(_ bytes: UnsafeRawBufferPointer) {
    if bytes.starts(with: Array("OggS".utf8)) {
      self = .ogg
    } else if AppendedFormat.hasPackets(bytes, of: 188, from: 0) || AppendedFormat.hasPackets(bytes, of: 192, from: 4) {
      self = .transportStream
    } else if AppendedFormat.boxes(bytes[...]).first?.type == "ftyp",
      let movie = AppendedFormat.boxes(bytes[...]).first(where: { $0.type == "moov" }),
      AppendedFormat.boxes(movie.content).contains(where: { $0.type == "mvex" })
    {
      self = .fragmentedMP4
    } else {
      return nil
    }
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
