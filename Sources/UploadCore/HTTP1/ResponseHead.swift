/// A response's status and fields (RFC 9112, 4 and 5).
package struct ResponseHead: Equatable, Sendable {
  /// 0 for HTTP/1.0, 1 for HTTP/1.1.
  package let minorVersion: UInt8
  /// 100 to 599.
  package let status: Int
  package let fields: [Field]
  /// Whether there was a malformed field line. It is ignored, and the connection is not reused.
  package let hasMalformedField: Bool

  package init(minorVersion: UInt8 = 1, status: Int, fields: [Field]) {
    self.minorVersion = minorVersion
    self.status = status
    self.fields = fields
    hasMalformedField = false
  }

  package var isInterim: Bool { status < 200 }
}

/// The parser of a response's status line and field lines (RFC 9112, 4 and 5).
extension ResponseHead {
  /// Parses a complete head without its empty line. A line may end in LF alone (RFC 9112, 2.2).
  package init(parsing bytes: ArraySlice<UInt8>) throws(ResponseError) {
    var lines = bytes.split(separator: ASCII.lineFeed, omittingEmptySubsequences: false)[...]
    guard let statusLine = lines.popFirst() else { throw .notHTTP }
    (minorVersion, status) = try ResponseHead.parseStatusLine(ResponseHead.withoutLineEnd(statusLine))
    var fields: [Field] = []
    var malformedCount = 0
    var previous: ArraySlice<UInt8> = []
    for line in lines {
      guard fields.count + malformedCount < Limits.fieldCount else { throw .tooManyFields(limit: Limits.fieldCount) }
      let line = ResponseHead.withoutLineEnd(line)
      do throws(ResponseError) {
        fields.append(try ResponseHead.parseField(line))
        previous = line
      } catch {
        // A malformed field is harmless unless it affects the length of the response.
        let isContinuation = line.first == ASCII.space || line.first == ASCII.tab
        guard !(isContinuation && ResponseHead.isFraming(previous)), !ResponseHead.isFraming(line) else { throw error }
        malformedCount += 1
      }
    }
    self.fields = fields
    hasMalformedField = malformedCount > 0
  }

  /// Whether the line starts with the name of a field that decides where the response ends.
  private static func isFraming(_ line: ArraySlice<UInt8>) -> Bool {
    let name = ASCII.trimmed(line.prefix { $0 != ASCII.colon })
    return ["Content-Length", "Transfer-Encoding"].contains { ASCII.equalsIgnoringCase(name, $0.utf8) }
  }

  private static func withoutLineEnd(_ line: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    line.last == ASCII.carriageReturn ? line.dropLast() : line
  }

  /// `HTTP/1.1 201 Created`. The reason and the space before it can be missing.
  private static func parseStatusLine(_ line: ArraySlice<UInt8>) throws(ResponseError) -> (UInt8, Int) {
    let line = Array(line)
    guard line.count >= 12, line.starts(with: "HTTP/1.".utf8), ASCII.isDigit(line[7]), line[8] == ASCII.space,
      let status = ASCII.decimal(line[9..<12]), status >= 100, status < 600,
      line.count == 12 || line[12] == ASCII.space
    else { throw .notHTTP }
    guard line.allSatisfy({ $0 != 0 && $0 != ASCII.carriageReturn }) else { throw .invalidField }
    return (line[7] - 0x30, Int(status))
  }

  static func parseField(_ line: ArraySlice<UInt8>) throws(ResponseError) -> Field {
    guard let colon = line.firstIndex(of: ASCII.colon), colon > line.startIndex,
      line[..<colon].allSatisfy(ASCII.isTokenCharacter)
    else { throw .invalidField }
    let value = ASCII.trimmed(line[(colon + 1)...])
    guard value.allSatisfy({ !ASCII.isControl($0) || $0 == ASCII.tab }) else { throw .invalidField }
    return Field(String(decoding: line[..<colon], as: UTF8.self), String(decoding: value, as: UTF8.self))
  }
}

/// Collects the bytes of a response's head until it is complete: of those of interim responses, then of the final one.
/// ``ResponseHead/init(parsing:)`` parses it.
struct ResponseHeadBuffer: Sendable {
  /// The bytes of an incomplete head.
  private var bytes: [UInt8] = []
  private var strayLineEnds = 0

  /// Whether nothing of the next head has arrived.
  var isEmpty: Bool { bytes.isEmpty }

  /// Takes bytes up to the end of the head.
  /// - Returns: how many bytes of the input were taken, and the head with its length if it is complete.
  mutating func take(_ input: UnsafeRawBufferPointer) throws(ResponseError)
    -> (count: Int, head: ResponseHead?, length: Int)
  {
    var count = 0
    for byte in input {
      count += 1
      if bytes.isEmpty, byte == ASCII.carriageReturn || byte == ASCII.lineFeed {
        // A stray line end after the previous response of a sloppy server.
        strayLineEnds += 1
        guard strayLineEnds <= 2 else { throw .notHTTP }
        continue
      }
      if bytes.isEmpty { bytes.reserveCapacity(Limits.responseHeadUsualLength) }
      bytes.append(byte)
      guard bytes.count <= Limits.responseHeadLength else { throw .headTooLong(limit: Limits.responseHeadLength) }
      if bytes.count <= 7, byte != httpVersionPrefix[bytes.count - 1] { throw .notHTTP }
      if byte == ASCII.lineFeed, let length = lengthOfWholeHead {
        let head = try ResponseHead(parsing: bytes[..<length])
        let whole = bytes.count
        bytes.removeAll(keepingCapacity: true)
        return (count, head, whole)
      }
    }
    return (count, nil, 0)
  }

  /// The length of the head without its last line end, if the bytes so far end in an empty line; otherwise nil.
  private var lengthOfWholeHead: Int? {
    var end = bytes.count - 1
    if bytes[end - 1] == ASCII.carriageReturn { end -= 1 }
    guard bytes[end - 1] == ASCII.lineFeed else { return nil }
    return end - 1
  }
}

private let httpVersionPrefix = Array("HTTP/1.".utf8)

extension Limits {
  /// A response head: status line and fields, in bytes.
  package static let responseHeadLength = 32 << 10
  /// What most response heads fit into, in bytes.
  static let responseHeadUsualLength = 512
  /// Fields in a response head.
  package static let fieldCount = 128
}
