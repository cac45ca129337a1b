/// What a tus server supports, from its response to OPTIONS.
package struct TusCapabilities: Equatable, Sendable {
  package enum ChecksumAlgorithm: String, Equatable, Sendable { case sha256, sha1 }

  package var createsWithUpload = false
  package var defersLength = false
  package var terminates = false
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
