/// What follows a request's head on the wire: some bytes of framing, a stretch of the file, and framing again.
///
/// It goes through the phases header → file → footer → complete, and its length is known before its first byte. A
/// multipart form has both framings (``FormData``); a plain PUT has none.
package struct RequestBody: Equatable, Sendable {
  package enum Phase: Equatable, Sendable {
    /// Framing before the file; `sent` bytes of it have been taken.
    case header(sent: Int)
    /// The file; `sent` bytes of it have been taken.
    case file(sent: Int64)
    /// Framing behind the file.
    case footer(sent: Int)
    case complete
  }

  package let header: [UInt8]
  /// Where in the file its stretch begins, in bytes.
  package let fileOffset: Int64
  /// Bytes of the file, as they were counted when the file was opened.
  package let fileLength: Int64
  package let footer: [UInt8]
  package private(set) var phase = Phase.header(sent: 0)

  package init(header: [UInt8] = [], fileOffset: Int64 = 0, fileLength: Int64 = 0, footer: [UInt8] = []) {
    self.header = header
    self.fileOffset = fileOffset
    self.fileLength = fileLength
    self.footer = footer
    settle()
  }

  /// The value of Content-Length.
  package var length: Int64 { Int64(header.count) + fileLength + Int64(footer.count) }

  /// Does its stretch of the file, or the part of it up to `sent`, end where a file of this size does?
  package func endsFile(of size: Int64, after sent: Int64? = nil) -> Bool {
    fileLength > 0 && fileOffset + (sent ?? fileLength) == size
  }

  /// Copies framing into `space` as far as it fits; 0 in the phases file and complete.
  package mutating func writeFraming(into space: UnsafeMutableRawBufferPointer) -> Int {
    switch phase {
    case .header(let sent):
      let count = copy(header, from: sent, to: space)
      phase = .header(sent: sent + count)
      settle()
      return count
    case .footer(let sent):
      let count = copy(footer, from: sent, to: space)
      phase = .footer(sent: sent + count)
      settle()
      return count
    case .file, .complete:
      return 0
    }
  }

  /// Takes `count` bytes of the file as read.
  package mutating func advanceFile(by count: Int) {
    guard case .file(let sent) = phase, count > 0, Int64(count) <= fileLength - sent else {
      preconditionFailure("more of the file than the body has")
    }
    phase = .file(sent: sent + Int64(count))
    settle()
  }

  /// Leaves phases that are done, so that `phase` always names work to do.
  private mutating func settle() {
    if case .header(let sent) = phase, sent == header.count { phase = .file(sent: 0) }
    if case .file(let sent) = phase, sent == fileLength { phase = .footer(sent: 0) }
    if case .footer(let sent) = phase, sent == footer.count { phase = .complete }
  }

  private func copy(_ bytes: [UInt8], from start: Int, to space: UnsafeMutableRawBufferPointer) -> Int {
    let count = min(bytes.count - start, space.count)
    for index in 0..<count { space[index] = bytes[start + index] }
    return count
  }
}
