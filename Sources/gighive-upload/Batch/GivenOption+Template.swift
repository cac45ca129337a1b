import Uploader

/// Options whose arguments can be templates, such as `--label '{stem}'`.
extension GivenOption {
  /// The argument's part that is a template, parsed; nil if the option takes none.
  func template() throws(UsageError) -> Template? {
    guard isTemplate else { return nil }
    do throws(TemplateError) { return try Template(parsing: Array(argument.bytes[templateStart...])) } catch {
      throw UsageError(label + ": " + GivenOption.text(of: error))
    }
  }

  /// The same option for one file, still as a template.
  func expanded(_ values: TemplateValues) throws(UsageError) -> GivenOption {
    guard let template = try template(), template.constant == nil else { return self }
    var bytes = template.expanded(values)
    // A form is text. The name of a file keeps its bytes.
    if option != .fileName { bytes = Array(String(decoding: bytes, as: UTF8.self).utf8) }
    return replacingTemplate(with: Template.escaped(bytes))
  }

  /// The same option with the text that its constant template stands for.
  func literal() throws(UsageError) -> GivenOption {
    guard let text = try template()?.constant else { return self }
    return replacingTemplate(with: text)
  }

  var isTemplate: Bool {
    switch option {
    case .label, .orgName, .participants, .keywords, .location, .notes, .field, .metadata, .fileName: true
    default: false
    }
  }

  /// Behind NAME= of a field.
  private var templateStart: Int {
    guard option == .field || option == .metadata else { return 0 }
    return argument.bytes.firstIndex(of: UInt8(ascii: "=")).map { $0 + 1 } ?? argument.bytes.count
  }

  private func replacingTemplate(with bytes: [UInt8]) -> GivenOption {
    GivenOption(
      option: option, argument: LocalPath(bytes: argument.bytes[..<templateStart] + bytes), place: place, isOn: isOn)
  }

  private static func text(of error: TemplateError) -> String {
    let names = Template.names.map { "{" + $0 + "}" }.joined(separator: ", ")
    switch error {
    case .unknownName(let name):
      return "unknown placeholder {" + PrintableText.line(String(decoding: name, as: UTF8.self)) + "}; use " + names
        + ". For a literal brace, write {{ or }}."
    case .strayBrace(let byte):
      let brace = byte == UInt8(ascii: "{") ? "{" : "}"
      return "\"" + brace + "\" is not part of a placeholder (" + names + "). For a literal brace, write " + brace
        + brace + "."
    }
  }
}
