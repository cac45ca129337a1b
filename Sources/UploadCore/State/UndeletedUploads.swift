/// What servers have not deleted of uploads that nothing needs any more: the parts of a joined recording, or of one that was sent again. A small
/// file in the state directory, with the URL of an upload in each line, the oldest first.
package struct UndeletedUploads: Equatable, Sendable {
  package private(set) var urls: [String] = []

  /// - Parameter bytes: the file's content. What is no URL is left out, as is a line that does not end: a part of a URL could be that of something
  ///   else.
  package init(decoding bytes: [UInt8]) {
    for line in bytes.split(separator: ASCII.lineFeed, omittingEmptySubsequences: false).dropLast() {
      if let url = try? TargetURI(String(decoding: Array(line), as: UTF8.self)) { urls.append(url.text) }
    }
  }

  package var encoded: [UInt8] { urls.flatMap { Array($0.utf8) + [ASCII.lineFeed] } }

  /// The uploads at this origin.
  package func uploads(at origin: String) -> [TargetURI] {
    urls.compactMap { try? TargetURI($0) }.filter { $0.origin == origin }
  }

  /// The oldest are left to the server if the file would be too long.
  package mutating func add(_ uploads: [TargetURI]) {
    for upload in uploads where !urls.contains(upload.text) { urls.append(upload.text) }
    var length = urls.reduce(0) { $0 + $1.utf8.count + 1 }
    while length > Limits.undeletedLength { length -= urls.removeFirst().utf8.count + 1 }
  }

  package mutating func remove(_ upload: TargetURI) { urls.removeAll { $0 == upload.text } }
}
