/// The parts of one recording on a server that joins them at the end.
package struct UploadedParts: Equatable, Sendable {
  /// Names the upload in the metadata of what the parts become, which shows so whose it is. Not a secret.
  package let token: String
  /// The length of each part but the last one, in bytes.
  package let length: Int64
  /// What the server calls each part (ETag), from the first one; empty for one that it does not have.
  package private(set) var tags: [String] = []

  /// How long parts are, in bytes, if that makes no more of them than ``Limits/partCount``.
  package struct Lengths: Sendable {
    let shortest: Int64
    let longest: Int64

    package static let s3 = Lengths(shortest: Limits.partLength, longest: Limits.partLength)
    package static let nextcloud = Lengths(shortest: 2 * Limits.partLength, longest: 8 * Limits.partLength)
  }

  /// The parts of a recording of this size, in bytes.
  package init(token: String, ofSize size: Int64, _ lengths: Lengths = .s3) {
    self.token = token
    func rounded(_ length: Int64) -> Int64 {
      (length + Limits.partLengthStep - 1) / Limits.partLengthStep * Limits.partLengthStep
    }
    let wanted = min(max(rounded(size / Limits.wantedPartCount), lengths.shortest), lengths.longest)
    length = max(wanted, rounded((size + Int64(Limits.partCount) - 1) / Int64(Limits.partCount)))
  }

  /// - Returns: nil if no recording of this size, in bytes, has such parts.
  package init?(token: String, length: Int64, tags: [String], ofSize size: Int64) {
    guard !token.isEmpty, token.utf8.count <= Limits.partTagLength, length > 0,
      (size - 1) / length < Int64(Limits.partCount), Int64(tags.count) <= (size - 1) / length + 1,
      tags.allSatisfy({ $0.isEmpty || UploadedParts.isTag($0) })
    else { return nil }
    (self.token, self.length, self.tags) = (token, length, tags)
  }

  /// Whether it can be kept, and sent back in XML as it is.
  package static func isTag(_ text: String) -> Bool {
    (1...Limits.partTagLength).contains(text.utf8.count)
      && text.utf8.allSatisfy { $0 > ASCII.space && $0 < ASCII.delete && !"\"&<>".utf8.contains($0) }
  }

  /// The part with this number, from 1, of a recording of `size` bytes.
  package func range(of number: Int, in size: Int64) -> (offset: Int64, length: Int64) {
    let offset = Int64(number - 1) * length
    return (offset, min(length, size - offset))
  }

  package func count(in size: Int64) -> Int { Int((size - 1) / length) + 1 }

  /// The number of the first part that is missing; nil if there is none.
  package func firstMissing(in size: Int64) -> Int? {
    if let index = tags.firstIndex(of: "") { return index + 1 }
    return tags.count < count(in: size) ? tags.count + 1 : nil
  }

  /// How much there is from the start, in bytes.
  package func beginning(of size: Int64) -> Int64 {
    firstMissing(in: size).map { Int64($0 - 1) * length } ?? size
  }

  /// The end of the last part that there is, in bytes.
  package func end(in size: Int64) -> Int64 {
    tags.lastIndex { !$0.isEmpty }.map { min(Int64($0 + 1) * length, size) } ?? 0
  }

  /// How much there is in all, in bytes.
  package func total(in size: Int64) -> Int64 {
    tags.indices.reduce(0) { tags[$1].isEmpty ? $0 : $0 + range(of: $1 + 1, in: size).length }
  }

  /// - Parameter tag: nil if the server does not have the part.
  package mutating func set(_ tag: String?, of number: Int) {
    while tags.count < number { tags.append("") }
    tags[number - 1] = tag ?? ""
  }
}
