/// Reads responses to a ``MulticastDNSQuery``. Names can be compressed; a pointer must point backwards, so that no chain of
/// them is endless.
package struct MulticastDNSResponse {
  private let message: UnsafeRawBufferPointer
  private var position = 0

  /// The addresses that a message gives for the query's name.
  /// - Returns: nil if it is not a whole, well-formed response with the query's ID. What follows the last record is ignored.
  package static func addresses(in message: UnsafeRawBufferPointer, to query: MulticastDNSQuery) -> [IPAddress]? {
    var response = MulticastDNSResponse(message: message)
    return response.read(query)
  }

  private init(message: UnsafeRawBufferPointer) { self.message = message }

  private mutating func read(_ query: MulticastDNSQuery) -> [IPAddress]? {
    guard message.count <= Limits.dnsMessageLength, next16() == query.id, let flags = next16() else { return nil }
    // A response, to a standard query, without an error (RFC 6762, 18.3 and 18.11).
    guard flags & 0xF80F == 0x8000 else { return nil }
    guard let questions = next16(), let answers = next16(), let authorities = next16(), let additionals = next16()
    else {
      return nil
    }
    let records = Int(answers) + Int(authorities) + Int(additionals)
    guard Int(questions) + records <= Limits.dnsRecordCount else { return nil }
    for _ in 0..<questions {
      guard skipName() else { return nil }
      guard next16() != nil, next16() != nil else { return nil }
    }
    var found: [IPAddress] = []
    for number in 0..<records {
      let start = position
      guard skipName(), let kind = next16(), let type = next16(), let timeToLive = next32(), let length = next16(),
        let data = take(Int(length))
      else { return nil }
      let isAuthority = number >= Int(answers) && number < Int(answers) + Int(authorities)
      // The highest bit of the class says that caches are to be flushed (RFC 6762, 10.2). A record without time is gone (10.1).
      guard type & 0x7FFF == 1, timeToLive > 0, !isAuthority, let kind = MulticastDNSQuery.Kind(rawValue: kind) else {
        continue
      }
      guard data.count == (kind == .a ? 4 : 16) else { return nil }
      if isName(at: start, query.name), let address = IPAddress(octets: data) { found.append(address) }
    }
    return found
  }

  // MARK: Names (RFC 1035, 4.1.4)

  /// Skips a name, and checks all of it.
  private mutating func skipName() -> Bool {
    guard let end = walk(from: position, { _ in }) else { return false }
    position = end
    return true
  }

  private func isName(at start: Int, _ name: [UInt8]) -> Bool {
    var (index, isSame) = (0, true)
    _ = walk(from: start) { byte in
      isSame = isSame && index < name.count && ASCII.lowercased(byte) == ASCII.lowercased(name[index])
      index += 1
    }
    return isSame && index == name.count
  }

  /// Goes through a name's bytes, with lengths and the final zero, wherever they are.
  /// - Returns: the position behind it in the record; nil if the name is malformed.
  private func walk(from start: Int, _ visit: (UInt8) -> Void) -> Int? {
    var (at, length, jumps) = (start, 0, 0)
    // Where the name, or the part of it that a pointer led to, begins: the next pointer must lead to before it.
    var (begin, end) = (start, Int?.none)
    while at < message.count {
      let head = message[at]
      switch head {
      case 0:
        visit(0)
        return end ?? at + 1
      case 1...63:
        length += 1 + Int(head)
        guard length < Limits.dnsNameLength, at + Int(head) < message.count else { return nil }
        for index in at...(at + Int(head)) { visit(message[index]) }
        at += 1 + Int(head)
      case 0xC0...:
        guard at + 1 < message.count else { return nil }
        let target = Int(head & 0x3F) << 8 | Int(message[at + 1])
        jumps += 1
        guard target < begin, jumps <= Limits.dnsPointerCount else { return nil }
        end = end ?? at + 2
        (at, begin) = (target, target)
      default: return nil
      }
    }
    return nil
  }

  // MARK: Numbers

  private mutating func take(_ count: Int) -> UnsafeRawBufferPointer? {
    guard count <= message.count - position else { return nil }
    defer { position += count }
    return UnsafeRawBufferPointer(rebasing: message[position..<(position + count)])
  }

  private mutating func next16() -> UInt16? { take(2).map { UInt16($0[0]) << 8 | UInt16($0[1]) } }

  private mutating func next32() -> UInt32? {
    guard let high = next16(), let low = next16() else { return nil }
    return UInt32(high) << 16 | UInt32(low)
  }
}
