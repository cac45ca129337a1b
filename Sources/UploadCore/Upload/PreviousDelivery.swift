/// An earlier delivery of the same recording to the same destination.
public struct PreviousDelivery: Equatable, Sendable {
  /// The ID of its record.
  public let upload: String
  /// GigHive's number for the recording.
  public let assetID: Int64?
  /// When the server confirmed it, in seconds since 1970 by this machine's clock; nil if it is not known.
  public let deliveredAt: Int64?

  package init(upload: String, _ delivery: IndexedDelivery) {
    self.upload = upload
    assetID = delivery.assetID
    deliveredAt = delivery.deliveredAt
  }

  package init(_ record: UploadRecord) {
    self.init(upload: record.id, IndexedDelivery(record))
  }
}
