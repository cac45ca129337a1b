import Uploader

/// Where files go as objects: the URL of `--put-url` or `--webdav`, that in the file of `--put-url-file`, or the key of `--s3`, which may have
/// a template for each file's name; or the URL of an upload, `--upload-url` or that in the file of `--upload-url-file`.
struct ObjectURL {
  private enum Kind {
    case plain
    /// Its query is a secret.
    case signed
    case s3(S3Bucket)
    /// An upload on a tus server, which has no template.
    case upload(isSecret: Bool)
  }

  /// Its argument is the URL, whichever option it comes from.
  private let given: GivenOption
  private let kind: Kind
  private let mayReplace: Bool
  /// For messages, which do not repeat the URL of a file.
  private let label: String

  /// - Parameter options: all of them, with the endpoint and the region of an S3 server.
  init(_ given: GivenOption, _ options: [GivenOption], allowsShared: Bool) throws(UsageError) {
    self =
      switch given.option {
      case .s3: try ObjectURL(s3: given, options)
      case .putURLFile, .uploadURLFile: try ObjectURL(in: given, options, allowsShared: allowsShared)
      default: try ObjectURL(given, options)
      }
  }

  private static func mayReplace(_ options: [GivenOption]) -> Bool {
    options.contains { $0.option == .overwrite && $0.isOn }
  }

  private init(_ given: GivenOption, _ options: [GivenOption]) throws(UsageError) {
    (self.given, label, mayReplace) = (given, given.label, ObjectURL.mayReplace(options))
    kind = given.option == .uploadURL ? .upload(isSecret: false) : .plain
    try check()
  }

  /// - Parameter file: read now, because it may be another one for the next upload.
  private init(in file: GivenOption, _ options: [GivenOption], allowsShared: Bool) throws(UsageError) {
    let line = try SecretFile(file).firstLine(allowsShared: allowsShared)
    let isUpload = file.option == .uploadURLFile
    given = GivenOption(
      option: isUpload ? .uploadURL : .putURL, argument: LocalPath(bytes: line), place: file.place)
    (kind, label, mayReplace) = (
      isUpload ? .upload(isSecret: true) : .signed, file.label + ": " + PrintableText.line(file.argument.text),
      ObjectURL.mayReplace(options)
    )
    try check()
  }

  /// - Parameter options: with the endpoint and the region.
  init(s3 given: GivenOption, _ options: [GivenOption]) throws(UsageError) {
    func last(_ option: Option) -> String? { options.last { $0.option == option }?.text }
    let region = ObjectURL.region(options)
    do throws(S3AddressError) {
      let name = try S3Bucket.parse(given.argument.bytes).bucket
      let bucket = try S3Bucket(name, region: region, endpoint: last(.s3Endpoint))
      (self.given, kind, label, mayReplace) = (given, .s3(bucket), given.label, ObjectURL.mayReplace(options))
    } catch { throw UsageError(given.label + ": " + error.explanation) }
  }

  /// The region of the bucket, whether an option says it or not.
  static func region(_ options: [GivenOption]) -> String {
    options.last { $0.option == .s3Region }?.text ?? assumedRegion
  }

  /// The region of a bucket where no option says it.
  static var assumedRegion: String {
    environment("AWS_REGION") ?? environment("AWS_DEFAULT_REGION") ?? S3Object.defaultRegion
  }

  /// Connections and credentials are for one host.
  private func check() throws(UsageError) {
    if isUpload { return }
    let scheme = text.utf8.prefix { $0 != ASCII.colon }.count + "://".utf8.count
    let host = text.utf8.dropFirst(scheme).prefix { $0 != ASCII.slash }
    if host.isEmpty, text.utf8.dropFirst(scheme - 3).starts(with: "://".utf8) {
      throw UsageError(label + ": the URL has no host.")
    }
    if host.contains(UInt8(ascii: "{")) { throw UsageError(label + ": the host must be the same for all files.") }
    if given.option == .webDAV, text.utf8.contains(ASCII.questionMark) {
      throw UsageError(label + ": a WebDAV URL has no query.")
    }
  }

  private var text: String { given.text }

  private var isSecret: Bool {
    switch kind {
    case .signed, .upload(isSecret: true): true
    case .plain, .s3, .upload: false
    }
  }

  /// For people, without what may be secret.
  @inline(never)
  var shown: String {
    if case .upload(isSecret: true) = kind { return label }
    return PrintableText.withoutSecrets(text)
  }

  /// Whether it is an upload, for one file.
  var isUpload: Bool { if case .upload = kind { true } else { false } }

  /// Whether each file has a URL of its own.
  var isTemplate: Bool { get throws(UsageError) { try template().constant == nil } }

  private func template() throws(UsageError) -> Template {
    if isUpload { return Template(Array(text.utf8)) }
    guard let template = try? given.template() else {
      throw UsageError(label + ": the URL has a brace that is not part of a placeholder, such as {name}.")
    }
    return template
  }

  /// What the URLs of all files on the S3 server begin with: all of it if there is one for all.
  var beginning: String {
    get throws(UsageError) {
      guard case .s3(let bucket) = kind else { return text }
      return bucket.url(beginning: ObjectURL.key(in: try template().prefix))
    }
  }

  private static func key(in address: [UInt8]) -> ArraySlice<UInt8> {
    address.dropFirst((try? S3Bucket.parse(address).keyStart) ?? 0)
  }

  func destination(for values: TemplateValues) throws(UsageError) -> Destination {
    if case .s3(let bucket) = kind {
      let key = ObjectURL.key(in: try template().expanded(values))
      do throws(S3AddressError) {
        var object = try bucket.object(Array(key))
        object.mayReplace = mayReplace
        return .s3(object)
      } catch { throw UsageError(label + ": " + error.explanation) }
    }
    let target = try target(for: values)
    if case .upload(let isSecret) = kind { return .tusUpload(target, isSecret: isSecret) }
    if given.option == .webDAV { return .webDAV(target, mayReplace: mayReplace) }
    let isSigned = if case .signed = kind { true } else { false }
    return .put(target, isSigned: isSigned, mayReplace: mayReplace)
  }

  /// Where some file would go.
  var sample: Destination {
    get throws(UsageError) {
      let now = LocalTime(unixSeconds: 0)
      return try destination(for: TemplateValues(path: "/dir/name", modified: now, host: Array("host".utf8)))
    }
  }

  /// A place of this name beside those of files.
  /// - Returns: nil if the URL is for one object, or its query may be a signature: nothing else may be written there.
  func target(ofTest name: [UInt8]) throws(UsageError) -> TargetURI? {
    let template = try template()
    let isForOne = template.constant != nil
    var text = template.constant ?? template.prefix
    if isForOne { text.removeLast(text.count - 1 - (text.lastIndex(of: ASCII.slash) ?? 0)) }
    text += name
    if case .s3(let bucket) = kind {
      do throws(S3AddressError) { return try bucket.object(Array(ObjectURL.key(in: text))).url } catch {
        throw UsageError(label + ": " + error.explanation)
      }
    }
    if case .signed = kind { return nil }
    guard given.option == .webDAV || !isForOne && !given.argument.bytes.contains(ASCII.questionMark) else { return nil }
    return try GivenOption(option: given.option, argument: LocalPath(bytes: text), place: given.place).uri()
  }

  private func target(for values: TemplateValues) throws(UsageError) -> TargetURI {
    let text = String(decoding: try template().expanded(values, isInURL: true), as: UTF8.self)
    guard let target = try? TargetURI(text) else {
      // Without repeating a secret.
      if isSecret { throw UsageError(label + ": its first line is not an http or https URL.") }
      return try GivenOption(option: given.option, argument: LocalPath(text), place: given.place).uri()
    }
    let path = target.requestTarget.utf8.prefix { $0 != ASCII.questionMark }
    if try isTemplate, path.split(separator: ASCII.slash).contains(where: { [[46], [46, 46]].contains(Array($0)) }) {
      throw UsageError(label + ": the path has \".\" or \"..\" as a part, which servers resolve.")
    }
    return target
  }

  /// A path that ends with a slash is that of a directory, and the file keeps its name in it, as with curl -T, and the directories that it was
  /// found in: their files may have the same names.
  static func completeName(_ url: inout [UInt8]) {
    let path = url.prefix { $0 != ASCII.questionMark }
    if path.last == ASCII.slash { url.insert(contentsOf: "{path}".utf8, at: path.endIndex) }
  }

  /// The same for `s3://BUCKET`, or with a key.
  static func completeKey(_ address: inout [UInt8]) {
    if let start = try? S3Bucket.parse(address).keyStart, start == address.count, address.last != ASCII.slash {
      address.append(ASCII.slash)
    }
    if address.last == ASCII.slash { address += Array("{path}".utf8) }
  }
}

extension S3AddressError {
  fileprivate var explanation: String {
    switch self {
    case .notAnAddress: "it is not an address such as s3://bucket/recordings/."
    case .invalidEndpoint:
      "--s3-endpoint is not a URL such as https://s3.example.com or https://{bucket}.s3.example.com."
    case .bucketNotInHost: "this bucket's name cannot be a part of the host; use --s3-endpoint without {bucket}."
    case .keyTooLong(let limit): "the key is longer than " + String(limit) + " bytes."
    case .invalidKey: "the key is empty or not UTF-8."
    case .relativeKey: "the key has \".\" or \"..\" as a part."
    }
  }
}
