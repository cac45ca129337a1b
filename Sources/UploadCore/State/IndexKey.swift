/// What a record is looked up by: a 64-bit hash. Two different things may have the same; the record itself tells.
package struct IndexKey: Equatable, Sendable {
  /// What is hashed, so that a path is never taken for a digest.
  private enum Kind: UInt8 {
    case path = 1
    case file, content, asset, unreadable, mark
  }

  package let hash: UInt64

  private init(_ kind: Kind, _ texts: [[UInt8]] = [], numbers: [UInt64] = []) {
    // FNV-1a, and a last mixing of all bits.
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

  /// The upload of what lies there.
  static func path(_ record: UploadRecord) -> IndexKey { IndexKey(.path, [Array(record.endpoint.utf8), record.path]) }

  /// The upload of the same file on the disk, whatever it is called.
  static func file(_ record: UploadRecord) -> IndexKey {
    let identity = record.identity
    return IndexKey(
      .file, [Array(record.endpoint.utf8), Array(identity.edges.utf8)],
      numbers: contentNumbers(identity) + [identity.device, identity.inode])
  }

  /// The upload of a file of the same name and content, that may have come to another disk.
  static func content(_ record: UploadRecord) -> IndexKey {
    let name = Array(LocalPath(bytes: record.path).lastComponentBytes)
    return IndexKey(
      .content, [Array(record.endpoint.utf8), Array(record.identity.edges.utf8), name],
      numbers: contentNumbers(record.identity))
  }

  private static func contentNumbers(_ identity: FileIdentity) -> [UInt64] {
    [identity.size, identity.modifiedSeconds, identity.modifiedNanoseconds].map { UInt64(bitPattern: $0) }
  }

  /// The delivery whose delete token is that of the recording.
  package static func asset(_ id: Int64, endpoint: String) -> IndexKey {
    IndexKey(.asset, [Array(endpoint.utf8)], numbers: [UInt64(bitPattern: id)])
  }

  /// All records that could not be read.
  package static let unreadable = IndexKey(.unreadable)

  /// A number for the state of a directory, that is no other's but for one case in 2^64; not 0.
  package static func mark(_ numbers: [UInt64], boot: [UInt8]) -> UInt64 {
    max(1, IndexKey(.mark, [boot], numbers: numbers).hash)
  }

  /// Spreads a change of one bit over all (the finalizer of MurmurHash3).
  static func mixed(_ value: UInt64) -> UInt64 {
    var value = value
    value = (value ^ value >> 33) &* 0xff51_afd7_ed55_8ccd
    value = (value ^ value >> 33) &* 0xc4ce_b9fe_1a85_ec53
    return value ^ value >> 33
  }
}
