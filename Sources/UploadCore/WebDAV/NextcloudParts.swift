/// The parts of a file as Nextcloud and ownCloud take them (chunked upload v2): an upload is a directory beside the files, its parts are files
/// named by their numbers, and a MOVE of its file `.file` joins them.
///
/// Two different servers are behind it. That on a disk compares OC-Total-Length. That on an object store needs Destination with each request and
/// at least 5 MB in each part but the last one, and stores a short file without a word if one is missing. Neither checks what a part contains.
struct NextcloudParts: Sendable {
  private let target: TargetURI
  private let place: NextcloudPlace
  /// What is made if it is missing, if anything.
  let directories: DirectoryMaker?
  private let size: Int64
  private let mayReplace: Bool
  /// What the server is told of the file.
  private let fields: [Field]
  private let modified: Int64
  private let provesServer: Bool

  /// - Returns: nil if the URL is not one of a Nextcloud.
  init?(_ plan: UploadPlan) {
    guard let place = plan.request.base.inNextcloud else { return nil }
    (target, self.place) = (plan.request.base, place)
    directories = DirectoryMaker(place.directories)
    size = plan.size
    mayReplace = plan.request.mayReplace
    fields = plan.nextcloudFields
    modified = plan.nextcloudTime
    provesServer = plan.provesServer
  }

  func location(of token: String) -> TargetURI { place.uploads.appending(NextcloudParts.prefix + token) }

  fileprivate static let prefix = "gighive-upload-"

  func isUpload(_ location: TargetURI) -> Bool { location.isInParts(of: target) }

  /// Without it, the server on an object store takes the upload for one on a disk.
  private var destination: Field { Field("Destination", target.absoluteForm) }

  // MARK: Requests

  var question: HTTPRequest { MultiStatus.request(about: target, depth: "0") }

  func creation(token: String) -> HTTPRequest {
    HTTPRequest(method: "MKCOL", target: location(of: token), fields: [destination])
  }

  func list(of upload: TargetURI) -> HTTPRequest {
    var request = MultiStatus.request(about: upload, depth: "1")
    request.replyLength = Limits.partNamesLength
    return request
  }

  func part(_ number: Int, of upload: TargetURI, content: RequestBody) -> HTTPRequest {
    HTTPRequest(method: "PUT", target: upload.appending(String(number)), fields: [destination], body: content)
  }

  func join(_ upload: TargetURI) -> HTTPRequest {
    let own = [destination, Field("Overwrite", mayReplace ? "T" : "F"), Field("OC-Total-Length", String(size))]
    return HTTPRequest(method: "MOVE", target: upload.appending(".file"), fields: own + fields, body: RequestBody())
  }

  /// The server reads what it has stored.
  var examination: HTTPRequest {
    HTTPRequest(method: "PATCH", target: target, fields: [Field("X-Recalculate-Hash", "sha256")])
  }

  // MARK: Responses

  func isPortals(_ answer: Answer) -> Bool { LikelySoftware.isPortals(answer, unless: provesServer) }

  /// What a response to PROPFIND lists; nil if nothing has that URL.
  private func files(in answer: Answer) throws(UploadError) -> [MultiStatus.File]? {
    switch answer.status {
    case 207:
      guard let list = MultiStatus(answer.content) else { throw .notFromServer(status: 207) }
      return list.files
    case 404:
      try answer.requireDAV()
      return nil
    case 200..<300: throw .notFromServer(status: answer.status)
    default: throw answer.davRefusal
    }
  }

  func found(_ answer: Answer, size: Int64) throws(UploadError) -> PartsDialect.Found {
    // A file drop shows nothing.
    if place.isPublic, answer.status == 405, answer.davMessage != nil { return .hidden }
    guard let files = try files(in: answer) else { return .nothing }
    guard let file = files.first else { throw .notFromServer(status: 207) }
    // The modification time is what this upload sets, and others can. That the parts are gone would prove nothing alone, because the server drops
    // old ones.
    let isOwn = file.size == size && file.modified == modified
    return .object(size: file.size, sha256: nil, isOwn ? .thisUpload : .unknown)
  }

  func created(_ answer: Answer, token: String) throws(UploadError) -> PartsDialect.Creation {
    switch answer.status {
    case 201: return .created(location(of: token))
    // By a request whose response was lost: the name is random.
    case 405 where answer.davMessage?.hasSuffix("already exists") ?? false: return .created(location(of: token))
    case 400, 404, 405, 409, 501: return .unsupported
    case 200..<300: throw .notFromServer(status: answer.status)
    default: throw answer.davRefusal
    }
  }

  func listed(_ answer: Answer) throws(UploadError) -> PartsDialect.Listed {
    guard let files = try files(in: answer) else { return .gone }
    // The directory itself, and ".file" and ".target", whose sizes may be wrong, have other names.
    return .parts(
      files.compactMap { file in
        guard let number = ASCII.decimal(file.name.utf8), let size = file.size else { return nil }
        return ListedPart(number: Int(min(number, Int64(Int32.max))), size: size, tag: "")
      }, next: nil)
  }

  func taken(_ answer: Answer) throws(UploadError) -> PartsDialect.Taken {
    switch answer.status {
    // What it lists later is the proof.
    case 200, 201, 204: return .taken(tag: "+")
    case 404:
      try answer.requireDAV()
      return .gone
    case 412:
      try answer.requireDAV()
      return .useless
    case 200..<300: throw .unconfirmed(status: answer.status)
    default: throw answer.davRefusal
    }
  }

  func joined(_ answer: Answer) throws(UploadError) -> PartsDialect.Joined {
    switch answer.status {
    case 201, 204: return .joined(sha256: answer.fields.objectSHA256)
    case 404:
      try answer.requireDAV()
      return .gone
    case 409: return .directoryMissing(status: 409)
    case 412: return .exists
    case 400: return .partsRefused(answer.davRefusal, isCertain: true)
    case 200..<300: throw .unconfirmed(status: answer.status)
    default: throw answer.davRefusal
    }
  }

  func examined(_ answer: Answer) -> String? {
    guard answer.isSuccess, let checksum = answer.fields.first("OC-Checksum"), checksum.hasPrefix("SHA256:") else {
      return nil
    }
    return ASCII.lowercased(String(checksum.dropFirst(7)))
  }
}

extension UploadPlan {
  /// What a Nextcloud is told of the file: its modification time, and whether to say the SHA-256 of what it stores.
  var nextcloudFields: [Field] {
    (computesSHA256 ? [Field("X-Hash", "sha256")] : []) + [Field("X-OC-MTime", String(nextcloudTime))]
  }

  /// The file's modification time, in seconds since 1970. After others, a Nextcloud stores the file and answers 500.
  fileprivate var nextcloudTime: Int64 { max(1, modifiedSeconds) }
}

/// Where a file is in a Nextcloud or ownCloud.
struct NextcloudPlace: Sendable {
  /// The directory of the uploads of the user, or of the public link.
  let uploads: TargetURI
  /// The file's directories below that of the user or the link, from the innermost.
  let directories: [TargetURI]
  /// Whether everybody who knows a link may send there. A file drop is such a link: it shows nothing, and gives a second file of the same name
  /// another one.
  let isPublic: Bool
}

extension TargetURI {
  /// nil for the URLs of other servers.
  var inNextcloud: NextcloudPlace? {
    place(below: "/remote.php/dav/", isPublic: false) ?? place(below: "/public.php/dav/", isPublic: true)
  }

  private func place(below root: String, isPublic: Bool) -> NextcloudPlace? {
    let path = Array(withoutQuery.requestTarget.utf8)
    let files = Array((root + "files/").utf8)
    guard let start = path.indices.first(where: { path[$0...].starts(with: files) }) else { return nil }
    let user = path[(start + files.count)...].prefix { $0 != ASCII.slash }
    guard !user.isEmpty, path.count > user.endIndex + 1, path.last != ASCII.slash else { return nil }
    let base = path[..<start] + Array((root + "uploads/").utf8) + user
    let rootLength = user.endIndex + 1
    return NextcloudPlace(
      uploads: with(requestTarget: base[...]),
      directories: directories.filter { $0.requestTarget.utf8.count > rootLength }, isPublic: isPublic)
  }

  /// Whether it is that of the parts of a file in a Nextcloud.
  func isInParts(of target: TargetURI) -> Bool {
    target.inNextcloud.map { text.hasPrefix($0.uploads.appending(NextcloudParts.prefix).text) } ?? false
  }
}

extension Answer {
  /// What a WebDAV server that is based on Sabre, such as Nextcloud, says of a refusal; nil if there is nothing of this kind.
  var davMessage: String? {
    guard S3Content.text(of: "exception", in: content) != nil else { return nil }
    return S3Content.text(of: "message", in: content) ?? ""
  }

  /// What its status and content say.
  var davRefusal: UploadError {
    guard let message = davMessage, !message.isEmpty else { return refusal }
    // A disabled account gets 503, as does everybody while the server is maintained.
    if status == 503, ASCII.contains(Array(message.utf8), "LoginException") {
      return .refused(status: 401, message: message)
    }
    return .refused(status: status, message: message)
  }

  /// - Throws: if it is not the server itself that says it.
  fileprivate func requireDAV() throws(UploadError) {
    if davMessage == nil { throw .notFromServer(status: status) }
  }
}

extension Limits {
  /// The longest list of all parts, in bytes, as Nextcloud sends it in one response: about 300 for each.
  static let partNamesLength = 512 << 10
}
