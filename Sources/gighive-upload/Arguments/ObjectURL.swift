import Uploader

/// Where files go with PUT: the URL of `--put-url` or `--webdav`, or that in the file of `--put-url-file`, which may have a template for each file's name.
struct ObjectURL {
  /// Its argument is the URL, whichever option it comes from.
  private let given: GivenOption
  /// Whether its query is a secret.
  private let isSigned: Bool
  /// For messages, which do not repeat the URL of a file.
  private let label: String

  init(_ given: GivenOption) throws(UsageError) {
    (self.given, isSigned, label) = (given, false, given.label)
    try check()
  }

  /// - Parameter file: read now, because it may be another one for the next upload.
  init(in file: GivenOption, allowsShared: Bool) throws(UsageError) {
    let line = try SecretFile(file).firstLine(allowsShared: allowsShared)
    given = GivenOption(option: .putURL, argument: LocalPath(bytes: line), place: file.place)
    (isSigned, label) = (true, file.label + ": " + PrintableText.line(file.argument.text))
    try check()
  }

  /// Connections and credentials are for one host.
  private func check() throws(UsageError) {
    let scheme = text.utf8.prefix { $0 != ASCII.colon }.count + "://".utf8.count
    let host = text.utf8.dropFirst(scheme).prefix { $0 != ASCII.slash }
    if host.contains(UInt8(ascii: "{")) { throw UsageError(label + ": the host must be the same for all files.") }
    if given.option == .webDAV, text.utf8.contains(ASCII.questionMark) {
      throw UsageError(label + ": a WebDAV URL has no query.")
    }
  }

  private var text: String { given.text }

  /// For people, without what may be secret.
  var shown: String { PrintableText.withoutQuery(text) }

  /// Whether each file has a URL of its own.
  var isTemplate: Bool { get throws(UsageError) { try template().constant == nil } }

  private func template() throws(UsageError) -> Template {
    guard let template = try? given.template() else {
      throw UsageError(label + ": the URL has a brace that belongs to no name, such as {name}.")
    }
    return template
  }

  func destination(for values: TemplateValues) throws(UsageError) -> Destination {
    let target = try target(for: values)
    return given.option == .webDAV ? .webDAV(target) : .put(target, isSigned: isSigned)
  }

  private func target(for values: TemplateValues) throws(UsageError) -> TargetURI {
    let text = String(decoding: try template().expanded(values, isInURL: true), as: UTF8.self)
    guard let target = try? TargetURI(text) else {
      // Without repeating a secret.
      if isSigned { throw UsageError(label + ": its first line is not an http or https URL.") }
      return try GivenOption(option: given.option, argument: LocalPath(text), place: given.place).uri()
    }
    return target
  }

  /// A path that ends with a slash is that of a directory, and the file keeps its name in it, as with curl -T; over WebDAV also the
  /// directories that it was found in.
  static func completeName(_ url: inout [UInt8], of option: Option) {
    let path = url.prefix { $0 != ASCII.questionMark }
    guard path.last == ASCII.slash else { return }
    url.insert(contentsOf: (option == .webDAV ? "{path}" : "{name}").utf8, at: path.endIndex)
  }
}
