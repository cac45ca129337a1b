/// Which files of a directory are sent.
package struct FileSelection: Sendable {
  /// A file must match one of these; empty for the default.
  private let patterns: [Glob]
  /// A file must match none of these.
  private let exclusions: [Glob]
  /// Without patterns: whether only recordings that GigHive takes are selected, by their extension.
  private let selectsRecordings: Bool

  package init(patterns: [Glob], exclusions: [Glob] = [], selectsRecordings: Bool) {
    self.patterns = patterns
    self.exclusions = exclusions
    self.selectsRecordings = selectsRecordings
  }

  /// Whether the file is selected.
  package func takes(file name: [UInt8]) -> Bool {
    guard !FileSelection.isHidden(name), !FileSelection.isTemporary(name), !FileSelection.isSidecar(name) else {
      return false
    }
    if exclusions.contains(where: { $0.matches(name) }) { return false }
    if patterns.isEmpty { return !selectsRecordings || MediaType.isRecording(fileName: name) }
    return patterns.contains { $0.matches(name) }
  }

  /// Whether the directory in a directory is entered.
  package static func takes(directory name: [UInt8]) -> Bool {
    !isHidden(name) && !isTemporary(name) && !systemDirectories.contains { name.elementsEqual($0.utf8) }
  }

  static func isHidden(_ name: [UInt8]) -> Bool { name.first == UInt8(ascii: ".") }

  /// Whether programs give such names to unfinished files, or to their own copies.
  static func isTemporary(_ name: [UInt8]) -> Bool {
    temporaryEndings.contains { ends(name, with: $0) } || temporaryBeginnings.contains { name.starts(with: $0.utf8) }
  }

  /// Whether it is the name of a sidecar file.
  package static func isSidecar(_ name: [UInt8]) -> Bool { ends(name, with: sidecarEnding) }

  /// The suffix of a sidecar's name.
  package static let sidecarEnding = ".upload"

  /// What a program that downloads NAME appends to it for a file beside it, which is there until NAME is complete.
  package static let unfinishedEndings = [".aria2", ".part"]

  /// Whether it is the name of such a file.
  package static func isUnfinishedMark(_ name: [UInt8]) -> Bool { unfinishedEndings.contains { ends(name, with: $0) } }

  private static let temporaryEndings =
    unfinishedEndings + [
      ".tmp", ".temp", ".partial", ".filepart", ".crdownload", ".!qB", ".!sync", ".ytdl", "~", ".swp",
    ]
  private static let temporaryBeginnings = ["~$", "#"]
  /// Directories that systems create on a file system: `lost+found` of ext4, the recycle bin and metadata of Windows, and what NAS systems
  /// keep of deleted, older and indexed files.
  private static let systemDirectories = [
    "lost+found", "$RECYCLE.BIN", "System Volume Information", "@eaDir", "@Recycle", "~snapshot",
  ]

  private static func ends(_ name: [UInt8], with ending: String) -> Bool {
    ASCII.equalsIgnoringCase(name.suffix(ending.utf8.count), ending.utf8)
  }
}
