/// A file system, such as that of a stick.
package struct FileSystem: Equatable, Sendable {
  /// The device number. It can change when the file system is mounted again, and be that of the next stick.
  package let device: UInt64
  /// The file system's own ID; nil if it has none.
  package let id: UInt64?

  package init(device: UInt64, id: UInt64?) {
    self.device = device
    self.id = id
  }

  /// What the status of its files proves.
  package enum Kind: Equatable, Sendable {
    /// A file keeps its inode number as long as it exists, and any write changes its ctime.
    case stable
    /// The number is assigned when a file is first used, and the next mount gives it to another file.
    case unstable
    /// As well, times are rounded to two seconds and kept as local time, and there is no ctime: vfat, exfat.
    case fat
  }

  /// - Parameter type: its type in `statfs(2)`; 0 if it is not known.
  package static func kind(type: UInt64) -> Kind {
    if fatTypes.contains(type) { return .fat }
    return type == 0 || sharedTypes.contains(type) ? .unstable : .stable
  }

  /// Whether ``id`` is the serial number of a card, which it keeps wherever it is inserted.
  /// - Parameter type: its type in `statfs(2)`.
  package static func hasSerialNumber(type: UInt64) -> Bool { type == 0x4d44 }

  /// Whether other machines can write to its files, which neither events nor leases reveal here. FUSE counts as such.
  /// - Parameter type: its type in `statfs(2)`.
  package static func isShared(type: UInt64) -> Bool { sharedTypes.contains(type) }

  private static let fatTypes: [UInt64] = [0x4d44, 0x2011_bab0]  // vfat, exfat

  /// NFS, SMB (three generations), 9P, AFS, Ceph, Coda, NCP; FUSE, such as sshfs and ntfs-3g (linux/magic.h).
  private static let sharedTypes: [UInt64] = [
    0x6969, 0x517b, 0xff53_4d42, 0xfe53_4d42, 0x0102_1997, 0x5346_414f, 0x00c3_6400, 0x7375_7245, 0x564c, 0x6573_5546,
  ]

  /// Whether a power cut leaves either all of a rename or nothing of it. FAT and exFAT have no journal; FUSE may be backed by either.
  /// - Parameter type: its type in `statfs(2)`; 0 if it is not known.
  package static func hasAtomicRename(type: UInt64) -> Bool { ![0x4d44, 0x2011_bab0, 0x6573_5546].contains(type) }

  /// Whether the space of a removed file is free at once, so that what is missing then was taken by others. Some free it only seconds later,
  /// and others keep it for a snapshot.
  /// - Parameter type: its type in `statfs(2)`; 0 if it is not known.
  package static func freesAtOnce(type: UInt64) -> Bool {
    fatTypes.contains(type) || [0xef53, 0xf2f5_2010].contains(type)  // ext2 to ext4, f2fs
  }

  /// Whether it is the same one, as far as both are known.
  package func isSame(as other: FileSystem) -> Bool {
    guard let id, let otherID = other.id else { return device == other.device }
    return id == otherID
  }
}

/// What a file system has left for a user who is not root.
package struct FreeSpace: Equatable, Sendable {
  /// In bytes.
  package let bytes: Int64
  /// How many files can be created. Very large where the file system has no fixed number of inodes.
  package let files: Int64
  /// ``FileSystem/freesAtOnce(type:)``
  package let freesAtOnce: Bool

  package init(bytes: Int64, files: Int64, freesAtOnce: Bool = false) {
    self.bytes = bytes
    self.files = files
    self.freesAtOnce = freesAtOnce
  }

  /// What a recorder can use of it, in bytes: nothing if it cannot create files.
  package var usable: Int64 { files > 0 ? bytes : 0 }

  /// "only 1.2 MB is free instead of 4.0 GB"
  package func shortage(ofWanted wanted: Int64) -> String {
    bytes < wanted
      ? "only " + SizeText.short(bytes) + " is free instead of " + SizeText.short(wanted)
      : "no more files can be created (the file system has no free inodes)"
  }
}
