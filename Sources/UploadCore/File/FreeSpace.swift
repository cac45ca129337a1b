/// What a file system has left for a user who is not root.
package struct FreeSpace: Equatable, Sendable {
  /// In bytes.
  package let bytes: Int64
  /// How many files can be created. Very large where the file system has no fixed number of inodes.
  package let files: Int64

  package init(bytes: Int64, files: Int64) {
    self.bytes = bytes
    self.files = files
  }

  /// What a recorder can use of it, in bytes: nothing if it cannot create files.
  package var usable: Int64 { files > 0 ? bytes : 0 }

  /// "only 1.2 MB are free instead of 4.0 GB"
  package func shortage(ofWanted wanted: Int64) -> String {
    bytes < wanted
      ? "only " + SizeText.short(bytes) + " are free instead of " + SizeText.short(wanted)
      : "no more files can be created (the file system has no free inodes)"
  }
}
