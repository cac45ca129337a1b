/// A line of the file `removals` in a state directory: a recording that is about to be renamed, in order to be removed. It is on disk
/// before the recording is renamed, so that the next start can undo what a power cut has interrupted.
///
///     1c291ca3 {"id":"5e1f0a77","file":"/srv/rec/gig.mp4","device":"2049","file_system":"81985529216486895"}
package struct RemovalEntry: Equatable, Sendable {
  /// The ID of the recording's record.
  package let id: String
  /// The recording's absolute path, as bytes.
  package let path: LocalPath
  package let fileSystem: FileSystem

  package init(id: String, path: LocalPath, fileSystem: FileSystem) {
    self.id = id
    self.path = path
    self.fileSystem = fileSystem
  }

  /// The private name of the recording during its removal: hidden, so that no program takes it for a recording, and in the same
  /// directory, because a file cannot be renamed to another file system.
  package var privatePath: LocalPath { path.inDirectory(".gighive-upload-" + id) }

  // MARK: Coding

  /// The line with its line feed.
  /// - Parameter crc32: computes the CRC-32 (ISO 3309, as in zlib).
  package func encoded(crc32: ([UInt8]) -> UInt32) -> [UInt8] {
    var json = JSONWriter()
    json.add("id", id)
    json.add("file", Percent.encode(path.bytes))
    json.add("device", String(fileSystem.device))
    if let id = fileSystem.id { json.add("file_system", String(id)) }
    let content = Array(json.finished().utf8)
    return RemovalEntry.sum(of: content, crc32) + [ASCII.space] + content + [ASCII.lineFeed]
  }

  /// The entries of a file. A torn or modified line is none: nothing was renamed before its line was whole and synced.
  package static func entries(in bytes: [UInt8], crc32: ([UInt8]) -> UInt32) -> [RemovalEntry] {
    bytes.split(separator: ASCII.lineFeed).compactMap { RemovalEntry(decoding: $0, crc32: crc32) }
  }

  /// - Parameter line: without its line feed.
  private init?(decoding line: ArraySlice<UInt8>, crc32: ([UInt8]) -> UInt32) {
    let content = Array(line.dropFirst(RemovalEntry.sumLength + 1))
    guard line.count > RemovalEntry.sumLength, line[line.startIndex + RemovalEntry.sumLength] == ASCII.space,
      line.prefix(RemovalEntry.sumLength).elementsEqual(RemovalEntry.sum(of: content, crc32)),
      let json = try? JSONReader.read(content), let id = json["id"]?.string, UploadRecord.isID(id),
      let path = json["file"]?.string.flatMap({ Percent.decode($0) }), path.first == ASCII.slash, !path.contains(0),
      let device = json["device"]?.string.flatMap({ UInt64($0) })
    else { return nil }
    self.id = id
    self.path = LocalPath(bytes: path)
    fileSystem = FileSystem(device: device, id: json["file_system"]?.string.flatMap { UInt64($0) })
  }

  private static let sumLength = 8

  private static func sum(of content: [UInt8], _ crc32: ([UInt8]) -> UInt32) -> [UInt8] {
    Array(ASCII.hex(crc32(content)).utf8)
  }
}
