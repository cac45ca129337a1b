/// What a process knows of the index of its state directory.
struct IndexState {
  /// The one that has been looked through; nil for none.
  var verified: UInt64?
  /// What the directory is like after this process's last change, as long as nobody else has changed it since the index was
  /// looked through or found to be marked; nil if that is not known.
  var stamp: DirectoryStamp?
  var boot: [UInt8]?
  /// Can it not be used, so that all records are read instead?
  var isBroken = false
}
