import Uploader

/// `resume --all --server URL`, `clean DIR --server URL` and the like: only uploads to that destination.
struct DestinationFilter {
  private let option: Option
  private let endpoint: String

  /// - Returns: nil if no destination was given.
  init?(_ options: [GivenOption], isAll: Bool) throws(UsageError) {
    let destinations = options.filter { $0.option.isDestination }
    guard let given = destinations.last else { return nil }
    guard isAll else { throw UsageError(given.label + " works only with --all, not with upload IDs.") }
    guard destinations.allSatisfy({ $0.option == given.option }) else {
      throw UsageError("give one destination: --server URL, --tus-url URL or --multipart-url URL.")
    }
    option = given.option
    endpoint = try given.uri().text
  }

  func includes(_ record: UploadRecord) -> Bool {
    record.destination.endpoint == endpoint && StoredOptions.name(option, in: record.note)
  }
}
