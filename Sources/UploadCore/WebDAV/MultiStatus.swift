/// The files that a WebDAV server lists (RFC 4918, 13).
package struct MultiStatus: Equatable, Sendable {
  package struct File: Equatable, Sendable {
    /// The last segment of its path, as in a URL.
    package let name: String
    /// Bytes; nil for a directory.
    package let size: Int64?
    /// When it was modified, in seconds since 1970; nil if the server does not say it.
    package let modified: Int64?
    /// Its ETag, if the server says it.
    package let tag: String?
  }

  package private(set) var files: [File] = []

  /// - Returns: nil if it is none.
  package init?(_ content: [UInt8]) {
    var files: [File] = []
    var (isList, name): (Bool, String?) = (false, nil)
    var (size, modified, tag): (Int64?, Int64?, String?)
    var isMissing = false
    do throws(XMLError) {
      try S3Content.visit(content) { path, text in
        isList = path[0] == "multistatus"
        switch path.dropFirst().joined(separator: "/") {
        case "response/href": name = MultiStatus.name(in: text)
        case "response/propstat/prop/getcontentlength": size = ASCII.decimal(text.utf8)
        case "response/propstat/prop/getlastmodified": modified = HTTPDate.seconds(text)
        case "response/propstat/prop/getetag": tag = text
        // "HTTP/1.1 404 Not Found", of the file.
        case "response/status": isMissing = text.split(separator: " ").dropFirst().first == "404"
        case "response":
          if let name, !isMissing { files.append(File(name: name, size: size, modified: modified, tag: tag)) }
          (name, size, modified, tag, isMissing) = (nil, nil, nil, nil, false)
        default: break
        }
      }
    } catch { return nil }
    guard isList else { return nil }
    self.files = files
  }

  /// Of a path or a URL. That of a directory may end with a slash.
  private static func name(in href: String) -> String {
    let path = Array(href.utf8)
    let end = path.last == ASCII.slash ? path.count - 1 : path.count
    let start = path[..<end].lastIndex(of: ASCII.slash).map { $0 + 1 } ?? 0
    return String(decoding: path[start..<max(start, end)], as: UTF8.self)
  }

  /// - Parameter depth: "0" for the file itself, "1" for what is in a directory, too.
  static func request(about target: TargetURI, depth: String) -> HTTPRequest {
    let properties: StaticString =
      "<?xml version=\"1.0\"?><propfind xmlns=\"DAV:\"><prop><getcontentlength/><getlastmodified/><getetag/></prop></propfind>"
    return HTTPRequest(
      method: "PROPFIND", target: target,
      fields: [Field("Depth", depth), Field("Content-Type", "application/xml"), Field("Cache-Control", "no-cache")],
      body: RequestBody(header: properties.withUTF8Buffer { Array($0) }))
  }
}

extension Answer {
  /// A response about one file to ``MultiStatus/request(about:depth:)`` as one to HEAD.
  func asObject() throws(UploadError) -> Answer {
    guard isSuccess else { return self }
    guard status == 207, let list = MultiStatus(content) else { throw .notFromServer(status: status) }
    guard let file = list.files.first else { return Answer(status: 404, sent: sent) }
    let length = file.size.map { [Field("Content-Length", String($0))] } ?? []
    let tag = file.tag.map { [Field("ETag", $0)] } ?? []
    return Answer(status: 200, fields: length + tag, sent: sent)
  }
}

/// How a WebDAV server is asked about one file: for its properties (PROPFIND), because some say in a response to HEAD that it is empty, or how long
/// it is compressed. nginx has no PROPFIND, so it gets HEAD.
struct DAVQuestion: Sendable {
  /// Of a Nextcloud, which has PROPFIND, a refusal has its reason in the content.
  let isForNextcloud: Bool
  private var asksHead = false

  init(isForNextcloud: Bool) { self.isForNextcloud = isForNextcloud }

  func request(about target: TargetURI) -> HTTPRequest {
    if !asksHead { return MultiStatus.request(about: target, depth: "0") }
    return HTTPRequest(method: "HEAD", target: target, fields: [Field("Cache-Control", "no-cache")])
  }

  /// - Returns: the response as one to HEAD; nil if the same is to be asked in the other way.
  mutating func object(in answer: Answer) throws(UploadError) -> Answer? {
    if asksHead { return answer }
    if !isForNextcloud, answer.status == 405 || answer.status == 501 {
      asksHead = true
      return nil
    }
    return try answer.asObject()
  }
}
