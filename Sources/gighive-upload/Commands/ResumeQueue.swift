import Uploader

/// The uploads to resume, in order. Only the next one is held.
final class ResumeQueue {
  struct Upload {
    let id: String
    let file: LocalPath
    let arguments: Result<SendArguments, UsageError>
  }

  /// nil if the uploads were named.
  let passedOver: PassedOver?
  /// Why there are no more; nil if all of them were read.
  private(set) var failure: StateError?
  private enum Source {
    case named(ArraySlice<UploadRecord>)
    case walk(RecordWalk)
    case exhausted
  }
  private var source: Source
  private let filter: DestinationFilter?
  private let options: [GivenOption]
  private var ahead: Upload?

  /// - Parameter options: those given now.
  init(_ records: [UploadRecord], with options: [GivenOption]) {
    source = .named(records[...])
    filter = nil
    passedOver = nil
    self.options = options
  }

  init(all walk: RecordWalk, _ filter: DestinationFilter?, _ passedOver: PassedOver, with options: [GivenOption]) {
    source = .walk(walk)
    self.filter = filter
    self.passedOver = passedOver
    self.options = options
  }

  /// The next upload, which stays the next one.
  func peek() -> Upload? {
    if ahead == nil { ahead = read().map { upload($0) } }
    return ahead
  }

  func next() -> Upload? {
    defer { ahead = nil }
    return peek()
  }

  private func read() -> UploadRecord? {
    switch source {
    case .exhausted: break
    case .named(let records):
      source = .named(records.dropFirst())
      if let record = records.first { return record }
    case .walk(let walk):
      do throws(StateError) {
        while let record = try walk.next() { if isChosen(record) { return record } }
      } catch { failure = error }
    }
    source = .exhausted
    return nil
  }

  private func isChosen(_ record: UploadRecord) -> Bool {
    // A recording that may be stored is sent again only when its ID is given.
    if record.mayBeStored { return false }
    if let filter, !filter.includes(record) { return false }
    return !(passedOver?.take(record) ?? false)
  }

  private func upload(_ record: UploadRecord) -> Upload {
    let file = LocalPath(bytes: record.path)
    let arguments: Result<SendArguments, UsageError>
    do throws(UsageError) {
      arguments = .success(
        try SendArguments(
          options: StoredOptions.options(in: record.note, with: options), files: Operands([file]), upload: record.id,
          note: StoredOptions.text(of: record.note, with: options)))
    } catch { arguments = .failure(error) }
    return Upload(id: record.id, file: file, arguments: arguments)
  }
}
