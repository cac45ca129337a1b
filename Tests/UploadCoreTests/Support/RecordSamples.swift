import UploadCore

/// The identity of a file.
func identity(
  device: UInt64 = 1, inode: UInt64 = 2, size: Int64 = 300, seconds: Int64 = 1_795_000_000, nanoseconds: Int64 = 5,
  edges: String = "abcd", hasLocalTimes: Bool = false
) -> FileIdentity {
  FileIdentity(
    device: device, inode: inode, hasLocalTimes: hasLocalTimes, size: size, modifiedSeconds: seconds,
    modifiedNanoseconds: nanoseconds, edges: edges)
}

extension UploadRecord {
  /// A new record.
  static func sample(
    _ file: FileIdentity = identity(), id: String = "5e1f0a77", path: LocalPath = "/srv/set.wav",
    endpoint: String = "https://hive/", isObject: Bool = false, event: String = ""
  ) -> UploadRecord {
    UploadRecord(
      id: id, RecordedFile(path: path, identity: file),
      to: RecordedDestination(endpoint: endpoint, isObject: isObject, event: event))
  }
}

extension RecordState {
  /// A state of this phase.
  static func sample(_ phase: UploadRecord.Phase) -> RecordState {
    var upload = UnfinishedUpload()
    switch phase {
    case .pending: break
    case .uploaded: upload.remote = RemoteUpload(url: "https://hive/files/1", isWhole: true)
    case .failed: upload.failure = .notDelivered
    case .delivered: return .delivered(RecordedDelivery())
    }
    return .unfinished(upload)
  }
}
