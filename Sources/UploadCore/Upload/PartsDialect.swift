/// How a server that joins parts is asked, and what its responses mean. What follows from that is decided by ``PartsTask``.
enum PartsDialect: Sendable {
  case s3(S3Parts)
  case nextcloud(NextcloudParts)

  /// What has the object's name.
  enum Found: Sendable {
    case nothing
    /// The user may not look.
    case hidden
    /// - Parameters:
    ///   - size: in bytes; nil if the server does not say it.
    ///   - sha256: in lower-case hexadecimal digits.
    case object(size: Int64?, sha256: String?, Owner)
  }

  /// Whose an object is.
  enum Owner: Sendable { case thisUpload, unknown, somebodyElse }

  /// What the server says of an upload that was to be created.
  enum Creation: Sendable {
    case created(TargetURI)
    /// It does not join parts.
    case unsupported
  }

  /// What it has of an upload.
  enum Listed: Sendable {
    case parts([ListedPart], next: Int?)
    case gone
    /// Not everybody may list.
    case hidden
  }

  enum Taken: Sendable {
    case taken(tag: String)
    /// It got other content.
    case damaged
    /// The upload is gone.
    case gone
    /// The server has forgotten what it needs.
    case useless
  }

  enum Joined: Sendable {
    /// - Parameter sha256: of what it has stored, in lower-case hexadecimal digits, if it says so.
    case joined(sha256: String?)
    case gone
    /// Something has the object's name.
    case exists
    /// Another request was faster.
    case conflict(UploadError)
    /// It does not know the condition that nothing is replaced.
    case conditionUnknown
    /// It does not take the parts. `isCertain`: because of the parts.
    case partsRefused(UploadError, isCertain: Bool)
    case directoryMissing(status: Int)
  }

  // MARK: What differs

  /// How long its parts are.
  var lengths: UploadedParts.Lengths {
    switch self {
    case .s3: .s3
    case .nextcloud: .nextcloud
    }
  }

  /// Whether it checks the SHA-256 of each part, so that nothing else can be stored.
  var checksParts: Bool { if case .s3 = self { true } else { false } }

  /// Whether it joins what it has, without a word about what is missing. Then what it has is listed before.
  var joinsBlindly: Bool { !checksParts }

  /// Whether parts can be listed, as far as is known.
  var mayList: Bool { if case .s3(let s3) = self { s3.mayList } else { true } }

  mutating func forbidListing() {
    guard case .s3(var s3) = self else { return }
    s3.mayList = false
    self = .s3(s3)
  }

  /// - Returns: whether to repeat the same request in another way.
  mutating func learn(from answer: Answer) -> Bool {
    guard case .s3(var s3) = self else { return false }
    defer { self = .s3(s3) }
    return s3.dialog.learn(from: answer)
  }

  /// Whether a response to ``question`` is that of a server that joins no parts in this way.
  func isStrangers(_ answer: Answer) -> Bool {
    if case .nextcloud = self { [404, 405, 501].contains(answer.status) && answer.davMessage == nil } else { false }
  }

  func isPortals(_ answer: Answer) -> Bool {
    if case .nextcloud(let nextcloud) = self { nextcloud.isPortals(answer) } else { false }
  }

  /// Whether it is the URL of an upload that becomes this object.
  func isUpload(_ location: TargetURI) -> Bool {
    switch self {
    case .s3(let s3): location.withoutQuery == s3.object
    case .nextcloud(let nextcloud): nextcloud.isUpload(location)
    }
  }

  /// Where the upload will be, if that is known before the server has created it.
  func location(of token: String) -> TargetURI? {
    if case .nextcloud(let nextcloud) = self { nextcloud.location(of: token) } else { nil }
  }

  /// The directories that must be there, if any.
  var directories: DirectoryMaker? {
    if case .nextcloud(let nextcloud) = self { nextcloud.directories } else { nil }
  }

  // MARK: Requests

  /// About the object's name.
  var question: HTTPRequest {
    switch self {
    case .s3(let s3): s3.dialog.question(about: s3.object)
    case .nextcloud(let nextcloud): nextcloud.question
    }
  }

  func creation(token: String) -> HTTPRequest {
    switch self {
    case .s3(let s3): s3.creation(token: token)
    case .nextcloud(let nextcloud): nextcloud.creation(token: token)
    }
  }

  /// - Parameter number: that of the part behind which the list begins.
  func list(of upload: TargetURI, after number: Int) -> HTTPRequest {
    switch self {
    case .s3(let s3): s3.list(of: upload, after: number)
    case .nextcloud(let nextcloud): nextcloud.list(of: upload)
    }
  }

  /// - Parameter content: the range of the file, in bytes.
  func part(_ number: Int, of upload: TargetURI, content: RequestBody, sha256: String) -> HTTPRequest {
    switch self {
    case .s3(let s3): s3.part(number, of: upload, content: content, sha256: sha256)
    case .nextcloud(let nextcloud): nextcloud.part(number, of: upload, content: content)
    }
  }

  func join(_ parts: UploadedParts, of upload: TargetURI) -> HTTPRequest {
    switch self {
    case .s3(let s3): s3.join(parts, of: upload)
    case .nextcloud(let nextcloud): nextcloud.join(upload)
    }
  }

  /// Asks for the SHA-256 of what is stored; nil if the server cannot be asked.
  var examination: HTTPRequest? {
    if case .nextcloud(let nextcloud) = self { nextcloud.examination } else { nil }
  }

  func abort(_ upload: TargetURI) -> HTTPRequest {
    switch self {
    case .s3(let s3): AbortTask.request(to: upload, s3.dialog)
    case .nextcloud: HTTPRequest(method: "DELETE", target: upload)
    }
  }

  // MARK: Responses

  /// Whether the server itself has ended an upload, or does not know it.
  func hasEnded(_ answer: Answer) -> Bool {
    switch self {
    case .s3: AbortTask.hasEnded(answer)
    case .nextcloud: answer.status == 204 || answer.status == 404 && answer.davMessage != nil
    }
  }

  func found(_ answer: Answer, token: String, size: Int64) throws(UploadError) -> Found {
    switch self {
    case .s3(let s3): try s3.found(answer, token: token, size: size)
    case .nextcloud(let nextcloud): try nextcloud.found(answer, size: size)
    }
  }

  func created(_ answer: Answer, token: String) throws(UploadError) -> Creation {
    switch self {
    case .s3(let s3): .created(try s3.created(answer))
    case .nextcloud(let nextcloud): try nextcloud.created(answer, token: token)
    }
  }

  func listed(_ answer: Answer) throws(UploadError) -> Listed {
    switch self {
    case .s3(let s3): try s3.listed(answer)
    case .nextcloud(let nextcloud): try nextcloud.listed(answer)
    }
  }

  /// Whether what it lists is the part with this tag, apart from its size.
  func isSame(_ part: ListedPart, as tag: String) -> Bool { joinsBlindly ? !tag.isEmpty : part.tag == tag }

  func taken(_ answer: Answer) throws(UploadError) -> Taken {
    switch self {
    case .s3(let s3): try s3.taken(answer)
    case .nextcloud(let nextcloud): try nextcloud.taken(answer)
    }
  }

  mutating func joined(_ answer: Answer) throws(UploadError) -> Joined {
    switch self {
    case .s3(var s3):
      defer { self = .s3(s3) }
      return try s3.joined(answer)
    case .nextcloud(let nextcloud): return try nextcloud.joined(answer)
    }
  }

  /// The SHA-256 of what is stored, in lower-case hexadecimal digits; nil if the server does not say it.
  func examined(_ answer: Answer) -> String? {
    if case .nextcloud(let nextcloud) = self { nextcloud.examined(answer) } else { nil }
  }
}

/// A part as a server lists it.
package struct ListedPart: Equatable, Sendable {
  package let number: Int
  /// Bytes.
  package let size: Int64
  /// Without quotes.
  package let tag: String

  package init(number: Int, size: Int64, tag: String) { (self.number, self.size, self.tag) = (number, size, tag) }
}
