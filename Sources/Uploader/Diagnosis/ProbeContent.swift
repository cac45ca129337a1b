import UploadCore

/// The bytes of one request of a diagnosis. The file in it is all zeros.
struct ProbeContent {
  /// The head, and the framing before the file.
  private let front: UnsafeMutableRawBufferPointer
  private let back: UnsafeMutableRawBufferPointer
  private let zeros: UnsafeMutableRawBufferPointer
  let fileLength: Int64
  /// Where sending ends: after everything, or where the request is cut short.
  private let end: Int64
  private(set) var written: Int64 = 0

  /// - Parameter cutAfter: how much of the file is sent, in bytes; nil for all of it.
  init(head: [UInt8], _ body: RequestBody, cutAfter: Int64?) {
    front = ProbeContent.copy(head + body.header)
    back = ProbeContent.copy(body.footer)
    fileLength = body.fileLength
    zeros = .allocate(byteCount: Int(min(fileLength, Int64(Limits.zerosLength))), alignment: 1)
    for index in zeros.indices { zeros[index] = 0 }
    end = Int64(front.count) + (cutAfter ?? fileLength + Int64(back.count))
  }

  func deallocate() {
    front.deallocate()
    back.deallocate()
    zeros.deallocate()
  }

  private static func copy(_ bytes: [UInt8]) -> UnsafeMutableRawBufferPointer {
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
    buffer.copyBytes(from: bytes)
    return buffer
  }

  /// Whether everything to be sent was written.
  var isWritten: Bool { written == end }
  /// Whether a file is sent.
  var hasFile: Bool { fileLength > 0 }

  /// What to write next.
  var run: UnsafeRawBufferPointer {
    let inFile = written - Int64(front.count)
    if inFile < 0 { return UnsafeRawBufferPointer(rebasing: front[Int(written)...]) }
    if inFile < fileLength {
      let count = min(end - written, min(fileLength - inFile, Int64(zeros.count)))
      return UnsafeRawBufferPointer(rebasing: zeros[..<Int(count)])
    }
    return UnsafeRawBufferPointer(rebasing: back[Int(inFile - fileLength)...])
  }

  mutating func advance(by count: Int) { written += Int64(count) }

  /// How many bytes of the file have arrived.
  /// - Parameter unacknowledged: how many of the bytes written have not.
  func arrived(unacknowledged: Int) -> Int64 {
    min(fileLength, max(0, written - Int64(unacknowledged) - Int64(front.count)))
  }
}
