/// A key for looking up records: a 64-bit hash. Keys can collide, so the record itself must be checked.
package struct IndexKey: Equatable, Sendable {
  /// The kind of data that is hashed, so that a path never equals a digest.
  private enum Kind: UInt8 {
    case path = 1
    case file, content, asset, unreadable, mark, status, place, watched, anyPath, anyFile
  }

  package let hash: UInt64

  private init(_ kind: Kind, _ texts: [[UInt8]] = [], numbers: [UInt64] = []) {
    // FNV-1a, with a final mix of all bits.
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    func add(_ byte: UInt8) { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3 }
    add(kind.rawValue)
    for text in texts {
      for byte in text { add(byte) }
      for shift in stride(from: 0, to: 64, by: 8) { add(UInt8(truncatingIfNeeded: text.count >> shift)) }
    }
    for number in numbers {
      for shift in stride(from: 0, to: 64, by: 8) { add(UInt8(truncatingIfNeeded: number >> UInt64(shift))) }
    }
    self.hash = IndexKey.mixed(hash)
  }

  /// The upload of the file at this path.
  package static func path(_ record: UploadRecord) -> IndexKey {
    IndexKey(.path, destination(record) + [record.file.path.bytes])
  }

  /// The upload of the same file on disk, whatever its name and event.
  package static func file(_ record: UploadRecord) -> IndexKey {
    let identity = record.file.identity
    return IndexKey(
      .file, [Array(record.destination.endpoint.utf8), Array(identity.edges.utf8)],
      numbers: contentNumbers(identity) + [identity.device, identity.inode])
  }

  /// The upload of a file with the same name and content, possibly on another disk, whatever its event.
  static func content(_ record: UploadRecord) -> IndexKey {
    let name = Array(record.file.path.lastComponentBytes)
    return IndexKey(
      .content, [Array(record.destination.endpoint.utf8), Array(record.file.identity.edges.utf8), name],
      numbers: contentNumbers(record.file.identity))
  }

  /// The delivery of a file that has not been touched since, as its status says.
  package static func status(_ record: UploadRecord, _ status: StatusTime) -> IndexKey {
    let identity = record.file.identity
    return IndexKey(
      .status, destination(record),
      numbers: contentNumbers(identity) + [identity.device, identity.inode]
        + [status.seconds, status.nanoseconds].map { UInt64(bitPattern: $0) })
  }

  /// The delivery of a file at this path with the same size and edges, whenever it was written.
  package static func place(_ record: UploadRecord) -> IndexKey {
    let identity = record.file.identity
    return IndexKey(
      .place, destination(record) + [record.file.path.bytes, Array(identity.edges.utf8)],
      numbers: [UInt64(bitPattern: identity.size)])
  }

  /// The unfinished upload of the file at this path, whatever its destination.
  static func anyPath(_ record: UploadRecord) -> IndexKey { IndexKey(.anyPath, [record.file.path.bytes]) }

  /// The same by the file on disk, whatever its name.
  static func anyFile(_ record: UploadRecord) -> IndexKey {
    let identity = record.file.identity
    return IndexKey(
      .anyFile, [Array(identity.edges.utf8)], numbers: contentNumbers(identity) + [identity.device, identity.inode])
  }

  private static func destination(_ record: UploadRecord) -> [[UInt8]] {
    let (endpoint, event) = (record.destination.endpoint, record.destination.event)
    return event.isEmpty ? [Array(endpoint.utf8)] : [Array(endpoint.utf8), Array(event.utf8)]
  }

  private static func contentNumbers(_ identity: FileIdentity) -> [UInt64] {
    [identity.size, identity.modifiedSeconds, identity.modifiedNanoseconds].map { UInt64(bitPattern: $0) }
  }

  /// The delivered record with the delete token of the recording.
  package static func asset(_ id: Int64, endpoint: String) -> IndexKey {
    IndexKey(.asset, [Array(endpoint.utf8)], numbers: [UInt64(bitPattern: id)])
  }

  /// All records that could not be read.
  package static let unreadable = IndexKey(.unreadable)

  /// A hash of the state of a directory; never 0.
  package static func mark(_ numbers: [UInt64], boot: [UInt8]) -> UInt64 {
    max(1, IndexKey(.mark, [boot], numbers: numbers).hash)
  }

  /// A hash of what a look at a path has found; never 0.
  static func watched(_ path: [UInt8], _ numbers: [UInt64]) -> UInt64 {
    max(1, IndexKey(.watched, [path], numbers: numbers).hash)
  }

  /// Spreads a change of one bit over all bits (the finalizer of MurmurHash3).
  static func mixed(_ value: UInt64) -> UInt64 {
    var value = value
    value = (value ^ value >> 33) &* 0xff51_afd7_ed55_8ccd
    value = (value ^ value >> 33) &* 0xc4ce_b9fe_1a85_ec53
    return value ^ value >> 33
  }
}
