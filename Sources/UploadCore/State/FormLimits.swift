/// The lengths from which servers, or proxies in front of them, have refused forms, so that later recordings of GigHive go over tus at once. A
/// small file in the state directory, with a line for each destination: `LENGTH TIME ENDPOINT`.
package struct FormLimits: Equatable, Sendable {
  private struct Entry: Equatable {
    let endpoint: String
    /// The length of the shortest refused file, in bytes.
    let length: Int64
    /// When it was refused, in seconds since 1970.
    let refusedAt: Int64
  }

  /// Oldest first.
  private var entries: [Entry] = []

  /// - Parameter bytes: the file's content. What is not such a line is left out.
  package init(decoding bytes: [UInt8]) {
    for line in bytes.split(separator: ASCII.lineFeed) {
      let words = line.split(separator: ASCII.space)
      guard words.count == 3, let length = ASCII.decimal(words[0]), let refusedAt = ASCII.decimal(words[1]),
        length > 0, refusedAt <= Limits.unixSeconds
      else { continue }
      entries.append(
        Entry(endpoint: String(decoding: Array(words[2]), as: UTF8.self), length: length, refusedAt: refusedAt))
    }
  }

  package var encoded: [UInt8] {
    var text = ""
    for entry in entries {
      text += String(entry.length) + " " + String(entry.refusedAt) + " "
      text += entry.endpoint + "\n"
    }
    return Array(text.utf8)
  }

  /// - Parameter now: in seconds since 1970.
  /// - Returns: the length from which forms are refused, as far as the last week has shown; nil if it has not.
  package func length(at endpoint: String, now: Int64) -> Int64? {
    // A time in the future is from before the clock was set back.
    entries.first { $0.endpoint == endpoint && (0..<Limits.formLimitSeconds).contains(now - $0.refusedAt) }?.length
  }

  /// A form with a file of this length was refused because of its length.
  package mutating func noteRefusal(of length: Int64, at endpoint: String, now: Int64) {
    let shortest = min(length, self.length(at: endpoint, now: now) ?? length)
    entries.removeAll { $0.endpoint == endpoint }
    entries.append(Entry(endpoint: endpoint, length: shortest, refusedAt: now))
    entries.removeFirst(max(0, entries.count - Limits.formLimitCount))
  }

  /// A form with a file of this length was accepted.
  package mutating func noteSuccess(of length: Int64, at endpoint: String) {
    entries.removeAll { $0.endpoint == endpoint && $0.length <= length }
  }
}

extension Limits {
  /// How long a refused form is remembered, in seconds (a week).
  static let formLimitSeconds: Int64 = 604_800
  /// The destinations whose refused forms are remembered.
  static let formLimitCount = 16
}
