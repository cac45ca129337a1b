import Uploader

/// The uploads to resume, in order. Only the next one is held.
final class ResumeQueue {
  final class Upload {
    let id: String
    let file: LocalPath
    private let made: Result<SendArguments, UsageError>

    fileprivate init(_ record: UploadRecord, isNamed: Bool, with options: [GivenOption]) {
      id = record.id
      file = record.file.path
      do throws(UsageError) {
        var arguments = try SendArguments(
          options: StoredOptions.options(in: record.note, with: options), files: Operands([file]), recordID: record.id,
          note: StoredOptions.text(of: record.note, with: options))
        // Between now and its turn, another process may send it.
        arguments.template.isChosen = isNamed
        do throws(UnsendableFile) { _ = try arguments.request(for: BatchFile(path: file)) } catch {
          throw UsageError(error.message)
        }
        made = .success(arguments)
      } catch { made = .failure(error) }
    }

    /// The arguments that `send` would have.
    func arguments() throws(UsageError) -> SendArguments { try made.get() }

    /// Whether both can be sent by one ``Uploader``.
    func sharesConfiguration(with other: Upload) -> Bool {
      guard case .success(let one) = made, case .success(let another) = other.made else { return false }
      return one.sharesConfiguration(with: another)
    }
  }

  /// nil if the uploads were named.
  let skipped: SkippedUploads?
  /// Why there are no more; nil if all of them were read.
  private(set) var failure: StateError?
  private enum Source {
    /// In reverse order.
    case named([UploadRecord])
    case walk(RecordWalk)
    case exhausted
  }
  private var source: Source
  private let filter: DestinationFilter?
  private let options: [GivenOption]
  private var ahead: Upload?

  /// - Parameter options: those given now.
  init(_ records: [UploadRecord], with options: [GivenOption]) {
    source = .named(records.reversed())
    filter = nil
    skipped = nil
    self.options = options
  }

  init(all walk: RecordWalk, _ filter: DestinationFilter?, _ skipped: SkippedUploads, with options: [GivenOption]) {
    source = .walk(walk)
    self.filter = filter
    self.skipped = skipped
    self.options = options
  }

  /// The next upload, which stays the next one.
  func peek() -> Upload? {
    if ahead == nil { ahead = read().map { Upload($0, isNamed: skipped == nil, with: options) } }
    return ahead
  }

  func next() -> Upload? {
    defer { ahead = nil }
    return peek()
  }

  private func read() -> UploadRecord? {
    switch source {
    case .exhausted: break
    case .named(var records):
      let record = records.popLast()
      source = .named(records)
      if let record { return record }
    case .walk(let walk):
      do throws(StateError) {
        while let record = try walk.next() { if isChosen(record) { return record } }
      } catch { failure = error }
    }
    source = .exhausted
    return nil
  }

  private func isChosen(_ record: UploadRecord) -> Bool {
    if let filter, !filter.includes(record) { return false }
    return !(skipped?.take(record) ?? false)
  }
}
