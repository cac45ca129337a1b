import Uploader

/// One option as given on the command line or in a configuration file.
struct GivenOption {
  let option: Option
  /// Empty if the option takes no argument.
  private(set) var argument: LocalPath
  /// Where a configuration file gives it, such as "FILE:12: "; nil on the command line.
  var place: String?
  /// Whether it counts: false for an option without an argument that a file sets to "no", and for --no-NAME.
  var isOn = true
  /// Whether a file names no directory; nil if the argument shows it.
  fileprivate(set) var isBareInFile: Bool?

  /// Whether the argument names no directory, as somebody gave it.
  var isBareName: Bool { isBareInFile ?? !argument.bytes.contains(ASCII.slash) }

  /// The same with a path that does not depend on the working directory.
  func located(at path: LocalPath) -> GivenOption {
    var given = self
    (given.argument, given.isBareInFile) = (path, isBareName)
    return given
  }

  @inline(never)
  var label: String { (place ?? (option.has(.fileOnly) ? "--set " : "--")) + option.name }

  /// `name=argument`, or only the name.
  var words: [UInt8] {
    let isAlone = argument.bytes.isEmpty && (!option.takesArgument || option.row.argument.isOptional)
    return Array(option.name.utf8) + (isAlone ? [] : [UInt8(ascii: "=")] + argument.bytes)
  }

  /// The argument as text; bytes that are not UTF-8 become "�".
  var text: String { String(decoding: argument.bytes, as: UTF8.self) }
}

/// `--set NAME=VALUE`, and a line of a file.
extension GivenOption {
  init(setting argument: LocalPath) throws(UsageError) {
    let name = Array(argument.bytes.prefix { $0 != UInt8(ascii: "=") })
    guard name.count < argument.bytes.count else { throw UsageError("--set: use NAME=VALUE.") }
    let option = try Option(configurable: name, place: "--set: ")
    self = try GivenOption(option, Array(argument.bytes[(name.count + 1)...]), place: nil)
  }

  /// - Parameter value: of an option without an argument: yes or no.
  init(_ option: Option, _ value: [UInt8], place: String?) throws(UsageError) {
    self.init(option: option, argument: LocalPath(bytes: value), place: place)
    let isWord = value.elementsEqual("yes".utf8) || value.elementsEqual("no".utf8)
    if !option.takesArgument || option.row.argument.isOptional && isWord {
      guard isWord else { throw UsageError(label + ": use yes or no.") }
      isOn = value.elementsEqual("yes".utf8)
      argument = ""
    }
  }
}

extension Option {
  /// One that a configuration file can contain.
  /// - Parameter place: for messages.
  init(configurable name: [UInt8], place: String) throws(UsageError) {
    guard let option = Option(named: name) else {
      let names = Option.configurable.map { $0.name }
      throw UsageError(
        place + "unknown option \"" + PrintableText.line(String(decoding: name, as: UTF8.self)) + "\"."
          + Suggestion.question(about: name.drop { $0 == ASCII.hyphen }, among: names))
    }
    guard option.has(.configurable) else {
      throw UsageError(place + option.name + " works only on the command line, not in a configuration file.")
    }
    self = option
  }
}

extension [GivenOption] {
  /// Whether an option without an argument is given, and not taken back.
  @inline(never)
  func has(_ option: Option) -> Bool { contains { $0.option == option && $0.isOn } }
}

extension GivenOption {
  func uri() throws(UsageError) -> TargetURI {
    do throws(TargetURIError) { return try TargetURI(text) } catch {
      throw UsageError(label + ": " + GivenOption.text(of: error))
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
    case .invalidCharacter: "the URL contains a character that must be percent-encoded."
    }
  }

  func field() throws(UsageError) -> FormField {
    let bytes = argument.bytes
    guard let equals = bytes.firstIndex(of: UInt8(ascii: "=")), equals > 0 else {
      throw UsageError(label + ": use NAME=VALUE.")
    }
    return FormField(String(decoding: bytes[..<equals], as: UTF8.self), bytes: Array(bytes[(equals + 1)...]))
  }

  func metadata() throws(UsageError) -> FormField {
    let field = try field()
    guard TusFields.isKey(field.name) else {
      throw UsageError(label + ": use NAME=VALUE; for tus, NAME is ASCII without spaces or commas.")
    }
    return field
  }

  func header() throws(UsageError) -> CustomField {
    do throws(CustomFieldError) {
      let field = try CustomField(line: argument.bytes)
      guard !CustomField.isSecret(field.name) else { throw .secret(name: field.name) }
      return field
    } catch {
      if case .secret(let name) = error {
        let danger = place == nil ? ", and other users can see command lines" : ""
        throw UsageError(label + ": " + name + " holds a secret" + danger + "; put it in a file, and use header-file.")
      }
      throw UsageError(label + ": " + error.message)
    }
  }

  func uploadProtocol() throws(UsageError) -> UploadProtocol {
    try choice([.automatic, .multipart, .tus])
  }

  func pattern() throws(UsageError) -> Glob {
    do throws(GlobError) { return try Glob(parsing: argument.bytes) } catch {
      switch error {
      case .empty: throw UsageError(label + ": the pattern is empty.")
      case .tooLong(let limit): throw UsageError(label + ": the pattern is longer than " + String(limit) + " bytes.")
      case .slash: throw UsageError(label + ": a pattern matches file names and cannot contain \"/\".")
      case .unclosedSet: throw invalid("a pattern: it has a \"[\" without a \"]\"")
      case .quoted: throw invalid("a pattern: the quotes would have to be in the file's name")
      case .list: throw invalid("a pattern: give " + label + " once for each of them")
      }
    }
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

  func rateSchedule() throws(UsageError) -> RateSchedule {
    do throws(RateScheduleError) { return try RateSchedule(parsing: text, rate: { Quantity.size($0) }) } catch {
      throw UsageError(label + ": " + GivenOption.text(of: error))
    }
  }

  private static func text(of error: RateScheduleError) -> String {
    switch error {
    case .tooLong(let limit): "the timetable has more than " + String(limit) + " entries."
    case .entry(let word): "\"" + PrintableText.line(word) + "\" is not an entry such as 08:00,1M or Sat-23:30,off."
    case .rate(let word): "\"" + PrintableText.line(word) + "\" is not off, pause, or a number of bytes from 1 to 1T."
    case .repeated(let word): "two entries have the same time as \"" + PrintableText.line(word) + "\"."
    case .pausesForever: "nothing would ever be sent; add an entry with a rate, or off."
    }
  }

  func duration() throws(UsageError) -> Int64 {
    guard let duration = Quantity.duration(text) else {
      throw invalid("a duration greater than zero, such as 500ms, 30s or 2m")
    }
    return duration
  }

  /// A number of retries, a time with its unit, or `forever`.
  func retryLimit() throws(UsageError) -> RetryLimit {
    if text == "forever" { return .forever }
    if let count = ASCII.decimal(text.utf8), AllowedRanges.retries.contains(count) { return .failures(count) }
    guard text.utf8.last.map({ !ASCII.isDigit($0) }) ?? false, let time = Quantity.duration(text),
      AllowedRanges.retryTime.contains(time)
    else {
      throw invalid(
        "a number of retries up to " + String(AllowedRanges.retries.upperBound)
          + ", a time from 1s to 365d, such as 30m, 12h or 7d, or forever")
    }
    return .time(milliseconds: time)
  }

  func count(_ range: ClosedRange<Int64>) throws(UsageError) -> Int64 {
    guard let count = ASCII.decimal(text.utf8), range.contains(count) else {
      throw invalid("a number from " + String(range.lowerBound) + " to " + String(range.upperBound))
    }
    return count
  }

  func percent(_ range: ClosedRange<Int64>) throws(UsageError) -> Int64 {
    guard text.utf8.last == ASCII.percent, let percent = ASCII.decimal(text.utf8.dropLast()), range.contains(percent)
    else {
      throw invalid("a share from " + String(range.lowerBound) + "% to " + String(range.upperBound) + "%")
    }
    return percent
  }

  /// - Parameter choices: what the words of its row mean, in their order.
  func choice<Choice>(_ choices: [Choice]) throws(UsageError) -> Choice { choices[try indexOfWord()] }

  @inline(never)
  private func indexOfWord() throws(UsageError) -> Int {
    let argument = option.row.argument
    guard let index = argument.words.firstIndex(of: text) else { throw invalid(argument.alternatives) }
    return index
  }

  func progressStyle() throws(UsageError) -> Report.ProgressStyle {
    try choice([.automatic, .bar, .plain, .none])
  }

  func jsonProgress() throws(UsageError) -> JSONProgressInterval {
    if text == "none" { return .never }
    guard let interval = Quantity.duration(text) else {
      throw invalid("none or a duration greater than zero, such as 500ms, 10s or 1m")
    }
    return .every(milliseconds: interval)
  }

  @inline(never)
  func invalid(_ expected: String) -> UsageError {
    UsageError(
      label + ": \"" + PrintableText.line(text) + "\" is not " + expected + ".")
  }
}

/// `--after keep|remove|move=DIR`
extension GivenOption {
  /// - Returns: nil for `keep`.
  func removal() throws(UsageError) -> AfterDelivery.Removal? {
    if text == "keep" { return nil }
    if text == "remove" { return .delete }
    guard let target = moveTarget, !target.bytes.isEmpty else { throw invalid("keep, remove or move=DIR") }
    return .move(target)
  }

  /// The argument, which means the same in any working directory.
  var withAbsoluteTarget: LocalPath {
    guard let target = moveTarget, !target.bytes.isEmpty else { return argument }
    return argument.replacingTarget(with: target.absolute ?? target)
  }

  private var moveTarget: LocalPath? { option == .after ? argument.moveTarget : nil }
}

extension LocalPath {
  private static let move = Array("move=".utf8)

  /// The directory of an argument `move=DIR`; nil for other arguments.
  var moveTarget: LocalPath? {
    bytes.starts(with: LocalPath.move) ? LocalPath(bytes: Array(bytes.dropFirst(LocalPath.move.count))) : nil
  }

  func replacingTarget(with target: LocalPath) -> LocalPath { LocalPath(bytes: LocalPath.move + target.bytes) }
}

/// Sizes and durations as typed on the command line.
enum Quantity {
  /// Bytes: a whole number with an optional unit: k M G T (powers of 1000) or Ki Mi Gi Ti (of 1024), with or without B.
  static func size(_ text: String) -> Int64? {
    number(
      text,
      units: [
        ("", 1), ("B", 1), ("k", 1000), ("kB", 1000), ("K", 1000), ("KB", 1000), ("M", 1_000_000), ("MB", 1_000_000),
        ("G", 1_000_000_000), ("GB", 1_000_000_000), ("T", 1_000_000_000_000), ("TB", 1_000_000_000_000),
        ("Ki", 1 << 10), ("KiB", 1 << 10), ("Mi", 1 << 20), ("MiB", 1 << 20), ("Gi", 1 << 30), ("GiB", 1 << 30),
        ("Ti", 1 << 40), ("TiB", 1 << 40),
      ])
  }

  /// Milliseconds: a whole number greater than zero, with an optional unit: ms, s (the default), m, h, d, w.
  static func duration(_ text: String, upTo limit: Int64 = Limits.timeoutMilliseconds) -> Int64? {
    let milliseconds = number(
      text,
      units: [
        ("", 1000), ("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000), ("w", 604_800_000),
      ])
    guard let milliseconds, milliseconds > 0, milliseconds <= limit else { return nil }
    return milliseconds
  }

  private static func number(_ text: String, units: [(String, Int64)]) -> Int64? {
    let digits = text.utf8.prefix { ASCII.isDigit($0) }
    let unit = text.utf8.dropFirst(digits.count)
    guard let value = ASCII.decimal(digits), let factor = units.first(where: { $0.0.utf8.elementsEqual(unit) })?.1
    else { return nil }
    let (product, overflow) = value.multipliedReportingOverflow(by: factor)
    return overflow ? nil : product
  }
}
