/// The header fields of tus 1.0.0 (tus.io/protocols/resumable-upload).
package enum TusFields {
  package static let version = "1.0.0"
  /// In every request but OPTIONS.
  package static let resumable = Field("Tus-Resumable", version)
  package static let contentType = Field("Content-Type", "application/offset+octet-stream")

  /// The value of Upload-Metadata: pairs of a key and the Base64 of its value. Keys are unique: a later value replaces an
  /// earlier one.
  package static func metadata(_ pairs: [FormField]) throws(TusError) -> String {
    var elements: [String] = []
    for (index, pair) in pairs.enumerated() {
      guard isKey(pair.name) else {
        throw .invalidMetadataKey(PrintableText.line(pair.name))
      }
      if pairs[(index + 1)...].contains(where: { $0.name == pair.name }) { continue }
      elements.append(pair.bytes.isEmpty ? pair.name : pair.name + " " + Base64.encode(pair.bytes))
    }
    return elements.joined(separator: ",")
  }

  package static func isKey(_ name: String) -> Bool { !name.isEmpty && name.utf8.allSatisfy(isKeyCharacter) }

  /// Visible ASCII except the comma, which separates pairs.
  private static func isKeyCharacter(_ byte: UInt8) -> Bool {
    byte > ASCII.space && byte < ASCII.delete && byte != UInt8(ascii: ",")
  }
}

extension [Field] {
  /// Whether the response is from a tus server: nothing else sends Tus-Resumable.
  package var haveTusProof: Bool { first(TusFields.resumable.name) != nil }

  /// The versions that a tus server names in a 412, separated by commas: its own is in every response. Empty if it names none.
  var offeredTusVersions: String { first("Tus-Version") ?? first(TusFields.resumable.name) ?? "" }

  /// The value of a field with a length or an offset, in decimal digits; nil if it is missing or malformed.
  package func tusNumber(_ name: String) -> Int64? {
    guard let text = first(name), !text.isEmpty else { return nil }
    return ASCII.decimal(text.utf8)
  }
}
