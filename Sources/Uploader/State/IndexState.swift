/// What this process knows about the index of its state directory.
struct IndexState {
  /// The generation of the verified index; nil for none.
  var verified: UInt64?
  /// The stamp of the directory after this process's last change; nil if another process may have changed the directory since the
  /// index was verified or found marked.
  var stamp: DirectoryStamp?
  var boot: [UInt8]?
  /// The index, opened without its lock to recognize deliveries.
  var unlocked: RecordIndex<UnlockedIndex>?
  /// The working directory, with a slash at its end; nil if it was not asked for, or if there is none.
  var workingDirectory: LocalPath?
  /// Whether the index cannot be used, so that all records are read instead.
  var isBroken = false
}
