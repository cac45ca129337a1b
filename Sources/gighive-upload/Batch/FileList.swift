import CShims
import Uploader

/// `--from FILE`: a file, or standard input, with one JSON object per line. It is read line by line.
final class FileList {
  enum Line {
    case text([UInt8])
    case tooLong
    /// Nothing more can be read.
    case failed(SystemError)
    /// The next line has not arrived yet, or the work was cancelled while waiting for it.
    case notYet
    case end
  }

  /// For messages.
  let name: String
  private let descriptor: Int32
  private var buffer = [UInt8](repeating: 0, count: Limits.listLineLength + 1)
  /// What has been read and not been taken.
  private var filled = 0..<0
  /// Whether everything has been read, though not necessarily taken.
  private(set) var hasEnded = false
  /// Whether the rest of a line that is too long is being dropped.
  private var isDropping = false
  /// Of the line that was taken last, from 1.
  private(set) var lineNumber = 0

  init(_ path: LocalPath) throws(UsageError) {
    if path == "-" {
      name = "standard input"
      descriptor = 0
      return
    }
    name = PrintableText.line(path.text)
    guard let cString = path.cString else { throw UsageError("--from: a file name cannot contain a NUL.") }
    descriptor = shim_open_for_reading(cString, 1)
    guard descriptor >= 0 else {
      throw UsageError("--from: " + name + ": " + SystemError(result: descriptor).text + ".")
    }
  }

  deinit { if descriptor > 0 { _ = shim_close(descriptor) } }

  /// - Parameter mayWait: whether to wait for a line, or for the cancellation.
  func next(mayWait: Bool, _ cancellation: Cancellation) -> Line {
    while true {
      if let line = taken() { return line }
      if hasEnded { return .end }
      guard isReady(mayWait, cancellation) else { return .notYet }
      let count = buffer.withUnsafeMutableBytes {
        shim_read(descriptor, $0.baseAddress! + filled.upperBound, $0.count - filled.upperBound)
      }
      if count <= 0 { hasEnded = true }
      if count < 0 { return .failed(SystemError(result: count)) }
      filled = filled.lowerBound..<(filled.upperBound + Int(count))
    }
  }

  /// A whole line of what has been read. Otherwise there is room for more.
  private func taken() -> Line? {
    let end = buffer[filled].firstIndex(of: ASCII.lineFeed)
    guard let end = end ?? (hasEnded && (!filled.isEmpty || isDropping) ? filled.upperBound : nil) else {
      if filled.count == buffer.count { isDropping = true }
      if isDropping { filled = 0..<0 }
      if filled.lowerBound > 0 {
        for index in filled { buffer[index - filled.lowerBound] = buffer[index] }
        filled = 0..<filled.count
      }
      return nil
    }
    let line = Array(buffer[filled.lowerBound..<end])
    filled = min(end + 1, filled.upperBound)..<filled.upperBound
    lineNumber += 1
    defer { isDropping = false }
    return isDropping ? .tooLong : .text(line)
  }

  private func isReady(_ mayWait: Bool, _ cancellation: Cancellation) -> Bool {
    while true {
      var entries = [
        shim_poll_entry(descriptor: descriptor, events: Int32(SHIM_POLL_READABLE), ready: 0),
        shim_poll_entry(descriptor: cancellation.descriptor, events: Int32(SHIM_POLL_READABLE), ready: 0),
      ]
      // The program that writes the list may wait for the outcome of its last line.
      for blocked in Console.blocked {
        entries.append(shim_poll_entry(descriptor: blocked, events: Int32(SHIM_POLL_WRITABLE), ready: 0))
      }
      guard shim_poll(&entries, Int32(entries.count), mayWait ? -1 : 0) == 0 else { return true }
      if entries[1].ready != 0 { return false }
      if entries[0].ready != 0 || !mayWait { return entries[0].ready != 0 }
      Console.write()
    }
  }
}

extension ListLine {
  /// - Parameter place: for messages, such as "LIST:12: ".
  func given(_ place: String) throws(UsageError) -> [GivenOption] {
    var given: [GivenOption] = []
    for option in options {
      // A list is written by a program, so its values are taken literally.
      let text = Template.escaped(option.value)
      let known = try DescriptiveOptions.option(option.name, place)
      let value = (option.field.map { $0 + [UInt8(ascii: "=")] } ?? []) + (known.has(.template) ? text : option.value)
      given.append(GivenOption(option: known, argument: LocalPath(bytes: value), place: place))
    }
    return given
  }
}

extension ListLineError {
  var message: String {
    switch self {
    case .tooLong(let limit): "the line is longer than " + String(limit) + " bytes."
    case .notJSON(.unexpected(let offset)): "the line is not JSON (at byte " + String(offset + 1) + ")."
    case .notJSON(.tooDeep(let limit)): "the line is nested more than " + String(limit) + " levels deep."
    case .notAnObject: "the line is not a JSON object, such as {\"file\": \"gig.mp4\", \"label\": \"First set\"}."
    case .noFile: "the line has no \"file\"."
    case .wrongValue(let member): "\"" + PrintableText.line(member) + "\" has an invalid value."
    case .repeated(let member): "\"" + PrintableText.line(member) + "\" occurs twice."
    }
  }
}
