import Uploader

/// The options that a sidecar or a list may contain: what describes the recording, but never where it goes.
enum DescriptiveOptions {
  private static let options: [Option] = [
    .label, .eventDate, .orgName, .eventType, .participants, .keywords, .location, .rating, .notes, .field,
  ]

  /// - Parameter place: for messages, such as "FILE:12: ".
  static func option(_ name: [UInt8], _ place: String) throws(UsageError) -> Option {
    if let option = options.first(where: { OptionTable.name(of: $0).utf8.elementsEqual(name) }) { return option }
    if OptionTable.all.contains(where: { $0.name.utf8.elementsEqual(name) }) {
      throw UsageError(
        place + PrintableText.line(String(decoding: name, as: UTF8.self))
          + " is not allowed here, only options that describe the recording.")
    }
    let nearest = Suggestion.nearest(to: name, among: options.map { OptionTable.name(of: $0) })
    throw UsageError(
      place + "unknown option \"" + PrintableText.line(String(decoding: name, as: UTF8.self)) + "\"."
        + (nearest.map { " Did you mean " + $0 + "?" } ?? ""))
  }
}
