import Uploader

/// The arguments of options, parsed.
extension GivenOption {
  func uri() throws(UsageError) -> TargetURI {
    do throws(TargetURIError) { return try TargetURI(text) } catch {
      throw UsageError("--" + OptionTable.name(of: option) + ": " + GivenOption.text(of: error))
    }
  }

  private static func text(of error: TargetURIError) -> String {
    switch error {
    case .tooLong(let limit): "the URL is longer than " + String(limit) + " bytes."
    case .unsupportedScheme: "the URL must begin with https:// or http://."
    case .missingHost: "the URL has no host."
    case .invalidHost: "the URL's host is not valid."
    case .invalidPort: "the URL's port is not a number from 1 to 65535."
    case .containsUserInformation: "a URL must not contain a user name or password; use --user and --password-file."
    case .invalidCharacter: "the URL has a character that must be percent-encoded."
    }
  }

  func field() throws(UsageError) -> FormField {
    let bytes = argument.bytes
    guard let equals = bytes.firstIndex(of: UInt8(ascii: "=")), equals > 0 else {
      throw UsageError("--field: use NAME=VALUE.")
    }
    return FormField(String(decoding: bytes[..<equals], as: UTF8.self), bytes: Array(bytes[(equals + 1)...]))
  }

  func size() throws(UsageError) -> Int64 {
    guard let size = Quantity.size(text) else { throw invalid("a size, such as 500M, 6Gi or 1000000") }
    return size
  }

  func size(_ range: ClosedRange<Int64>) throws(UsageError) -> Int64 {
    let size = try size()
    guard range.contains(size) else {
      throw invalid("a size from " + String(range.lowerBound) + " to " + String(range.upperBound) + " bytes")
    }
    return size
  }

  func duration() throws(UsageError) -> Int64 {
    guard let duration = Quantity.duration(text) else {
      throw invalid("a duration greater than zero, such as 500ms, 30s or 2m")
    }
    return duration
  }

  func count(_ range: ClosedRange<Int64>) throws(UsageError) -> Int64 {
    guard let count = ASCII.decimal(text.utf8), range.contains(count) else {
      throw invalid("a number from " + String(range.lowerBound) + " to " + String(range.upperBound))
    }
    return count
  }

  /// One of several words.
  func choice<Choice>(_ choices: [(String, Choice)]) throws(UsageError) -> Choice {
    if let choice = choices.first(where: { $0.0 == text }) { return choice.1 }
    let words = choices.map { $0.0 }
    throw invalid(words.dropLast().joined(separator: ", ") + " or " + words[words.count - 1])
  }

  func progressStyle() throws(UsageError) -> Report.ProgressStyle {
    try choice([("auto", .automatic), ("bar", .bar), ("plain", .plain), ("none", .none)])
  }

  func invalid(_ expected: String) -> UsageError {
    UsageError(
      "--" + OptionTable.name(of: option) + ": \"" + PrintableText.line(text) + "\" is not " + expected + ".")
  }
}
