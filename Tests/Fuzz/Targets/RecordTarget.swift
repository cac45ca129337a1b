/// A state record. The input is a record's file, its JSON alone, or else lines: the texts of a record to be written.
enum RecordTarget {
  static func run(_ input: [UInt8]) {
    if input.starts(with: "gighive-upload".utf8) {
      // With the sum that it says, so that mutations get past it.
      checkAccepted(input) { _ in statedSum(input) }
      checkAccepted(input, crc32: crc32)
    } else if input.first == UInt8(ascii: "{") {
      checkAccepted(file(input), crc32: crc32)
    } else {
      checkWritten(input.lines(9))
    }
  }

  private static func decoded(_ bytes: [UInt8], _ crc32: ([UInt8]) -> UInt32) -> UploadRecord? {
    try? UploadRecord(decoding: bytes, crc32: crc32)
  }

  /// What is accepted can be written, and is then the same record, byte for byte.
  private static func checkAccepted(_ bytes: [UInt8], crc32: ([UInt8]) -> UInt32) {
    guard let record = decoded(bytes, crc32) else { return }
    require(bytes.count <= Limits.recordLength, "accepted what is over the limit")
    require(UploadRecord.isID(record.id), "an invalid ID")
    require(!record.file.path.bytes.isEmpty && record.file.path.cString != nil, "a path that cannot be opened")
    require(record.offset >= 0 && record.offset <= record.file.identity.size, "an offset outside the file")
    let written = record.encoded(crc32: self.crc32)
    // Escapes can make it longer.
    if written.count <= Limits.recordLength { checkRead(written, record) }
  }

  private static func checkRead(_ written: [UInt8], _ record: UploadRecord) {
    guard let again = decoded(written, crc32) else { fatalError("broken rule: cannot read what it wrote") }
    require(again == record, "another record when it is read again")
    require(again.encoded(crc32: crc32) == written, "other bytes when it is written again")
    let position = written.chosenPosition
    require(decoded(Array(written[..<position]), crc32) == nil, "accepted its first \(position) bytes")
    require(decoded(written + [0x0A], crc32) == nil, "accepted what is longer than it says")
    var flipped = written
    flipped[position] ^= 1 << (written[position] & 7)
    require(decoded(flipped, crc32) == nil, "accepted a record with another bit at \(position)")
  }

  private static func checkWritten(_ lines: [[UInt8]]) {
    let path = lines[0].filter { $0 != 0 }
    guard !path.isEmpty else { return }
    let numbers = lines[1].split(separator: 0x20).map { ASCII.decimal($0) ?? -1 } + [Int64](repeating: 0, count: 4)
    let size = max(numbers[0], 1)
    let identity = FileIdentity(
      device: UInt64.max, inode: UInt64(bitPattern: numbers[1]), hasLocalTimes: lines[2].count % 2 == 1, size: size,
      modifiedSeconds: numbers[2], modifiedNanoseconds: numbers[3], edges: lines[2].text)
    var record = UploadRecord(
      id: "5e1f0a77", RecordedFile(path: LocalPath(bytes: path), identity: identity),
      to: RecordedDestination(endpoint: lines[3].text))
    record.note = lines[8].text
    var upload = UnfinishedUpload()
    if !lines[4].isEmpty {
      upload.remote = RemoteUpload(
        url: lines[4].text, expires: lines[5].isEmpty ? nil : lines[5].text, offset: size / 2,
        isWhole: lines[4].count % 2 == 1)
      upload.doubt = [nil, .touched, .replaced][lines[3].count % 3]
      if numbers[3] > 0 {
        upload.sent = SentPart(
          length: max(size / 2, 1), sha256: lines[2].text,
          statusTime: StatusTime(seconds: numbers[2], nanoseconds: numbers[3]))
      }
    }
    upload.failure = [nil, .notDelivered, .mayBeStored][lines[6].count % 3]
    upload.message = lines[6].isEmpty ? nil : lines[6].text
    upload.lastByteMayBeSent = lines[5].count % 2 == 1
    upload.assetID = lines[7].isEmpty ? nil : numbers[3]
    record.state = .unfinished(upload)
    if lines[7].count % 2 == 1 {
      var delivery = RecordedDelivery(of: record)
      delivery.deleteToken = lines[7].text
      record.state = .delivered(delivery)
    }
    let written = record.encoded(crc32: crc32)
    if written.count <= Limits.recordLength { checkRead(written, record) }
  }

  // MARK: The line before the JSON

  private static func file(_ content: [UInt8]) -> [UInt8] {
    let length = String(content.count)
    let sum = String(crc32(content), radix: 16)
    let head =
      "gighive-upload record 2 " + String(repeating: "0", count: 10 - length.utf8.count) + length + " "
      + String(repeating: "0", count: 8 - sum.utf8.count) + sum + "\n"
    return Array(head.utf8) + content
  }

  private static func statedSum(_ input: [UInt8]) -> UInt32 {
    let digits = input.prefix { $0 != 0x0A }.suffix(8)
    return UInt32(String(decoding: digits, as: UTF8.self), radix: 16) ?? 0
  }

  /// ISO 3309.
  private static func crc32(_ bytes: [UInt8]) -> UInt32 {
    ~bytes.reduce(0xFFFF_FFFF) { sum, byte in sum >> 8 ^ table[Int((sum ^ UInt32(byte)) & 0xFF)] }
  }

  private static let table: [UInt32] = (0..<256).map { index in
    (0..<8).reduce(UInt32(index)) { sum, _ in sum >> 1 ^ (sum & 1 == 1 ? 0xEDB8_8320 : 0) }
  }
}
