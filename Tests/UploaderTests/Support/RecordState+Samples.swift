import Uploader

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
