/// The header fields of tus 1.0.0 (tus.io/protocols/resumable-upload).
package enum TusFields {
  package static let version = "1.0.0"
  /// In every request but OPTIONS.
  package static let resumable = Field("Tus-Resumable", version)
  package static let contentType = Field("Content-Type", "application/offset+octet-stream")

  /// The value of Upload-Metadata: pairs of a key and the base 64 of its value. Keys are unique: a later value replaces an
  /// earlier one.
  package static func metadata(_ pairs: [FormField]) throws(TusError) -> String {
    var elements: [String] = []
    for (index, pair) in pairs.enumerated() {
      guard !pair.name.isEmpty, pair.name.utf8.allSatisfy(isKeyCharacter) else {
        throw .invalidMetadataKey(PrintableText.line(pair.name))
      }
      if pairs[(index + 1)...].contains(where: { $0.name == pair.name }) { continue }
      elements.append(pair.bytes.isEmpty ? pair.name : pair.name + " " + Base64.encode(pair.bytes))
    }
    return elements.joined(separator: ",")
  }

  /// Visible ASCII without the comma that separates pairs.
  private static func isKeyCharacter(_ byte: UInt8) -> Bool {
    byte > ASCII.space && byte < ASCII.delete && byte != UInt8(ascii: ",")
  }
}

/// What a tus server offers, as its answer to OPTIONS says.
package struct TusOffer: Equatable, Sendable {
  package enum ChecksumAlgorithm: String, Equatable, Sendable { case sha256, sha1 }

  package var createsWithUpload = false
  package var defersLength = false
  package var terminates = false
  /// Tus-Max-Size, in bytes.
  package var maximumSize: Int64?
  /// The best algorithm that both sides know, if the server checks each PATCH.
  package var checksum: ChecksumAlgorithm?

  package init() {}

  /// - Returns: nil if the fields are not those of a tus server.
  init?(_ fields: [Field]) throws(TusError) {
    let versions = fields.listMembers(of: "Tus-Version")
    guard !versions.isEmpty || fields.first("Tus-Resumable") != nil else { return nil }
    guard versions.isEmpty || versions.contains(TusFields.version) else {
      throw .versionNotSupported(offered: versions.joined(separator: ", "))
    }
    let extensions = fields.listMembers(of: "Tus-Extension")
    createsWithUpload = extensions.contains("creation-with-upload")
    defersLength = extensions.contains("creation-defer-length")
    terminates = extensions.contains("termination")
    maximumSize = fields.tusNumber("Tus-Max-Size")
    if maximumSize == 0 { maximumSize = nil }
    if extensions.contains("checksum") {
      let algorithms = fields.listMembers(of: "Tus-Checksum-Algorithm")
      // A server with the extension has SHA-1 at least, unless it says otherwise.
      if algorithms.contains("sha256") {
        checksum = .sha256
      } else if algorithms.contains("sha1") || fields.first("Tus-Checksum-Algorithm") == nil {
        checksum = .sha1
      }
    }
  }
}

extension [Field] {
  /// A field whose value is a length or an offset: decimal digits. nil if it is missing or anything else.
  package func tusNumber(_ name: String) -> Int64? {
    guard let text = first(name), !text.isEmpty else { return nil }
    return ASCII.decimal(text.utf8)
  }
}
