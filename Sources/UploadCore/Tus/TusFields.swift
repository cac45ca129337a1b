/// The header fields of tus 1.0.0 (tus.io/protocols/resumable-upload).
package enum TusFields {
  package static let version = "1.0.0"
  /// In every request but OPTIONS.
  static let resumable = Field("Tus-Resumable", version)
  package static let contentType = Field("Content-Type", "application/offset+octet-stream")
  /// With the creation of an upload that is joined with others later (the concatenation extension).
  static let partial = Field("Upload-Concat", "partial")

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
  var haveTusProof: Bool { first(TusFields.resumable.name) != nil }

  /// The versions that a tus server names in a 412, separated by commas: its own is in every response. Empty if it names none.
  var offeredTusVersions: String { first("Tus-Version") ?? first(TusFields.resumable.name) ?? "" }

  /// The value of a field with a length or an offset, in decimal digits; nil if it is missing or malformed, or if there are several that
  /// contradict each other.
  package func tusNumber(_ name: String) -> Int64? {
    let texts = values(of: name)
    guard let text = texts.first, !text.isEmpty, texts.allSatisfy({ $0 == text }) else { return nil }
    return ASCII.decimal(text.utf8)
  }
}

/// What a tus server supports, from its response to OPTIONS.
package struct TusCapabilities: Equatable, Sendable {
  package enum ChecksumAlgorithm: String, Equatable, Sendable { case sha256, sha1 }

  var createsWithUpload = false
  package var defersLength = false
  package var terminates = false
  /// Whether it joins uploads.
  var concatenates = false
  /// Tus-Max-Size, in bytes.
  package var maximumSize: Int64?
  /// The best common algorithm, if the server can check each PATCH.
  package var checksum: ChecksumAlgorithm?

  package init() {}

  /// - Returns: nil if the fields are not those of a tus server.
  init?(_ fields: [Field]) throws(TusError) {
    let versions = fields.listMembers(of: "Tus-Version")
    guard !versions.isEmpty || fields.haveTusProof else { return nil }
    guard versions.isEmpty || versions.contains(TusFields.version) else {
      throw .versionNotSupported(offered: versions.joined(separator: ", "))
    }
    let extensions = fields.listMembers(of: "Tus-Extension")
    createsWithUpload = extensions.contains("creation-with-upload")
    defersLength = extensions.contains("creation-defer-length")
    terminates = extensions.contains("termination")
    concatenates = extensions.contains("concatenation")
    maximumSize = fields.tusNumber("Tus-Max-Size")
    if maximumSize == 0 { maximumSize = nil }
    if extensions.contains("checksum") {
      let algorithms = fields.listMembers(of: "Tus-Checksum-Algorithm")
      // Unless it says otherwise, a server with the extension supports at least SHA-1.
      if algorithms.contains("sha256") {
        checksum = .sha256
      } else if algorithms.contains("sha1") || fields.first("Tus-Checksum-Algorithm") == nil {
        checksum = .sha1
      }
    }
  }
}
