/// The plan of one upload: the caller's request, the state of the file, and what an earlier process left.
package struct UploadPlan: Sendable {
  package let request: UploadRequest
  /// The file's size in bytes.
  package let size: Int64
  /// Whether it is sent while it grows. Then its size is not known yet, and nothing is stored before it has ended.
  package let isGrowing: Bool
  /// Whether its recorder only appends to it.
  let isAppended: Bool
  /// What is known of an earlier attempt.
  package private(set) var previous: UnfinishedUpload
  /// What an earlier attempt had sent when this process began, in bytes, if the location does not show it.
  private(set) var resumedFrom: Int64?
  /// The ID of the upload's record; nil if it has none.
  package let recordID: String?
  /// The upload of the file's former content, which is ended on the server; nil if there is none.
  package private(set) var superseded: TargetURI?
  /// When the file was modified, in seconds since 1970; 0 if that is not known.
  package let modifiedSeconds: Int64
  /// Whether the credentials are those of a GigHive guest.
  package let isGuest: Bool
  package let verifiesCertificate: Bool
  package private(set) var connections: ConnectionLimit
  /// Separates the parts of a form.
  package let boundary: Boundary

  /// - Parameters:
  ///   - request: the request. An event form must have its date.
  ///   - size: in bytes, greater than zero.
  package init(
    _ request: UploadRequest, size: Int64, isGrowing: Bool = false, isAppended: Bool = false,
    previous: UnfinishedUpload = UnfinishedUpload(), recordID: String? = nil, superseded: TargetURI? = nil,
    modifiedSeconds: Int64 = 0, isGuest: Bool = false, verifiesCertificate: Bool = true,
    connections: ConnectionLimit = .count(1), boundary: Boundary
  ) {
    precondition(size > 0)
    self.request = request
    self.size = size
    self.isGrowing = isGrowing
    self.isAppended = isAppended
    self.previous = previous
    self.recordID = recordID
    self.superseded = superseded
    self.modifiedSeconds = modifiedSeconds
    self.isGuest = isGuest
    self.verifiesCertificate = verifiesCertificate
    self.connections = connections
    self.boundary = boundary
  }

  /// Whether the file's SHA-256 is computed. An upload that was begun with it keeps it; the parts of an S3 object have their own.
  package var computesSHA256: Bool {
    request.computesSHA256 || (request.isForS3 ? !sendsParts : previous.sent != nil)
  }

  /// Whether its MD5 is computed, too: many object stores say no other checksum.
  package var computesMD5: Bool {
    if case .put = request.destination { request.computesSHA256 } else { false }
  }

  /// Whether it is sent in parts that the server joins.
  var sendsParts: Bool {
    guard request.joinsParts else { return false }
    if isGrowing || previous.parts?.areGrowing ?? false || isForPublicLink { return true }
    return size >= Limits.partsFrom
      && (!request.isForTus || connections.number ?? 1 > 1 && maySendUploadsAsParts && previous.location == nil)
  }

  /// Whether it goes to a public link of a Nextcloud. It may be a file drop, where nothing that has a temporary name can be found again.
  private var isForPublicLink: Bool {
    if case .webDAV(let target, _) = request.destination { target.inNextcloud?.isPublic ?? false } else { false }
  }

  /// Whether a finished recording may be sent as uploads of a tus server that joins them. Without a record, nobody would know what to remove.
  private var maySendUploadsAsParts: Bool {
    request.prefersTus(size: size, isGuest: isGuest) && superseded == nil && recordID != nil
      && previous.joins < Limits.joinCount
  }

  /// Whether an upload to a tus server may be left for several ones, over as many connections. The server copies what it joins.
  /// - Parameter offset: how much of it the server has, in bytes.
  func mayBeLeftForParts(at offset: Int64) -> Bool {
    connections == .automatic && request.joinsParts && request.isForTus && maySendUploadsAsParts
      && offset <= Limits.leftForParts
  }

  /// Whether lost packets make several connections enough sooner.
  /// - Parameters:
  ///   - offset: how much of it the server has, in bytes.
  ///   - counts: what the kernel has counted while that was sent.
  func isSentSoonerInParts(from offset: Int64, _ counts: LinkCounts) -> Bool {
    counts.showLimitByLoss && counts.milliseconds(for: size - offset) >= Limits.worthPartsMilliseconds
  }

  /// The same in parts, without an earlier attempt.
  /// - Parameter overridesMethod: whether DELETE only gets through as a POST.
  func inParts(overridesMethod: Bool) -> UploadPlan {
    var plan = begunAnew
    (plan.previous.joins, plan.previous.detours.overridesMethod) = (previous.joins, overridesMethod)
    return plan
  }

  /// How the server is asked to join parts; nil if it cannot.
  var partsDialect: PartsDialect? {
    switch request.destination {
    case .s3(let object): .s3(S3Parts(object, mediaType: request.filePart.mediaType))
    default: NextcloudParts(self).map { .nextcloud($0) }
    }
  }

  /// The hidden name under which a WebDAV server gets it; nil without a record, which must know it.
  var temporary: TargetURI? { recordID.map { request.base.hiddenSibling(for: $0) } }

  /// The same, of a recording that the server has in one upload at this URL, or of which it has nothing.
  /// - Parameter isUploaded: whether it has every byte.
  func whole(at location: TargetURI?, isUploaded: Bool, resumedFrom: Int64?) -> UploadPlan {
    var plan = begunAnew
    plan.connections = .count(1)
    plan.previous.remote = location.map {
      RemoteUpload(url: $0.text, offset: isUploaded ? size : 0, isWhole: isUploaded)
    }
    (plan.resumedFrom, plan.previous.cookies) = (resumedFrom, previous.cookies)
    guard isUploaded else { return plan }
    (plan.previous.sent, plan.previous.doubt) = (previous.sent, previous.doubt)
    return plan
  }

  /// The same without an earlier attempt.
  var begunAnew: UploadPlan {
    var plan = self
    (plan.previous, plan.resumedFrom, plan.superseded) = (UnfinishedUpload(), nil, nil)
    return plan
  }

  /// Whether TLS proves that responses are the server's.
  var provesServer: Bool { request.base.scheme == .https && verifiesCertificate }

  /// Whether it is sent over tus if the server supports that.
  package var prefersTus: Bool {
    !request.isForWebDAV && !request.isForS3
      && (request.prefersTus(size: size, isGuest: isGuest) || previous.location != nil)
  }
}

/// What the client knows of the sent file, to compare with the server's response.
public struct SentFile: Equatable, Sendable {
  /// Bytes.
  public let size: Int64
  /// SHA-256 in lower-case hexadecimal digits, if it was computed.
  public let sha256: String?

  package init(size: Int64, sha256: String?) {
    self.size = size
    self.sha256 = sha256
  }
}

extension Limits {
  /// The size from which a recording is sent in parts to a server that joins them, in bytes: what a kill costs at most without.
  static let partsFrom: Int64 = 16 << 20
  /// What is sent again at most when an upload over tus is left for parts, in bytes, and how long the rest would take without them, in milliseconds.
  static let leftForParts: Int64 = 64 << 20
  static let worthPartsMilliseconds: Int64 = 60_000
}
