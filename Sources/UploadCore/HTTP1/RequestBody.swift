/// The content of a request: framing, a range of the file, and framing again.
///
/// Its phases are header → file → footer → complete, and its length is known from the start. A multipart form has both
/// framings (``FormData``), a tus PATCH has none.
package struct RequestBody: Equatable, Sendable {
  package enum Phase: Equatable, Sendable {
    /// Framing before the file, of which `sent` bytes were taken.
    case header(sent: Int)
    /// The file, of which `sent` bytes were taken.
    case file(sent: Int64)
    /// Framing after the file.
    case footer(sent: Int)
    case complete
  }

  package let header: [UInt8]
  /// The start of the range in the file, in bytes.
  package let fileOffset: Int64
  /// The length of the range, in bytes, by the size of the file when it was opened.
  package let fileLength: Int64
  package let footer: [UInt8]
  /// Whether what it contains becomes a part of a recording only with a later request, before which the file is examined.
  private let isJoinedLater: Bool
  /// Of a file that may be written while it is sent: where the range begins whose SHA-256 the response is compared with (``SentRun``), in
  /// bytes; nil if that is of no use.
  package let digestedFrom: Int64?
  /// How much the server has to copy before it answers, in bytes.
  package var joinedLength: Int64 = 0
  package private(set) var phase = Phase.header(sent: 0)

  package init(
    header: [UInt8] = [], fileOffset: Int64 = 0, fileLength: Int64 = 0, footer: [UInt8] = [],
    isJoinedLater: Bool = false, digestedFrom: Int64? = nil
  ) {
    self.header = header
    self.isJoinedLater = isJoinedLater
    self.digestedFrom = digestedFrom
    self.fileOffset = fileOffset
    self.fileLength = fileLength
    self.footer = footer
    skipFinishedPhases()
  }

  /// The value of Content-Length.
  package var length: Int64 { Int64(header.count) + fileLength + Int64(footer.count) }

  /// Whether its range of the file, or the part of it up to `sent`, ends at the end of a file of this size, and the server may store that.
  package func endsFile(of size: Int64, after sent: Int64? = nil) -> Bool {
    !isJoinedLater && fileLength > 0 && fileOffset + (sent ?? fileLength) == size
  }

  /// Copies as much framing into `space` as fits.
  /// - Returns: the number of bytes; 0 in the phases file and complete.
  package mutating func writeFraming(into space: UnsafeMutableRawBufferPointer) -> Int {
    switch phase {
    case .header(let sent):
      let count = copy(header, from: sent, to: space)
      phase = .header(sent: sent + count)
      skipFinishedPhases()
      return count
    case .footer(let sent):
      let count = copy(footer, from: sent, to: space)
      phase = .footer(sent: sent + count)
      skipFinishedPhases()
      return count
    case .file, .complete:
      return 0
    }
  }

  /// Marks `count` bytes of the file as read.
  package mutating func advanceFile(by count: Int) {
    guard case .file(let sent) = phase, count > 0, Int64(count) <= fileLength - sent else {
      preconditionFailure("more file content than the body has")
    }
    phase = .file(sent: sent + Int64(count))
    skipFinishedPhases()
  }

  /// Leaves finished phases, so that `phase` always has work left.
  private mutating func skipFinishedPhases() {
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
