/// An earlier delivery of the same recording to the same destination.
public struct PreviousDelivery: Equatable, Sendable {
  /// How certain it is that the file has the content that was delivered. Its size, modification time and edges are the same, or a SHA-256
  /// tells.
  package enum Evidence: Equatable, Sendable {
    /// Nothing has touched the file since its content was last known.
    case untouched
    /// It may have been written to, or is another file. Its SHA-256 can be compared.
    case comparable
    /// The same, but no SHA-256 is known.
    case incomparable
  }

  /// The ID of its record.
  public let upload: String
  /// GigHive's number for the recording.
  public let assetID: Int64?
  /// When the server confirmed it, in seconds since 1970 by this machine's clock; nil if it is not known.
  public let deliveredAt: Int64?
  package let evidence: Evidence
  /// The event that it was delivered to; nil if that is the one of the request.
  package let otherEvent: String?

  /// Whether the file is certain to have the content that was delivered: nothing has touched it, or its SHA-256 was compared. Otherwise only
  /// its name, size, modification time and edges are the same.
  public var isCertain: Bool { evidence == .untouched }

  /// Whether the server has deleted it since, as this program asked it to.
  public package(set) var isDeleted = false

  package init(
    upload: String, _ delivery: IndexedDelivery, _ evidence: Evidence = .untouched, otherEvent: String? = nil
  ) {
    self.upload = upload
    assetID = delivery.assetID
    deliveredAt = delivery.deliveredAt
    self.evidence = evidence
    self.otherEvent = otherEvent
  }

  package init(_ record: UploadRecord, _ evidence: Evidence = .untouched, otherEvent: String? = nil) {
    self.init(upload: record.id, IndexedDelivery(record), evidence, otherEvent: otherEvent)
    isDeleted = record.delivery?.deletion == .done
  }

  /// - Parameters:
  ///   - record: of the delivery.
  ///   - own: a record of the request.
  ///   - changed: the file's status time.
  package init(_ record: UploadRecord, of own: UploadRecord, changed: StatusTime) {
    let event = record.destination.event
    self.init(
      record, own.evidence(of: record, changed: changed), otherEvent: event == own.destination.event ? nil : event)
  }
}

/// What the server confirmed about a delivery.
public struct Receipt: Equatable, Sendable {
  /// GigHive's number for the recording.
  public var assetID: Int64?
  /// Whether the server's SHA-256 matches ours.
  public var isChecksumVerified = false
  /// Whether the server already had the same recording (409 with our checksum).
  public var wasAlreadyThere = false
  /// Whether only a web page says so, and nothing proves that it is the server's: without TLS, or without a verified certificate.
  public var isUnprovedPage = false
  /// The token that deletes the recording; a secret.
  public var deleteToken: String?

  package init() {}
}
